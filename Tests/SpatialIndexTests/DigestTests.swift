import PointsOfInterestAPI
import PointsOfInterestServerAPI
import Randomness
import Testing

@testable import SpatialIndex

/// Sums by which a phone compares its places, against those of the places themselves.
@Suite("Sums of places")
struct DigestTests {
    private static let categories = ["cafe", "museum", "zoo"]

    private static func place(_ id: Int, _ generator: inout SeededGenerator) -> PlaceFields {
        func text(_ words: [String]) -> PlaceFields.Text { Array(words.pick(using: &generator).utf8)[...] }
        let isClosed = Int.random(in: 0..<8, using: &generator) == 0
        return PlaceFields(
            id: id, name: text(["Alba", "Bar", "Museum of a longer name"]), category: text(categories),
            latitude: .random(in: -90...90, using: &generator),
            longitude: .random(in: -180...180, using: &generator),
            featured: .random(using: &generator),
            address: Bool.random(using: &generator) ? text(["Weg 1", ""]) : nil,
            importance: .random(in: 0...1000, using: &generator),
            operatingStatus: isClosed ? .permanentlyClosed : nil)
    }

    private static func part(_ places: [PlaceFields], _ vocabulary: IndexVocabulary = .init()) -> IndexPart {
        var builder = IndexPartBuilder(expecting: places.count, vocabulary: vocabulary)
        for place in places {
            let isAdded = builder.add(place)
            #expect(isAdded)
        }
        return builder.build()
    }

    /// The sums that a phone would have of these places.
    private static func sums(_ places: some Sequence<PlaceFields>) -> [PlaceSum] {
        var sums = Array(repeating: PlaceSum(), count: PlaceDigest.bucketCount)
        for place in places {
            sums[PlaceDigest.bucket(ofID: Int64(place.id))].add(id: Int64(place.id), hash: place.contentHash)
        }
        return sums
    }

    @Test("Sums are those of the listed places that match, in whatever parts they are, after any changes")
    func sums() throws {
        var generator = SeededGenerator()
        var places: [Int: PlaceFields] = [:]
        for id in 1...5000 { places[id] = Self.place(id, &generator) }
        var snapshot = IndexSnapshot(
            part: Self.part(Array(places.values)),
            version: IndexVersion(revision: 1, datasetIDHigh: 1, datasetIDLow: 1))
        let box = try #require(BoundingBox(west: 100, south: -45, east: -60, north: 70))
        for round in 0..<12 {
            let removed = (0..<40).map { _ in Int.random(in: 1...5400, using: &generator) }
            let changed = Set((0..<60).map { _ in Int.random(in: 1...5400, using: &generator) })
            for id in removed { places[id] = nil }
            for id in changed { places[id] = Self.place(id, &generator) }
            snapshot = snapshot.applying(
                removedIDs: removed.map { Int64($0) },
                added: Self.part(changed.compactMap { places[$0] }, snapshot.vocabulary),
                version: IndexVersion(revision: Int64(round + 2), datasetIDHigh: 1, datasetIDLow: 1))
            if round == 6, let merge = snapshot.wholeMerge() {
                snapshot = try #require(snapshot.adopting(merge.run(), of: merge))
            }
            let listed = places.values.filter(\.isListed)
            #expect(snapshot.digest(IndexFilter(), in: nil)?.buckets == Self.sums(listed))
            var filter = IndexFilter()
            filter.categories = [try #require(snapshot.vocabulary.number(of: "cafe"))]
            filter.isFeatured = true
            let matching = listed.filter {
                $0.featured && $0.category.elementsEqual("cafe".utf8)
                    && box.contains(latitude: $0.latitude, longitude: $0.longitude)
            }
            let digest = try #require(snapshot.digest(filter, in: box))
            #expect(digest.buckets == Self.sums(matching))
            #expect(digest.count == matching.count)
            let buckets = Set(
                (0..<20).map { _ in Int.random(in: 0..<PlaceDigest.bucketCount, using: &generator) })
            let found = try #require(snapshot.places(ofBuckets: buckets, IndexFilter(), in: box))
            let expected = listed.filter {
                buckets.contains(PlaceDigest.bucket(ofID: Int64($0.id)))
                    && box.contains(latitude: $0.latitude, longitude: $0.longitude)
            }
            #expect(
                found.map { snapshot.contentHash(of: $0) }
                    == expected.sorted { $0.id < $1.id }.map(\.contentHash))
        }
    }

    @Test("A hash is another one for each member that changes, and the same for another version")
    func hashes() {
        func hash(
            name: String = "A", category: String = "cafe", latitude: Double = 1, longitude: Double = 2,
            featured: Bool = false, address: String? = nil, website: String? = nil, source: [String]? = nil,
            importance: Int = 0, properties: String? = nil, names: String? = nil, otherNames: String? = nil,
            status: OperatingStatus? = nil, version: Int = 0, id: Int = 1
        ) -> UInt64 {
            func text(_ text: String) -> PlaceFields.Text { Array(text.utf8)[...] }
            return PlaceFields(
                id: id, name: text(name), category: text(category), latitude: latitude, longitude: longitude,
                featured: featured, address: address.map(text), website: website.map(text),
                source: source.map { .init(dataset: text($0[0]), id: text($0[1]), license: text($0[2])) },
                importance: importance, properties: properties.map(text), names: names.map(text),
                otherNames: otherNames.map(text), operatingStatus: status, version: version,
                updatedAtSeconds: version
            ).contentHash
        }
        let different = [
            hash(), hash(name: "B"), hash(name: "A\0"), hash(name: "AAAAAAAA"), hash(name: "AAAAAAAAA"),
            hash(category: "bar"), hash(latitude: 1.000_000_000_1), hash(longitude: -2), hash(featured: true),
            hash(address: ""), hash(address: "x"), hash(website: "x"), hash(source: ["x", "y", "z"]),
            hash(source: ["x", "yz", ""]), hash(source: ["", "x", "yz"]), hash(importance: 1),
            hash(properties: "{}"),
            hash(names: "{}"), hash(otherNames: "x"), hash(status: .temporarilyClosed),
            hash(status: .permanentlyClosed), hash(name: "", category: "Acafe"),
        ]
        #expect(Set(different).count == different.count)
        #expect(hash(version: 7, id: 9) == hash())
        #expect(hash(latitude: -0.0) == hash(latitude: 0))
    }

    @Test("A sum tells places that are there, gone, exchanged, or there twice")
    func values() {
        var sums: [UInt64] = []
        for places in [
            [], [(1, 5)], [(2, 5)], [(1, 6)], [(1, 5), (2, 6)], [(1, 6), (2, 5)], [(1, 5), (1, 5)], [(1, 0)],
        ] as [[(Int64, UInt64)]] {
            var sum = PlaceSum()
            for (id, hash) in places { sum.add(id: id, hash: hash) }
            sums.append(sum.value)
            var reversed = PlaceSum()
            for (id, hash) in places.reversed() { reversed.add(id: id, hash: hash) }
            #expect(reversed == sum)
        }
        #expect(Set(sums).count == sums.count)
        #expect(sums[0] == 0)
    }
}
