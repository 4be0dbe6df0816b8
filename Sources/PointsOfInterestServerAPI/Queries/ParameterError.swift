/// Why a request is refused: the faults of its parameters.
public struct ParameterError: Error, Hashable, Sendable {
    /// Every fault of the request, never empty.
    public let faults: [ParameterFault]

    /// The problem's code: the faults' code if all have the same one, else `invalid-parameters`.
    public var code: ProblemCode {
        guard let first = faults.first?.code, faults.allSatisfy({ $0.code == first }) else {
            return .invalidParameters
        }
        return first
    }

    /// Makes an error of at least one fault.
    public init(faults: [ParameterFault]) {
        self.faults = faults
    }
}

extension ParameterFault {
    /// The parameter and its fault in a sentence. A query like `=3` has a parameter without a name.
    fileprivate var sentence: String {
        "\(parameter.isEmpty ? "a parameter without a name" : parameter) \(detail)"
    }
}

extension Problem {
    /// Makes the problem of a request that was refused for its parameters.
    public init(_ error: ParameterError, requestId: String? = nil) {
        self.init(
            error.code,
            detail: error.faults.map(\.sentence).joined(separator: "; "),
            requestId: requestId,
            errors: error.faults)
    }
}

/// The name of a query parameter to ignore, or with a `*` at its end, a prefix of such names: `utm_*`.
public struct ParameterPattern: Hashable, Sendable {
    private let name: [UInt8]
    private let isPrefix: Bool

    /// Makes a pattern; nil where it is empty, or has a `*` elsewhere than at its end.
    public init?(_ pattern: String) {
        isPrefix = pattern.hasSuffix("*")
        name = Array(pattern.utf8.dropLast(isPrefix ? 1 : 0))
        if pattern.isEmpty || name.contains(UInt8(ascii: "*")) { return nil }
    }

    func matches(_ name: some Sequence<UInt8>) -> Bool {
        isPrefix ? name.starts(with: self.name) : name.elementsEqual(self.name)
    }
}
