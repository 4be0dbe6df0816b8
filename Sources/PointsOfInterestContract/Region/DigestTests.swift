import Foundation
import PointsOfInterestClient
import Testing

@Suite("Sums by which an app compares the places that it keeps", .timeLimit(.minutes(2)))
struct DigestTests {
    @Test(
        "A digest has the places of its box, each once, in the bucket of its id, and the sums of their hashes",
        .contract(
            .invariant, in: .digest,
            otherwise: "An app keeps places that are gone, or downloads all of them again and again."),
        .needsDigest, .needs(.place))
    func sums() async throws {
        try await Region.compare { region, differences in
            let digest = try await Digest(NearbyPlacesRequest(box: region.box))
            differences.expect(digest.faults, is: [], digest.query)
            differences.expect(
                digest.places.map(\.id).sorted(), is: region.places.map(\.place.id).sorted(),
                "\(digest.query): ids")
            for place in digest.places {
                let others = region.place(id: place.id).map { place.place.differences(from: $0.place) } ?? []
                differences.expect(others == [], "\(digest.query): place \(place.id), \(others)")
                differences.expect(
                    place.bucket, is: PlaceSums.bucket(ofID: place.id), "bucket of \(place.id)")
            }
            let own = PlaceSums(digest.places)
            differences.expect(digest.sums, is: own.groups, "\(digest.query): sums")
            differences.expect(digest.buckets, is: own.buckets, "\(digest.query): sums of buckets")
        }
    }

    @Test(
        "A filter by box, category, dataset, featured places or a property has only the places that match",
        .contract(
            .invariant, in: .digest,
            otherwise: "An app downloads a country though its user has chosen the museums of a town."),
        .needsDigest, .needs(.place))
    func filters() async throws {
        try await Region.compare { region, differences in
            var requests = [
                NearbyPlacesRequest(box: try region.quarter),
                NearbyPlacesRequest(box: region.box, categories: Array(region.categories.prefix(1))),
                NearbyPlacesRequest(box: region.box, featured: true),
                NearbyPlacesRequest(box: region.box, featured: false),
            ]
            if let dataset = region.first(where: { $0.source != nil })?.source?.dataset {
                var request = NearbyPlacesRequest(box: region.box)
                request.datasets = [dataset]
                requests.append(request)
            }
            for request in requests {
                let digest = try await Digest(request)
                differences.expect(digest.faults, is: [], digest.query)
                let filter = RegionFilter(request)
                let matching = region.places.map(\.place).filter(filter.keeps)
                differences.expect(
                    digest.places.map(\.id).sorted(), is: matching.map(\.id).sorted(),
                    "\(digest.query): ids")
                differences.expect(
                    digest.sums, is: PlaceSums(digest.places).groups, "\(digest.query): sums")
            }
            let known = try await FilterablePlaces(of: region)
            for filter in known.filters {
                var request = NearbyPlacesRequest(box: region.box)
                request.propertyFilters = [filter]
                let digest = try await Digest(request)
                let matching = known.places.filter { known.admits($0, by: filter) }
                differences.expect(
                    digest.places.map(\.id).sorted(), is: matching.map(\.id).sorted(),
                    "\(digest.query): ids")
            }
        }
    }

    @Test(
        "The places of a whole group are those of its buckets, and each is as in its details",
        .contract(
            .invariant, in: .digest,
            otherwise: "A place that an app has kept looks different without a network."),
        .needsDigest, .needs(.place))
    func wholeGroup() async throws {
        try await Region.compare { region, differences in
            let digest = try await Digest(NearbyPlacesRequest(box: region.box))
            let group = try #require(digest.places.first).bucket / PlaceSums.bucketsPerGroup
            let response = try await Digest.response("\(digest.query)&group=\(group)&places=true")
            let buckets = try #require(try JSON(response.body)["buckets"]?.members)
            differences.expect(
                Set(buckets.keys), is: Set((0..<PlaceSums.bucketsPerGroup).map { "\(group).\($0)" }),
                "\(response.target): buckets")
            let expected = digest.places.filter { $0.bucket / PlaceSums.bucketsPerGroup == group }
            let found = try DigestPlace.all(in: response.body)
            differences.expect(
                Set(found.map(\.document)), is: Set(expected.map(\.document)), "\(response.target): places")
            for place in expected.prefix(5) {
                let details = try JSON(try await Service.response(to: "/locations/\(place.id)").body)
                differences.expect(place.details, is: details, "place \(place.id)")
            }
        }
    }

    @Test(
        "Where all names are asked for, a place has those in languages",
        .contract(
            .invariant, in: .digest,
            otherwise: "Without a network, a user reads and searches no names in their language."),
        .needsDigest, .needs(.names))
    func names() async throws {
        try await Region.compare { region, differences in
            let place = try await Fact.names.needed()
            let bucket = PlaceSums.name(ofBucket: PlaceSums.bucket(ofID: place.id))
            let query = "/locations/digest?\(NearbyPlacesRequest(box: region.box).encodedQuery)"
            for (names, hasNames) in [("", false), ("&names=all", true)] {
                let response = try await Digest.response("\(query)&bucket=\(bucket)\(names)")
                let found = try JSON(response.body)["buckets"]?[bucket]?.array?.first {
                    $0["id"] == .number(Double(place.id))
                }
                let texts = (found?["names"]?.members ?? [:]).values.compactMap(\.text)
                differences.expect(
                    texts.contains { $0.isExactly(place.name) } == hasNames,
                    "\(response.target): names of \(place.id) are \(texts)")
            }
        }
    }

    @Test(
        "A digest has a tag for each part, which gets a 304, and caches of others don't keep it",
        .contract(
            .invariant, in: .digest,
            otherwise: "An app downloads what it has, or a cache tells others which region somebody keeps."),
        .needsDigest, .needs(.place))
    func conditional() async throws {
        try await Region.compare { region, differences in
            let query = "/locations/digest?\(NearbyPlacesRequest(box: region.box).encodedQuery)"
            var tags: [String] = []
            for part in ["", "&group=0", "&group=1,0", "&bucket=0.0", "&group=0&places=true"] {
                let target = query + part
                let first = try await Digest.response(target)
                let tag = try #require(first.header("ETag"))
                tags.append(tag)
                let again = try await Service.response(to: target, headers: ["If-None-Match": tag])
                differences.expect(again.status, is: 304, target)
                differences.expect(again.header("ETag"), is: tag, target)
                differences.expect(again.body.isEmpty, "\(target): a body")
                let other = try await Service.response(to: target, headers: ["If-None-Match": "\"another\""])
                differences.expect(other.status, is: 200, target)
                differences.expect(other.body == first.body, "\(target): another body")
                let head = try await Service.response(to: target, method: "HEAD")
                differences.expect(head.status, is: 200, "HEAD \(target)")
                differences.expect(head.header("ETag"), is: tag, "HEAD \(target)")
                let directives = first.list("Cache-Control")
                differences.expect(
                    directives.contains("private") && !directives.contains("public"),
                    "\(target): \(directives)")
            }
            differences.expect(Set(tags).count, is: tags.count, "different tags")
        }
    }

    @Test(
        "A long part of a digest is compressed on request, and has the same content",
        .contract(
            .invariant, in: .digest,
            otherwise: "A download takes five times as long, or is garbage."), .needsDigest, .needs(.place))
    func compression() async throws {
        try await Region.compare { region, differences in
            let query = "/locations/digest?\(NearbyPlacesRequest(box: region.box).encodedQuery)"
            let groups = (0..<PlaceSums.groupCount).map(String.init).joined(separator: ",")
            for part in ["", "&group=\(groups)", "&group=7&places=true"] {
                let target = query + part
                let coded = try await Service.response(to: target, headers: ["Accept-Encoding": "gzip"])
                let plain = try await Service.response(to: target, headers: ["Accept-Encoding": "identity"])
                differences.expect(plain.header("Content-Encoding") == nil, "\(target): compressed")
                differences.expect(
                    coded.header("Content-Encoding") == "gzip" || plain.body.count < 1024,
                    "\(target): not compressed")
                differences.expect(coded.body == plain.body, "\(target): another content")
            }
        }
    }

    @Test(
        "What no digest can be asked is refused, with parameter and code",
        .contract(
            .invariant, in: .digest,
            otherwise: "A mistake in the app's code looks like a region in which nothing has changed."),
        .needsDigest,
        arguments: [
            ("q=a", "q", ProblemCode.conflictingParameters), ("colour=red", "colour", .unknownParameter),
            ("lat=1", "lat", .unknownParameter), ("lang=en", "lang", .unknownParameter),
            ("group=64", "group", .outOfRange), ("group=-1", "group", .outOfRange),
            ("group=01", "group", .outOfRange), ("group=a", "group", .outOfRange),
            ("group=", "group", .emptyParameter), ("group=1&group=2", "group", .repeatedParameter),
            ("group=\(Array(repeating: "1", count: 65).joined(separator: ","))", "group", .tooManyValues),
            ("bucket=1", "bucket", .outOfRange), ("bucket=1.64", "bucket", .outOfRange),
            ("bucket=64.1", "bucket", .outOfRange), ("bucket=1.1&group=1", "bucket", .conflictingParameters),
            ("places=true", "places", .conflictingParameters),
            ("places=true&group=1,2", "places", .conflictingParameters),
            ("places=1&group=1", "places", .notABoolean), ("names=all", "names", .conflictingParameters),
            ("names=de&bucket=1.1", "names", .outOfRange), ("bbox=1,2,3", "bbox", .malformedBox),
        ])
    func refusal(query: String, parameter: String, code: ProblemCode) async throws {
        let problem = try #require(await Service.problem(of: "/locations/digest?\(query)"))
        #expect(problem.status == 400)
        #expect(problem.code == code)
        #expect(problem.errors.map(\.parameter) == [parameter])
    }

    @Test(
        "A digest comes as JSON alone",
        .contract(
            .invariant, in: .digest, otherwise: "A client gets a form that it can't read."), .needsDigest)
    func form() async throws {
        let response = try await Service.response(
            to: "/locations/digest?bbox=0,0,0.1,0.1", headers: ["Accept": "application/geo+json"])
        #expect(response.status == 406)
        #expect(try response.problem.code == .notAcceptable)
    }

    @Test(
        "Where a service tells no sums, the path is none: 404, and it isn't described",
        .contract(
            .invariant, in: .digest,
            otherwise: "An app asks again and again for what the service's operator has switched off."))
    func absence() async throws {
        guard try await !Service.description().hasDigest else { return }
        #expect(try await Service.response(to: "/locations/digest").status == 404)
    }

    @Test(
        "A service without its places in memory says so",
        .contract(
            .invariant, in: .digest,
            otherwise: "An app takes a service that has no sums for one that has no places."))
    func withoutIndex() async throws {
        guard try await Service.description().hasDigest, try await !Service.hasIndex else { return }
        let problem = try #require(await Service.problem(of: "/locations/digest"))
        #expect(problem.status == 501)
        #expect(problem.code == .indexRequired)
    }
}

/// All that a service tells of the places of a box and a filter, by as few requests as possible.
struct Digest {
    let query: String
    /// Of all groups.
    let sums: [String]
    /// Of all buckets.
    let buckets: [String]
    private(set) var places: [DigestPlace] = []
    /// Where its parts don't agree: they may be of different states of the data.
    private(set) var faults: [String] = []

    /// How many groups or buckets a request may name.
    private static let maximumPartCount = 64

    init(_ request: NearbyPlacesRequest, hasAllNames: Bool = false) async throws {
        query = "/locations/digest?\(request.encodedQuery)"
        let root = try JSON(try await Self.response(query).body)
        sums = (root["sums"]?.array ?? []).compactMap(\.text)
        let names = (0..<PlaceSums.groupCount).map(String.init)
        let groups = try JSON(
            try await Self.response("\(query)&group=\(names.joined(separator: ","))").body)
        var versions = [root["dataset"], groups["dataset"]]
        buckets = names.flatMap { (groups["groups"]?[$0]?.array ?? []).compactMap(\.text) }
        try #require(buckets.count == PlaceSums.groupCount * PlaceSums.bucketsPerGroup)
        var filled = buckets.indices.filter { !buckets[$0].isEmpty }.map(PlaceSums.name(ofBucket:))[...]
        while !filled.isEmpty {
            let asked = filled.prefix(Self.maximumPartCount)
            filled = filled.dropFirst(Self.maximumPartCount)
            let part = "&bucket=\(asked.joined(separator: ","))\(hasAllNames ? "&names=all" : "")"
            let body = try await Self.response(query + part).body
            let document = try JSON(body)
            versions.append(document["dataset"])
            if Set(document["buckets"]?.members?.keys ?? [:].keys) != Set(asked) {
                faults.append("\(query)\(part): other buckets")
            }
            places += try DigestPlace.all(in: body)
        }
        if root["count"] != .number(Double(places.count)) {
            faults.append("\(query): \(places.count) places, not as many as `count` says")
        }
        if Set(versions).count != 1 { faults.append("\(query): several states of the data") }
    }

    /// A response that has to be one.
    static func response(_ target: String) async throws -> Exchange {
        let response = try await Service.response(to: target)
        try #require(response.status == 200, "\(target)")
        return response
    }
}

/// A place of a digest.
struct DigestPlace {
    let id: Int
    let hash: UInt64
    /// Among all buckets.
    let bucket: Int
    /// As the app's client reads it.
    let place: PointOfInterest
    let document: JSON

    private struct Buckets: Decodable {
        let buckets: [String: [PointOfInterest]]
    }

    /// The places of a response.
    static func all(in body: Data) throws -> [DigestPlace] {
        let document = try JSON(body)
        return try JSONDecoder().decode(Buckets.self, from: body).buckets.flatMap { name, places in
            let numbers = name.split(separator: ".").compactMap { Int($0) }
            let documents = document["buckets"]?[name]?.array ?? []
            try #require(numbers.count == 2 && documents.count == places.count)
            return try zip(places, documents).map { place, document in
                DigestPlace(
                    id: place.id, hash: try #require(document["hash"]?.text.flatMap(PlaceSums.number(of:))),
                    bucket: numbers[0] * PlaceSums.bucketsPerGroup + numbers[1], place: place,
                    document: document)
            }
        }
    }

    /// What it has beside its details.
    static let ownMembers = ["hash", "names", "otherNames"]

    /// The document of its details.
    var details: JSON {
        .object((document.members ?? [:]).filter { !Self.ownMembers.contains($0.key) })
    }
}

/// The sums of places as an app computes them, written from the contract's page.
struct PlaceSums {
    static let (groupCount, bucketsPerGroup) = (64, 64)

    private struct Sum {
        var (count, sum) = (UInt64(0), UInt64(0))

        var value: UInt64 { count == 0 ? 0 : PlaceSums.mixed(sum ^ PlaceSums.mixed(count)) }
    }

    private var ofBuckets = Array(repeating: Sum(), count: groupCount * bucketsPerGroup)

    init(_ places: [DigestPlace]) {
        for place in places {
            let term = Self.mixed(place.hash ^ Self.mixed(~UInt64(bitPattern: Int64(place.id))))
            ofBuckets[place.bucket].count &+= 1
            ofBuckets[place.bucket].sum &+= term
        }
    }

    /// As the service tells them.
    var buckets: [String] { ofBuckets.map { Self.text($0.value, bytes: 4) } }

    var groups: [String] {
        (0..<Self.groupCount).map { group in
            let own = ofBuckets[group * Self.bucketsPerGroup..<(group + 1) * Self.bucketsPerGroup]
            let sum = own.reduce(into: Sum()) {
                $0.count &+= $1.count
                $0.sum &+= $1.sum
            }
            return Self.text(sum.value, bytes: 8)
        }
    }

    static func bucket(ofID id: Int) -> Int { Int(mixed(UInt64(bitPattern: Int64(id))) >> 52) }

    static func name(ofBucket bucket: Int) -> String {
        "\(bucket / bucketsPerGroup).\(bucket % bucketsPerGroup)"
    }

    /// The number of a text: eight bytes in Base64 for URLs, nothing for 0.
    static func number(of text: String) -> UInt64? {
        guard !text.isEmpty else { return 0 }
        let plain = text.replacing("-", with: "+").replacing("_", with: "/") + "="
        guard let bytes = Data(base64Encoded: plain), bytes.count == 8 else { return nil }
        return bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static func text(_ number: UInt64, bytes count: Int) -> String {
        guard number != 0 else { return "" }
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * UInt64($0))) }
        return Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }

    private static func mixed(_ number: UInt64) -> UInt64 {
        var mixed = number &+ 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
