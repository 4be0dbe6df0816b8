import Bytes
import PointsOfInterestAPI

/// Splits a raw query in one pass and keeps the value of each known parameter.
///
/// It collects faults and reads on, so that one response lists all of them. It works on the query's own bytes, which
/// must outlive it, and copies only what is percent-encoded.
struct QueryDecoder<Parameter: QueryParameter> {
    enum Value {
        case absent
        /// Present, and its fault is reported already.
        case refused
        /// Stands as it is in this range of the query.
        case plain(Range<Int>)
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
            let name = text(from: index, endsAtEquals: true)
            let end = name.range.upperBound
            let hasValue = end < query.count && query[end] == UInt8(ascii: "=")
            let value = text(from: hasValue ? end + 1 : end, endsAtEquals: false)
            index = value.range.upperBound + 1
            if name.range.isEmpty, !hasValue { continue }
            count += 1
            guard count <= Self.maximumCount else {
                report(
                    Self.shown(query[name.range]), .tooManyParameters,
                    "is one too many: a query has at most 100")
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
            case .plain: .plain(start..<end)
            case .decoded: .decoded(values[decodedIndexOf: parameter.rawValue])
            }
        }
    }

    /// The value of a parameter as it stands in the query; nil where the parameter is absent or has a fault.
    func encodedValue(of parameter: Parameter) -> [UInt8]? {
        let (kind, start, end) = values[parameter.rawValue]
        return switch kind {
        case .absent, .refused: nil
        case .plain, .decoded: Array(query[start..<end])
        }
    }

    /// The parsed value; nil where the parameter is absent or has a fault.
    @inline(__always)
    func withValue<Parsed>(
        of parameter: Parameter, _ parse: (UnsafeBufferPointer<UInt8>) -> Parsed
    ) -> Parsed? {
        switch self[parameter] {
        case .absent, .refused: nil
        case .plain(let range): parse(query.extracting(range))
        case .decoded(let index): decoded[index].withUnsafeBufferPointer(parse)
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
        for text in texts {
            hasher.combine(bytesOf: text)
            hasher.combine(0 as UInt8)
        }
        return hasher.finalize()
    }

    private mutating func read(name: QueryText, value: QueryText, ignoring ignored: [ParameterPattern]) {
        if let parameter = Parameter(named: query.extracting(name.range)) {
            return keep(value, for: parameter)
        }
        let name = query[name.range]
        do throws(PercentEncoding.Fault) {
            let decoded = try PercentEncoding.decode(name, plusIsSpace: true)
            if let parameter = decoded.withUnsafeBufferPointer({ Parameter(named: $0) }) {
                keep(value, for: parameter)
            } else {
                take(unknown: decoded, value, ignoring: ignored)
            }
        } catch {
            report(Self.shown(name), .malformedEncoding, error.detail)
        }
    }

    private mutating func keep(_ value: QueryText, for parameter: Parameter) {
        guard case .absent = self[parameter] else {
            return report(parameter, .repeatedParameter, "must be given once")
        }
        let (start, end) = (value.range.lowerBound, value.range.upperBound)
        values[parameter.rawValue] = (.refused, 0, 0)
        if value.range.isEmpty {
            report(parameter, .emptyParameter, "must have a value")
        } else if !value.isEncoded {
            values[parameter.rawValue] = (.plain, start, end)
        } else {
            do throws(PercentEncoding.Fault) {
                decoded.append(try PercentEncoding.decode(query[value.range], plusIsSpace: true))
                values[parameter.rawValue] = (.decoded, start, end)
                values[decodedIndexOf: parameter.rawValue] = decoded.count - 1
            } catch {
                report(parameter, .malformedEncoding, error.detail)
            }
        }
    }

    /// Takes a parameter `property.NAME`, where there are such ones, and refuses others.
    @inline(never)
    private mutating func take(
        unknown name: [UInt8], _ value: QueryText, ignoring ignored: [ParameterPattern]
    ) {
        if Parameter.hasProperties, let property = PropertyParameter(name, Array(query[value.range])) {
            properties.append(property)
        } else if !ignored.contains(where: { $0.matches(name) }) {
            refuse(unknown: name)
        }
    }

    private mutating func refuse(unknown name: [UInt8]) {
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
    static func shown(_ name: some Collection<UInt8>) -> String {
        let start = String(decoding: name.prefix(40), as: UTF8.self)
        return name.count > 40 ? start + "…" : start
    }

    /// Reads from `start` to the next `&`, for a name also to the next `=`, or to the query's end.
    @inline(__always)
    private func text(from start: Int, endsAtEquals: Bool) -> QueryText {
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
        return QueryText(range: start..<index, isEncoded: isEncoded)
    }
}

/// Where the values of at most 16 parameters are. An array would take memory from the heap for each query.
private struct ParameterValues {
    enum Kind: UInt8 {
        case absent, refused, plain, decoded

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

    subscript(decodedIndexOf parameter: Int) -> Int {
        get { Int(indexes[parameter]) }
        set { indexes[parameter] = UInt8(newValue) }
    }
}

/// Where a name or a value is in a raw query.
private struct QueryText {
    let range: Range<Int>
    /// Whether it must be decoded: it has a `%`, a `+`, a NUL, or a byte that must be checked to be UTF-8.
    let isEncoded: Bool
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
            if name.isSame(as: parameter.name) {
                self = parameter
                return
            }
            number += 1
        }
        return nil
    }
}

extension PercentEncoding.Fault {
    /// What a parameter with the fault has, as the detail of a problem.
    var detail: String {
        switch self {
        case .malformedEscape: "has a % without two hexadecimal digits behind it"
        case .notUTF8: "is not UTF-8"
        case .nul: "has a NUL character"
        }
    }
}
