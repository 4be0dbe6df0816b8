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
        /// Was percent-encoded: its index in `decoded`.
        case decoded(Int)
    }

    /// More parameters are refused, so that the cost of a query is bounded.
    private static var maximumCount: Int { 100 }

    /// The faults so far, each once.
    private(set) var faults: [ParameterFault] = []
    /// Hashes of the faults. Comparing those of 100 parameters as strings takes long.
    private var reported: Set<Int> = []
    /// The known names; made when the first unknown one is found.
    private var known: (nearest: NearestName, list: String)?
    private var values = ParameterValues()
    /// The values that were percent-encoded.
    private(set) var decoded: [[UInt8]] = []
    /// The parameters `property.NAME`, where an endpoint takes them.
    private(set) var properties: [PropertyParameter] = []
    private let query: UnsafeBufferPointer<UInt8>

    init(_ query: UnsafeBufferPointer<UInt8>, ignoring ignored: [ParameterPattern] = []) {
        self.query = query
        var count = 0
        var index = 0
        while index < query.count {
            let name = QueryText(query, from: index, endsAtEquals: true)
            let hasValue = name.end < query.count && query[name.end] == UInt8(ascii: "=")
            let value = QueryText(query, from: hasValue ? name.end + 1 : name.end, endsAtEquals: false)
            index = value.end + 1
            if name.bytes.isEmpty, !hasValue { continue }
            count += 1
            guard count <= Self.maximumCount else {
                report(Self.shown(name.bytes), .tooManyParameters, "is one too many: a query has at most 100")
                return
            }
            read(name: name, value: value, ignoring: ignored)
        }
    }

    /// The value of a parameter. A value that is there isn't empty.
    subscript(parameter: Parameter) -> Value {
        // Inlined, so that for a constant parameter the place of its value is a constant, too.
        @inline(__always)
        get {
            let (kind, start, end) = values[parameter.rawValue]
            return switch kind {
            case .absent: .absent
            case .refused: .refused
            case .plain: .plain(UnsafeBufferPointer(rebasing: query[start..<end]))
            case .decoded: .decoded(values[decodedIndexOf: parameter.rawValue])
            }
        }
    }

    /// The value of a parameter as it stands in the query; nil where the parameter is absent or has a fault.
    func encodedValue(of parameter: Parameter) -> UnsafeBufferPointer<UInt8>? {
        let (kind, start, end) = values[parameter.rawValue]
        switch kind {
        case .absent, .refused: return nil
        case .plain, .decoded: return UnsafeBufferPointer(rebasing: query[start..<end])
        }
    }

    /// Adds a fault, unless it was added before.
    mutating func report(_ parameter: Parameter, _ code: ProblemCode, _ detail: String) {
        report(parameter.name.description, code, detail)
    }

    /// Adds a fault of the parameter that is shown by a name.
    mutating func report(_ name: String, _ code: ProblemCode, _ detail: String) {
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

    private mutating func read(name: QueryText, value: QueryText, ignoring ignored: [ParameterPattern]) {
        if let parameter = Parameter(named: name.bytes) {
            keep(value, for: parameter)
        } else if !name.isEncoded {
            take(unknown: name.bytes, value, ignoring: ignored)
        } else {
            do throws(PercentEncoding.Fault) {
                let decoded = try PercentEncoding.decode(name.bytes)
                decoded.withUnsafeBufferPointer { decoded in
                    if let parameter = Parameter(named: decoded) {
                        keep(value, for: parameter)
                    } else {
                        take(unknown: decoded, value, ignoring: ignored)
                    }
                }
            } catch {
                report(Self.shown(name.bytes), .malformedEncoding, error.detail)
            }
        }
    }

    private mutating func keep(_ value: QueryText, for parameter: Parameter) {
        guard case .absent = self[parameter] else {
            return report(parameter, .repeatedParameter, "must be given once")
        }
        let range = (value.end - value.bytes.count, value.end)
        values[parameter.rawValue] = (.refused, 0, 0)
        if value.bytes.isEmpty {
            report(parameter, .emptyParameter, "must have a value")
        } else if !value.isEncoded {
            values[parameter.rawValue] = (.plain, range.0, range.1)
        } else {
            do throws(PercentEncoding.Fault) {
                decoded.append(try PercentEncoding.decode(value.bytes))
                values[parameter.rawValue] = (.decoded, range.0, range.1)
                values[decodedIndexOf: parameter.rawValue] = decoded.count - 1
            } catch {
                report(parameter, .malformedEncoding, error.detail)
            }
        }
    }

    /// Takes a parameter `property.NAME`, where there are such ones, and refuses others.
    @inline(never)
    private mutating func take(
        unknown name: UnsafeBufferPointer<UInt8>, _ value: QueryText, ignoring ignored: [ParameterPattern]
    ) {
        if Parameter.hasProperties, let property = PropertyParameter(name, value.bytes) {
            properties.append(property)
        } else if !ignored.contains(where: { $0.matches(name) }) {
            refuse(unknown: name)
        }
    }

    private mutating func refuse(unknown name: UnsafeBufferPointer<UInt8>) {
        let known = known ?? Self.knownNames()
        self.known = known
        let shown = Self.shown(name)
        let hint = known.nearest.find(for: shown).map { "did you mean \($0)?" } ?? known.list
        report(shown, .unknownParameter, "is not known; \(hint)")
    }

    private static func knownNames() -> (nearest: NearestName, list: String) {
        let names =
            Parameter.allCases.map(\.name.description) + (Parameter.hasProperties ? ["property.NAME"] : [])
        return (
            NearestName(among: names),
            names.isEmpty ? "this has no parameters" : "known are \(names.joined(separator: ", "))"
        )
    }

    /// A name as the detail of a fault shows it: valid UTF-8, and shortened.
    static func shown(_ name: UnsafeBufferPointer<UInt8>) -> String {
        let start = String(decoding: name.prefix(40), as: UTF8.self)
        return name.count > 40 ? start + "…" : start
    }
}

/// Where the values of at most 16 parameters are. An array would take memory from the heap for each query.
private struct ParameterValues {
    enum Kind: UInt8 {
        case absent, refused, plain, decoded

        /// Makes the kind whose raw value was stored.
        @inline(__always)
        fileprivate init(written: UInt8) {
            switch written {
            case Kind.absent.rawValue: self = .absent
            case Kind.refused.rawValue: self = .refused
            case Kind.plain.rawValue: self = .plain
            default: self = .decoded
            }
        }
    }

    private var kinds = SIMD16<UInt8>(repeating: Kind.absent.rawValue)
    private var starts = SIMD16<UInt32>()
    private var ends = SIMD16<UInt32>()
    /// The indexes in `decoded` of values that were percent-encoded.
    private var indexes = SIMD16<UInt8>()

    /// A parameter's value, and where it begins and ends in the query.
    subscript(parameter: Int) -> (kind: Kind, start: Int, end: Int) {
        @inline(__always)
        get { (Kind(written: kinds[parameter]), Int(starts[parameter]), Int(ends[parameter])) }
        set {
            kinds[parameter] = newValue.kind.rawValue
            starts[parameter] = UInt32(newValue.start)
            ends[parameter] = UInt32(newValue.end)
        }
    }

    /// The index in `decoded` of a value that was percent-encoded.
    subscript(decodedIndexOf parameter: Int) -> Int {
        get { Int(indexes[parameter]) }
        set { indexes[parameter] = UInt8(newValue) }
    }
}

/// A name or a value in a raw query.
private struct QueryText {
    let bytes: UnsafeBufferPointer<UInt8>
    /// Where it ends in the query.
    let end: Int
    /// Whether it must be decoded: it has a `%`, a `+`, a NUL, or a byte that must be checked to be UTF-8.
    let isEncoded: Bool

    /// Reads from `start` to the next `&`, for a name also to the next `=`, or to the query's end.
    @inline(__always)
    init(_ query: UnsafeBufferPointer<UInt8>, from start: Int, endsAtEquals: Bool) {
        var index = start
        var isEncoded = false
        while index < query.count {
            let byte = query[index]
            // Most bytes are ASCII from the comma on, and need no further look.
            if byte > UInt8(ascii: "+"), byte < 0x80, byte != UInt8(ascii: "=") || !endsAtEquals {
                index += 1
                continue
            }
            if byte == UInt8(ascii: "&") || byte == UInt8(ascii: "=") && endsAtEquals { break }
            if byte == UInt8(ascii: "%") || byte == UInt8(ascii: "+") || byte >= 0x80 || byte == 0 {
                isEncoded = true
            }
            index += 1
        }
        bytes = UnsafeBufferPointer(rebasing: query[start..<index])
        end = index
        self.isEncoded = isEncoded
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
    /// Whether there are parameters `property.NAME` besides.
    static var hasProperties: Bool { get }
}

extension QueryParameter {
    /// False, by default.
    package static var hasProperties: Bool { false }

    /// All parameters, in their order.
    package static var allCases: [Self] {
        var cases: [Self] = []
        while let parameter = Self(rawValue: cases.count) { cases.append(parameter) }
        return cases
    }
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
    fileprivate init?(named name: UnsafeBufferPointer<UInt8>) {
        var number = 0
        while let parameter = Self(rawValue: number) {
            if parameter.isNamed(name) {
                self = parameter
                return
            }
            number += 1
        }
        return nil
    }

    @inline(__always)
    private func isNamed(_ other: UnsafeBufferPointer<UInt8>) -> Bool {
        let name = self.name
        guard name.utf8CodeUnitCount == other.count else { return false }
        for index in 0..<other.count where name.utf8Start[index] != other[index] { return false }
        return true
    }
}

// MARK: - Percent-decoding

/// Percent-decoding of names and values in a query (RFC 3986, section 2.1).
package enum PercentEncoding {
    /// Why a text can't be decoded.
    package enum Fault: Error {
        case malformedEscape, notUTF8, nul

        var detail: String {
            switch self {
            case .malformedEscape: "has a % without two hexadecimal digits behind it"
            case .notUTF8: "is not UTF-8"
            case .nul: "has a NUL character"
            }
        }
    }

    /// Decodes a name or a value, in which `+` is a space.
    ///
    /// - Throws: why it can't be decoded.
    package static func decode(_ text: UnsafeBufferPointer<UInt8>) throws(Fault) -> [UInt8] {
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
