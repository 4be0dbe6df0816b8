import Bytes

/// Writes a query, percent-encoded (RFC 3986, section 2.1), straight into bytes.
///
/// Everything in a text but the unreserved characters is escaped: `+` becomes `%2B`. `PointsOfInterestServerAPI` decodes
/// queries.
package struct QueryWriter: ~Copyable {
    private var buffer = ByteBuffer(capacity: 256)
    /// Where the query begins.
    private let start: Int

    /// Makes an empty query.
    ///
    /// - Parameter prefix: a text that is kept in memory before the query and isn't part of it.
    package init(behind prefix: StaticString = "") {
        buffer.append(prefix)
        start = buffer.count
    }

    /// How many bytes are written so far.
    package var count: Int { buffer.count - start }

    /// What is written so far.
    package var text: String {
        buffer.withBytes { String(decoding: $0[start...], as: UTF8.self) }
    }

    /// Calls a closure with the query's memory, prefix included. What the closure appends needn't be part of a query.
    package mutating func withBuffer<Result>(_ body: (inout ByteBuffer) -> Result) -> Result { body(&buffer) }

    /// The stable hash of what is written so far; `seed` continues another hash.
    package func hash(seed: UInt64 = StableHash.basis) -> UInt64 { hash(of: 0..<count, seed: seed) }

    /// The stable hash of a part of it.
    package func hash(of part: Range<Int>, seed: UInt64 = StableHash.basis) -> UInt64 {
        buffer.withBytes(in: (start + part.lowerBound)..<(start + part.upperBound)) {
            StableHash.hash($0, seed: seed)
        }
    }

    /// Adds an item; its name needs no escape.
    package mutating func add(_ name: StaticString, _ text: String) {
        begin(name)
        buffer.appendPercentEncoded(text)
    }

    /// Adds an item; its name needs no escape.
    package mutating func add(_ name: StaticString, _ number: Double) {
        begin(name)
        append(number)
    }

    /// Adds an item; its name needs no escape.
    package mutating func add(_ name: StaticString, _ number: Int) {
        begin(name)
        buffer.appendDecimal(number)
    }

    /// Adds an item of several numbers with commas between them; its name needs no escape.
    package mutating func add(_ name: StaticString, _ numbers: [Double]) {
        begin(name)
        for (index, number) in numbers.enumerated() {
            if index > 0 { buffer.append("%2C") }
            append(number)
        }
    }

    /// Adds an item of several texts, separated by commas. Commas within a text are escaped, so they separate nothing
    /// (RFC 6570, section 3.2.8). The item's name needs no escape.
    package mutating func add(_ name: StaticString, _ texts: [String]) {
        begin(name)
        append(texts)
    }

    /// Adds an item of several texts, separated by commas, whose name is a prefix and a text behind it that is escaped.
    package mutating func add(_ prefix: StaticString, followedBy text: String, _ texts: [String]) {
        if count > 0 { buffer.append(UInt8(ascii: "&")) }
        buffer.append(prefix)
        buffer.appendPercentEncoded(text)
        buffer.append(UInt8(ascii: "="))
        append(texts)
    }

    private mutating func append(_ texts: [String]) {
        for (index, text) in texts.enumerated() {
            if index > 0 { buffer.append(UInt8(ascii: ",")) }
            buffer.appendPercentEncoded(text)
        }
    }

    /// Adds a box: west, south, east and north; its name needs no escape.
    package mutating func add(_ name: StaticString, _ box: BoundingBox) {
        add(name, [box.west, box.south, box.east, box.north])
    }

    private mutating func begin(_ name: StaticString) {
        if count > 0 { buffer.append(UInt8(ascii: "&")) }
        buffer.append(name)
        buffer.append(UInt8(ascii: "="))
    }

    private mutating func append(_ number: Double) {
        // A larger number may have an exponent with a plus, which has to be escaped.
        guard number.magnitude < 1e8 else { return buffer.appendPercentEncoded(number.description) }
        buffer.appendDecimal(number)
    }
}

extension [String] {
    /// Each text once, in the order of its UTF-8.
    ///
    /// It compares bytes, unlike `Set<String>` and `<`. Those compare strings by canonical equivalence, which takes time
    /// that grows with the square of the length of a run of combining marks.
    package var uniqueInByteOrder: [String] {
        if count == 1 { return self }
        return Set(map { [UInt8]($0.utf8) }).sorted { $0.lexicographicallyPrecedes($1) }
            .map { String(decoding: $0, as: UTF8.self) }
    }
}

/// The paths of the service's endpoints, below any prefix.
package enum EndpointPath {
    /// The places around a centre, in a box, or with some ids, see `NearbyPlacesRequest`.
    package static let locations = "/locations"
    /// One place, see `PlaceRequest`; a template whose `{id}` is the place's id.
    package static let location = "/locations/{id}"
    /// What can be edited of a place, see `EditablePlace`; for editors.
    package static let record = "/locations/{id}/record"
    /// What has changed a place, see `PlaceVersion`; for editors.
    package static let versions = "/locations/{id}/versions"
    /// The newest changes of all places, see `RecentChange`; for editors.
    package static let changes = "/changes"
    /// Shows what a place was in one of its versions; for editors.
    package static let restore = "/locations/{id}/restore"
    /// Removes a place that is the same as another one; for editors.
    package static let merge = "/locations/{id}/merge"
    /// How many places are in each cell of a map, see `ClustersRequest`.
    package static let clusters = "/locations/clusters"
    /// The sums of places, by which a phone compares its own, see `DigestRequest`.
    package static let digest = "/locations/digest"
    /// The categories, see `CategoryCount`.
    package static let categories = "/categories"
    /// The datasets that places came from, see `Attribution`.
    package static let attributions = "/attributions"
    /// Events, see `EventsRequest`.
    package static let events = "/events"
    /// What people say is wrong with places, see `PlaceReport`.
    package static let reports = "/reports"
    /// One report; a template whose `{id}` is the report's id; for editors.
    package static let report = "/reports/{id}"
    /// A page for people about a problem; a template whose `{code}` is a `ProblemCode`.
    package static let problem = "/problems/{code}"
    /// The OpenAPI description of the service.
    package static let openAPI = "/openapi.json"
    /// 200 while the process is alive.
    package static let livez = "/livez"
    /// 200 while the process can take requests.
    package static let readyz = "/readyz"

    /// The path of one place.
    package static func location(id: Int) -> String { "/locations/\(id)" }
}

/// The media types of the contract's bodies.
package enum MediaType {
    /// A response that succeeds, unless the client prefers another form (RFC 8259).
    package static let json = "application/json"
    /// Places as a feature collection (RFC 7946).
    package static let geoJSON = "application/geo+json"
    /// Every problem (RFC 9457).
    package static let problemJSON = "application/problem+json"

    /// The media types of all responses with data and of all problems.
    package static let all: Set<String> = [json, geoJSON, problemJSON]
}

/// A hash that is the same in every process and release, unlike Swift's own: 64-bit FNV-1a
/// (draft-eastlake-fnv). Not for secrets.
@usableFromInline
package enum StableHash {
    /// The hash of no bytes.
    @inlinable package static var basis: UInt64 { 0xcbf2_9ce4_8422_2325 }

    /// The hash of bytes; `seed` continues another hash.
    @inlinable
    package static func hash(_ bytes: some Sequence<UInt8>, seed: UInt64 = basis) -> UInt64 {
        var hash = seed
        for byte in bytes { hash = step(hash, byte) }
        return hash
    }

    /// The hash of a text's UTF-8.
    package static func hash(_ text: String, seed: UInt64 = basis) -> UInt64 { hash(text.utf8, seed: seed) }

    /// The hash of a number's eight bytes, the most significant first.
    package static func hash(_ number: UInt64, seed: UInt64) -> UInt64 {
        var hash = seed
        for index in 0..<8 as Range<UInt64> {
            hash = step(hash, UInt8(truncatingIfNeeded: number &>> (56 &- 8 &* index)))
        }
        return hash
    }

    @inlinable
    @inline(__always)
    static func step(_ hash: UInt64, _ byte: UInt8) -> UInt64 {
        (hash ^ UInt64(byte)) &* 0x100_0000_01b3
    }
}
