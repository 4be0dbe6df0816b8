import BruteForce
import EventLoop
import Locking
import Loopback
import Places
import PointsOfInterestAPI
import Postgres
import PrivateCluster
import Telemetry
import Testing

@testable import POIDatabase

/// A database whose places are followed, with the store over them. Confined to its loop.
final class FollowedDatabase {
    let store: IndexedPlaceStore
    /// The same places without an index.
    let database: PostgresPlaceStore
    let index: ServedIndex
    /// For the test's own statements.
    let session: PostgresConnection
    /// What the log got about the places in memory.
    let observations: Observations

    /// Collects what is recorded, on any thread.
    final class Observations: Sendable {
        private let list = Lock<[IndexObservation]>([])

        var names: [String] { list.withLock { $0.map(\.name) } }
        var all: [IndexObservation] { list.withLock { $0 } }

        func record(_ observation: Observation) {
            if case .index(let observation) = observation { list.withLock { $0.append(observation) } }
        }
    }

    init(
        store: IndexedPlaceStore, database: PostgresPlaceStore, index: ServedIndex,
        session: PostgresConnection,
        observations: Observations
    ) {
        self.store = store
        self.database = database
        self.index = index
        self.session = session
        self.observations = observations
    }

    /// The database's dataset.
    func datasetID() async throws -> DatasetID {
        try await session.value("SELECT id FROM dataset")
    }

    /// Waits until something is so, by turns of the loop.
    func wait(until isReached: () async throws -> Bool) async throws {
        while try await !isReached() {
            // A query that ends at once doesn't notice the time limit.
            try Task.checkCancellation()
            try await session.run("SELECT 1")
        }
    }

    /// The dataset that is served from memory; nil where none is.
    var servedID: DatasetID? {
        index.withSnapshot(at: session.loop.now) { $0.datasetID }
    }

    /// The same with its revision.
    var served: DatasetVersion? { servedID.flatMap { index.facts(of: $0)?.version } }

    /// The page that is found in memory: at once, or by a search that goes on.
    func pageInMemory(_ request: NearbyPlacesRequest) async throws -> RankedPage {
        let page = try await store.places(for: request)
        // Only the database's pages tell how long that took.
        #expect(page.databaseDuration == nil)
        return page
    }

    /// Waits until the database's newest dataset is served from memory, and compares it with the database.
    func waitForNewest() async throws {
        let id = try await datasetID()
        try await wait { servedID == id }
        try await compare()
    }

    /// Compares what is in memory with what the database's store finds.
    ///
    /// - Parameter isRenamed: whether it is served by another id than the database's.
    func compare(isRenamed: Bool = false) async throws {
        var requests: [NearbyPlacesRequest] = []
        for (latitude, longitude) in [(0.0, 0.0), (40, 80), (-89, 179)] {
            var request = NearbyPlacesRequest(
                center: try Coordinate(latitude: latitude, longitude: longitude), limit: 100)
            request.languages = ["en"]
            requests.append(request)
            request.categories = ["cafe"]
            requests.append(request)
            request.featured = true
            requests.append(request)
        }
        for request in requests {
            let page = try await pageInMemory(request)
            let (ids, end) = (page.datasetID, page.end)
            let places = try page.places.copied(languages: request.languages)
            // As for a search that takes long.
            let later = try await store.searchedPlaces(for: request, from: .unknown)
            #expect(try later.places.copied(languages: request.languages) == places)
            let expected = try await database.places(for: request)
            #expect(try places.isSame(as: expected.places.copied(languages: request.languages), of: request))
            #expect(end?.count == expected.end?.count)
            #expect((ids == expected.datasetID) != isRenamed)
        }
        // Also those that no list has.
        let all = NearbyPlacesRequest(ids: Array(1...100))
        #expect(try await pageInMemory(all).places.details() == database.places(for: all).places.details())
        let counts = try await store.categories().value()
        let counted = try await session.query(PlaceStatements.categories).map {
            CategoryCount(name: try $0.decode(at: 1), count: try $0.decode(at: 2))
        }
        #expect(counts.items == DatasetCounts(counted).items)
        let vocabulary = try await store.currentVocabulary().value()
        #expect(try await vocabulary == database.currentVocabulary().value())
    }
}

extension TestDatabase {
    /// Runs `body` on a loop of its own with a follower of this database.
    ///
    /// - Parameters:
    ///   - verifying: how many places are verified at each look, which then follow each other at once.
    ///   - directory: where places are kept across followers.
    ///   - isAway: whether the follower can't reach the database.
    ///   - waitsForNewest: whether the body runs only once the places are in memory.
    func withFollower(
        maximumBytes: Int = 1 << 30,
        maxReplicaLag: Duration = .seconds(10), verifying verifiedCount: Int? = nil,
        directory: String? = nil, fileInterval: Duration? = nil, maximumStaleness: Duration? = nil,
        isAway: Bool = false,
        waitsForNewest: Bool = true,
        _ body: @escaping @Sendable (FollowedDatabase) async throws -> Void
    ) async throws {
        var configuration = try configuration()
        configuration.index.maximumBytes = maximumBytes
        configuration.maxReplicaLag = maxReplicaLag
        if let verifiedCount {
            configuration.index.verifiedCount = verifiedCount
            configuration.index.verificationInterval = .milliseconds(1)
            configuration.index.triggerInterval = .milliseconds(1)
        }
        configuration.index.directory = directory.map { IndexDirectory(path: $0) }
        if let fileInterval { configuration.index.fileInterval = fileInterval }
        if let maximumStaleness { configuration.index.maximumStaleness = maximumStaleness }
        var followed = configuration
        if isAway { followed.postgres = try PostgresConfiguration(conninfo: "host=/nonexistent") }
        let migrations = try MigratedDatabase.directory()
        let observations = FollowedDatabase.Observations()
        try await onLoop { [configuration, followed] loop in
            let session = try await PostgresConnection.connect(configuration.postgres, loop: loop)
            let database = PostgresPlaceStore(
                configuration: configuration, migrations: migrations, loop: loop)
            let thread = try IndexFollowerThread(
                followed, migrations: migrations,
                connectionLog: ConnectionLog(.places, record: observations.record),
                record: observations.record)
            thread.begin()
            let store = IndexedPlaceStore(
                thread.index, requestTimeout: configuration.requestTimeout, loop: loop)
            let result: Result<Void, any Error>
            do {
                let followed = FollowedDatabase(
                    store: store, database: database, index: thread.index, session: session,
                    observations: observations)
                if waitsForNewest, !isAway { try await followed.waitForNewest() }
                result = .success(try await body(followed))
            } catch {
                result = .failure(error)
            }
            await store.close()
            await database.close()
            await session.close()
            try await BlockingThread(name: "stop", capacity: 1).run { thread.stop() }
            try result.get()
        }
    }
}
