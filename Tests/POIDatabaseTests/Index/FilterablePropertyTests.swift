import BruteForce
import Places
import PointsOfInterestAPI
import PointsOfInterestServerAPI
import Postgres
import PrivateCluster
import Randomness
import Testing

@testable import POIDatabase

/// Places that are found by their properties, as the table `filterable_properties` has them.
@Suite("Filters by properties", .timeLimit(.minutes(5)))
struct FilterablePropertyTests {
    private static let places = """
        \(IndexFollowerTests.places(60));
        UPDATE locations SET properties = jsonb_build_object('open', id % 4 = 0, 'seats', id) WHERE id % 2 = 0;
        UPDATE locations SET properties = '{"material": "steel"}' WHERE id % 10 = 1;
        UPDATE locations SET properties = '{"material": ["stone", "e\u{301}", "steel"], "open": true}' WHERE id = 33
        """

    private static func request(_ filters: PropertyFilter...) throws -> NearbyPlacesRequest {
        var request = NearbyPlacesRequest(center: try Coordinate(latitude: 1, longitude: 1), limit: 100)
        request.propertyFilters = filters
        return request
    }

    private static func ids(_ page: RankedPage) throws -> [Int] {
        try page.places.copied().map(\.id).sorted()
    }

    @Test("Each change of the table is followed: all places are read again, and found by what it says")
    func changes() async throws {
        let database = try MigratedDatabase.empty()
        try database.execute(Self.places)
        try await database.withFollower { followed in
            let (open, steel) = (
                try Self.request(PropertyFilter("open", is: true)),
                try Self.request(PropertyFilter("material", anyOf: ["steel", "\u{E9}"]))
            )
            let openIDs = Array(stride(from: 4, through: 60, by: 4)) + [33]
            let steelIDs = [1, 11, 21, 31, 33, 41, 51]
            for (change, isOpenFound, isSteelFound) in [
                ("INSERT INTO filterable_properties VALUES ('open', 'boolean')", true, false),
                ("INSERT INTO filterable_properties VALUES ('material', 'text')", true, true),
                ("DELETE FROM filterable_properties WHERE name = 'open'", false, true),
                ("INSERT INTO filterable_properties VALUES ('open', 'text')", false, true),
                ("UPDATE filterable_properties SET type = 'boolean' WHERE name = 'open'", true, true),
                ("TRUNCATE filterable_properties", false, false),
            ] {
                let loadCount = followed.index.status.loadCount
                try database.execute(change)
                try await followed.waitForNewest()
                #expect(followed.index.status.loadCount == loadCount + 1, "\(change)")
                let found = (
                    try Self.ids(try await followed.pageInMemory(open)),
                    try Self.ids(try await followed.pageInMemory(steel))
                )
                #expect(found.0 == (isOpenFound ? openIDs.sorted() : []), "\(change)")
                #expect(found.1 == (isSteelFound ? steelIDs : []), "\(change)")
            }
        }
    }

    @Test("A change of a place is followed, and so are those that follow it when parts are merged")
    func placeChanges() async throws {
        let database = try MigratedDatabase.empty()
        try database.execute(Self.places)
        try database.execute(
            "INSERT INTO filterable_properties VALUES ('open', 'boolean'), ('material', 'text')")
        try await database.withFollower { followed in
            let both = try Self.request(
                PropertyFilter("open", is: true), PropertyFilter("material", anyOf: ["steel"]))
            #expect(try Self.ids(try await followed.pageInMemory(both)) == [33])
            for (change, ids) in [
                (
                    #"UPDATE locations SET properties = properties || '{"open": true}' WHERE id IN (1, 11)"#,
                    [1, 11, 33]
                ),
                ("UPDATE locations SET properties = NULL WHERE id = 33", [1, 11]),
                ("DELETE FROM locations WHERE id = 1", [11]),
                (
                    #"UPDATE locations SET properties = '{"open": true, "material": "steel"}' WHERE id = 50"#,
                    [11, 50]
                ),
            ] {
                try database.execute(change)
                try await followed.waitForNewest()
                #expect(try Self.ids(try await followed.pageInMemory(both)) == ids, "\(change)")
            }
            #expect(followed.index.status.loadCount == 1)
        }
    }

    @Test("The database doesn't look for properties, and says which can be filtered by all the same")
    func withoutIndex() async throws {
        let database = try MigratedDatabase.empty()
        try database.execute(
            "INSERT INTO filterable_properties VALUES ('open', 'boolean'), ('material', 'text')")
        try await database.withStore { store, _ in
            let vocabulary = try await store.currentVocabulary().value()
            #expect(vocabulary.properties == FilterableProperties([("open", .boolean), ("material", .text)]))
            let request = try Self.request(PropertyFilter("open", is: true))
            await #expect(throws: PlaceStoreError.indexRequired) {
                _ = try await store.places(for: request)
            }
        }
    }

    @Test("Some properties of the seeds can be filtered by")
    func seeds() throws {
        let database = try MigratedDatabase.seeded()
        let names = try database.execute(
            "SELECT string_agg(name || ' ' || type, ', ' ORDER BY name) FROM filterable_properties")
        #expect(names == "architects text, material text, religions text, world_heritage boolean")
    }
}
