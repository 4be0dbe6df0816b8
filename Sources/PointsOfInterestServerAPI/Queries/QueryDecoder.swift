/// Splits a raw query in one pass and keeps the value of each known parameter.
///
/// It collects faults and reads on, so that one response lists all of them. It works on the query's own bytes, which
/// must outlive it, and copies only what is percent-encoded.
struct QueryDecoder<Parameter: QueryParameter> {
    enum Value {
        case absent
        /// Present, and its fault is reported already.
        case refused
        case plain(UnsafeBufferPointer<UInt8>)
        case decoded([UInt8])
    }

    /// More parameters are refused, so that the cost of a query is bounded.
    private static var maximumCount: Int { 100 }

    /// The faults so far, each once.
    private(set) var faults: [ParameterFault] = []
    /// Hashes of the faults. Comparing those of 100 parameters as strings takes long.
    private var reported: Set<Int> = []
    /// The names that are known; made when the first unknown one is met.
    private var known: (nearest: NearestName, list: String)?
    private var values = [Value](repeating: .absent, count: Parameter.allCases.count)

    init(_ query: UnsafeBufferPointer<UInt8>, ignoring ignored: [ParameterPattern] = []) {
        var count = 0
        var rest = query[...]
        while !rest.isEmpty {
            let item = rest.prefix { $0 != UInt8(ascii: "&") }
            rest = rest[item.endIndex...].dropFirst()
            if item.isEmpty { continue }
            let name = UnsafeBufferPointer(rebasing: item.prefix { $0 != UInt8(ascii: "=") })
            count += 1
            guard count <= Self.maximumCount else {
                report(Self.shown(name), .tooManyParameters, "is one too many: a query has at most 100")
                return
            }
            let value = UnsafeBufferPointer(rebasing: item.dropFirst(name.count + 1))
            read(name: name, value: value, ignoring: ignored)
        }
    }

    /// The value of a parameter, which is not empty if it is there.
    subscript(parameter: Parameter) -> Value {
        values[parameter.rawValue]
    }

    /// Adds a fault, once.
    mutating func report(_ parameter: Parameter, _ code: ProblemCode, _ detail: String) {
        report(parameter.name.description, code, detail)
    }

    private mutating func report(_ name: String, _ code: ProblemCode, _ detail: String) {
        guard reported.insert(Self.hash(name, code.rawValue, detail)).inserted else { return }
        faults.append(ParameterFault(parameter: name, code: code, detail: detail))
    }

    private static func hash(_ texts: String...) -> Int {
        var hasher = Hasher()
        for var text in texts {
            text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
            hasher.combine(0 as UInt8)
        }
        return hasher.finalize()
    }

    private mutating func read(
        name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>,
        ignoring ignored: [ParameterPattern]
    ) {
        if let parameter = Parameter(named: name) {
            keep(value, for: parameter)
        } else if !PercentEncoding.isEncoded(name) {
            refuse(unknown: name, ignoring: ignored)
        } else {
            do throws(PercentEncoding.Fault) {
                let decoded = try PercentEncoding.decode(name)
                if let parameter = Parameter(named: decoded) {
                    keep(value, for: parameter)
                } else {
                    decoded.withUnsafeBufferPointer { refuse(unknown: $0, ignoring: ignored) }
                }
            } catch {
                report(Self.shown(name), .malformedEncoding, error.detail)
            }
        }
    }

    private mutating func keep(_ value: UnsafeBufferPointer<UInt8>, for parameter: Parameter) {
        guard case .absent = self[parameter] else {
            return report(parameter, .repeatedParameter, "must be given once")
        }
        values[parameter.rawValue] = .refused
        if value.isEmpty {
            report(parameter, .emptyParameter, "must have a value")
        } else if !PercentEncoding.isEncoded(value) {
            values[parameter.rawValue] = .plain(value)
        } else {
            do throws(PercentEncoding.Fault) {
                values[parameter.rawValue] = .decoded(try PercentEncoding.decode(value))
            } catch {
                report(parameter, .malformedEncoding, error.detail)
            }
        }
    }

    private mutating func refuse(
        unknown name: UnsafeBufferPointer<UInt8>, ignoring ignored: [ParameterPattern]
    ) {
        if ignored.contains(where: { $0.matches(name) }) { return }
        let known = known ?? Self.knownNames()
        self.known = known
        let shown = Self.shown(name)
        let hint = known.nearest.find(for: shown).map { "did you mean \($0)?" } ?? known.list
        report(shown, .unknownParameter, "is not known; \(hint)")
    }

    private static func knownNames() -> (nearest: NearestName, list: String) {
        let names = Parameter.allCases.map(\.name.description)
        return (
            NearestName(among: names),
            names.isEmpty ? "this has no parameters" : "known are \(names.joined(separator: ", "))"
        )
    }

    /// A name as a fault shows it: valid UTF-8, and short.
    private static func shown(_ name: UnsafeBufferPointer<UInt8>) -> String {
        let start = String(decoding: name.prefix(40), as: UTF8.self)
        return name.count > 40 ? start + "…" : start
    }
}

/// Calls the body with the bytes of a raw query, in place where they are contiguous.
func withQueryBytes<Value>(
    _ query: some Collection<UInt8>,
    _ body: (UnsafeBufferPointer<UInt8>) throws(ParameterError) -> Value
) throws(ParameterError) -> Value {
    let inPlace = query.withContiguousStorageIfAvailable { bytes in
        Result { () throws(ParameterError) in try body(bytes) }
    }
    if let inPlace { return try inPlace.get() }
    return try Array(query).withUnsafeBufferPointer(body)
}

/// The parameters that an endpoint's query knows: an enumeration whose raw values are 0, 1, 2, ….
package protocol QueryParameter: CaseIterable, RawRepresentable<Int>, Sendable {
    /// The name in the query, ASCII.
    var name: StaticString { get }
}

/// The parameters of an endpoint that has none. An enumeration without cases has to spell out its raw values.
package enum NoParameter: QueryParameter {
    package init?(rawValue: Int) { nil }

    package var rawValue: Int { switch self {} }

    package var name: StaticString { switch self {} }

    /// Refuses a raw query that has parameters, unless they are ignored.
    ///
    /// - Throws: every fault of the query at once.
    package static func refuseAll(
        of query: some Collection<UInt8>, ignoring ignored: [ParameterPattern] = []
    ) throws(ParameterError) {
        try withQueryBytes(query) { (bytes) throws(ParameterError) in
            let query = QueryDecoder<NoParameter>(bytes, ignoring: ignored)
            guard query.faults.isEmpty else { throw ParameterError(faults: query.faults) }
        }
    }
}

extension QueryParameter {
    fileprivate init?(named name: some Sequence<UInt8>) {
        for parameter in Self.allCases where parameter.isNamed(name) {
            self = parameter
            return
        }
        return nil
    }

    private func isNamed(_ other: some Sequence<UInt8>) -> Bool {
        name.withUTF8Buffer { other.elementsEqual($0) }
    }
}

// MARK: - Percent-decoding

extension PercentEncoding {
    /// Why a text can't be decoded.
    enum Fault: Error {
        case malformedEscape, notUTF8, nul

        var detail: String {
            switch self {
            case .malformedEscape: "has a % without two hexadecimal digits behind it"
            case .notUTF8: "is not UTF-8"
            case .nul: "has a NUL character"
            }
        }
    }

    /// Whether the text is anything but its own decoding: has an escape, or must be checked to be UTF-8.
    static func isEncoded(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        text.contains { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") || $0 >= 0x80 || $0 == 0 }
    }

    static func decode(_ text: UnsafeBufferPointer<UInt8>) throws(Fault) -> [UInt8] {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(text.count)
        var rest = text[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap({ $0.hexDigitValue }),
                    let low = rest.popFirst().flatMap({ $0.hexDigitValue })
                else { throw .malformedEscape }
                decoded.append(high << 4 | low)
            case UInt8(ascii: "+"):
                decoded.append(UInt8(ascii: " "))
            default:
                decoded.append(byte)
            }
        }
        if decoded.contains(0) { throw .nul }
        guard decoded.withUnsafeBufferPointer({ $0.isUTF8 }) else { throw .notUTF8 }
        return decoded
    }
}
