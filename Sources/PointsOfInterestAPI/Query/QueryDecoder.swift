/// Takes a raw query apart in one pass and keeps the value of each known parameter.
///
/// Whatever is wrong becomes a fault and reading goes on, so that one answer tells them all. Works on the
/// query's own bytes, which must outlive it, and copies only what is percent-encoded.
struct QueryDecoder<Parameter: QueryParameter> {
    enum Value {
        case absent
        /// Present, and its fault is told already.
        case refused
        case plain(UnsafeBufferPointer<UInt8>)
        case decoded([UInt8])
    }

    /// More parameters are refused, so that what a query costs is bounded.
    private static var maximumCount: Int { 100 }

    /// What is wrong so far, each fault once.
    private(set) var faults: [ParameterFault] = []
    /// Hashes of the faults: compared with each other as strings, those of 100 parameters take long.
    private var told: Set<Int> = []
    /// What the names are that are known; nil until one is asked for that isn't.
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
        guard told.insert(Self.hash(name, code.rawValue, detail)).inserted else { return }
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
        } else if !PercentEncoding.isNeeded(in: name) {
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
        } else if !PercentEncoding.isNeeded(in: value) {
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

    /// A name as a fault shows it: readable, and short whatever was sent.
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
