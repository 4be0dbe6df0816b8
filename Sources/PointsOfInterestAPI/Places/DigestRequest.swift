import Bytes

/// `GET /locations/digest`: the sums of the places that match a filter, or the places of some buckets, see `PlaceDigest`.
package struct DigestRequest: Hashable, Sendable {
    /// What the response has.
    package enum Part: Hashable, Sendable {
        /// The sums of all groups, and how many places there are.
        case root
        /// The sums of the buckets of these groups, by their numbers.
        case groups([Int])
        /// The places of these buckets, by their numbers among all.
        case buckets([Int])
        /// The places of all buckets of a group.
        case places(group: Int)
    }

    /// How many groups or buckets a request may name.
    package static let maximumPartCount = 64

    /// Only places in this box.
    package var box: BoundingBox?
    /// Only places that match this filter, which searches no text.
    package var filter: PlaceFilter
    package var part: Part
    /// Whether places come with their names in all languages, and with the words of the others.
    package var hasAllNames: Bool

    package init(
        box: BoundingBox? = nil, filter: PlaceFilter = PlaceFilter(), part: Part = .root,
        hasAllNames: Bool = false
    ) {
        (self.box, self.filter, self.part, self.hasAllNames) = (box, filter, part, hasAllNames)
    }

    /// Whether the response has no places, and few sums.
    package var isShort: Bool {
        switch part {
        case .root: true
        case .groups(let groups): groups.count <= 4
        case .buckets, .places: false
        }
    }

    /// Writes the query's items in a fixed order, so that equal requests have equal queries.
    package func encode(into query: inout QueryWriter) {
        if let box { query.add("bbox", box) }
        filter.encode(into: &query)
        switch part {
        case .root: break
        case .groups(let groups): query.add("group", groups.map(String.init))
        case .buckets(let buckets): query.add("bucket", buckets.map(PlaceDigest.name(ofBucket:)))
        case .places(let group):
            query.add("group", group)
            query.add("places", "true")
        }
        if hasAllNames { query.add("names", "all") }
    }

    /// The query, percent-encoded.
    package var encodedQuery: String {
        var query = QueryWriter()
        encode(into: &query)
        return query.text
    }

    /// The query of its box and its filter alone.
    package var encodedFilter: String {
        var query = QueryWriter()
        if let box { query.add("bbox", box) }
        filter.encode(into: &query)
        return query.text
    }
}

extension PlaceDigest {
    /// A bucket's name: the numbers of its group and of its own in there, `5.60`.
    package static func name(ofBucket bucket: Int) -> String {
        "\(bucket / bucketsPerGroup).\(bucket % bucketsPerGroup)"
    }

    /// The number of the bucket that a name stands for; nil where it is no such name.
    package static func bucket(named name: some StringProtocol) -> Int? {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 2, let group = parts[0], let bucket = parts[1],
            (0..<groupCount).contains(group), (0..<bucketsPerGroup).contains(bucket),
            self.name(ofBucket: group * bucketsPerGroup + bucket) == name
        else { return nil }
        return group * bucketsPerGroup + bucket
    }
}

/// How numbers are sent.
extension DigestRequest {
    /// A hash, or the sum of a group; empty for 0.
    package static func text(_ number: UInt64) -> String {
        text(number, byteCount: 8)
    }

    /// The first half of a bucket's sum, which is never empty where the bucket isn't. Where that hides a difference, the sum of
    /// the group tells it, after all.
    package static func shortText(_ number: UInt64) -> String {
        text(number, byteCount: 4)
    }

    /// The first bytes of a number, the highest of all first.
    private static func text(_ number: UInt64, byteCount: UInt64) -> String {
        guard number != 0 else { return "" }
        return Base64URL.encode((0..<byteCount).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) })
    }

    /// The hash that a text stands for; nil where it is none.
    package static func hash(_ text: some Collection<UInt8>) -> UInt64? {
        guard let bytes = Base64URL.decode(text), bytes.isEmpty || bytes.count == 8 else { return nil }
        return bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
