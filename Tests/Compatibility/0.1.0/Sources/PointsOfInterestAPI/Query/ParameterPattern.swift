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
