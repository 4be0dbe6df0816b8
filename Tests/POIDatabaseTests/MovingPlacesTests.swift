import PointsOfInterestServerAPI
import BruteForce
import DifficultPlaces
import EventLoop
import Foundation
import Locking
import Places
import PointsOfInterestAPI
import Postgres
import Randomness
import Testing

@testable import POIDatabase

/// How many commits are followed at least; `scripts/soak` follows many more.
private let commitCount =
    ProcessInfo.processInfo.environment["POI_TEST_COMMITS"].flatMap { Int($0) } ?? 150

/// What requests see while somebody writes, ten places and more a commit, as fast as the database takes them.
@Suite("While places move", .timeLimit(.minutes(commitCount > 150 ? 60 : 5)))
struct MovingPlacesTests {
    /// Where pages come from.
    enum Source: String, CaseIterable {
        case database, memory
        /// From memory, while all connections but the writer's are ended again and again.
        case memoryWithoutRest
        /// From memory, which begins with a file and is written to others again and again.
        case keptMemory
    }

    @Test(
        "Each page is exact for one committed state, has that state's dataset id, and none goes back to an older state",
        arguments: Source.allCases)
    func moves(source: Source) async throws {
        let generator = SeededGenerator()
        let (database, folder) = (try MigratedDatabase.empty(), KeptPlacesTests.Folder())
        let directory = source == .keptMemory ? folder.path : nil
        let places = try await database.withSession { try await Self.insert($0, generator) }
        if directory != nil { try await database.withFollower(directory: directory) { _ in } }
        try await database.withFollower(directory: directory, fileInterval: .zero) { followed in
            let first = CommittedStates.State(
                places: places, datasetID: try await Self.datasetID(followed.session))
            let states = CommittedStates(first)
            try await followed.waitForNewest()
            let isOver = Lock(false)
            // On a thread of its own.
            async let rate = database.withSession { session in
                try await Self.write(states, session, generator) { isOver.withLock { $0 } }
            }
            do {
                let pages = try await Self.ask(
                    followed, source, states, about: first.places, using: generator)
                isOver.withLock { $0 = true }
                let placesPerSecond = Int(try await rate)
                if source == .keptMemory {
                    try await followed.wait { followed.observations.names.contains("index-file-written") }
                    #expect(followed.index.status.loadCount == 0)
                }
                if commitCount > 150 {
                    print("\(source): \(pages) pages, \(placesPerSecond) places a second")
                }
            } catch {
                isOver.withLock { $0 = true }
                throw error
            }
        }
    }

    /// Asks until there were enough commits, and at least as many pages; returns how many pages.
    private static func ask(
        _ followed: FollowedDatabase, _ source: Source, _ states: CommittedStates,
        about places: [PointOfInterest], using generator: SeededGenerator
    ) async throws -> Int {
        let store = followed.database
        var requests = RandomRequests(
            about: places.map { StoredPlace($0) }, around: Coordinate(wrapping: 0, 0), using: generator)
        // The newest state that a page was of, and the one when the connections were last ended.
        var (newest, ended) = (0, 0)
        var (pageCount, endCount) = (0, 0)
        while !states.isEnded,
            pageCount < commitCount || states.newest < commitCount
                || source == .memoryWithoutRest && (endCount < max(3, commitCount / 200) || newest <= ended)
        {
            // Requests that are answered at once would leave others no turn.
            try await followed.session.loop.submit {}
            let request = source == .database ? requests.nextWithoutIndex() : requests.next()
            let start = states.newest
            let page =
                try await source == .database ? store.places(for: request) : followed.pageInMemory(request)
            let (end, datasetID) = (page.end, page.datasetID)
            let found = try page.places.copied()
            pageCount += 1
            // What is in memory may be behind the database, but never behind what was served before.
            let oldest = source == .database ? start : newest
            guard let state = try await states.state(of: datasetID, since: oldest, followed.session.loop)
            else {
                Issue.record("\(request): no state since \(oldest) is \(String(describing: datasetID))")
                continue
            }
            newest = state.number
            states.forget(before: newest)
            let truth = try await FixtureStore(state.places).places(for: request)
            let seed = generator.seed
            let expected = try truth.places.copied()
            if source == .database {
                #expect(found.isSame(as: expected, of: request), "\(request); POI_TEST_SEED=\(seed)")
            } else {
                #expect(found == expected, "\(request); POI_TEST_SEED=\(seed)")
                #expect(end == truth.end, "\(request); POI_TEST_SEED=\(seed)")
            }
            if source == .memoryWithoutRest, newest > ended, pageCount.isMultiple(of: 7) {
                try await endConnections(followed.session)
                (ended, endCount) = (states.newest, endCount + 1)
            }
        }
        // The writer was followed, not only read once.
        #expect(newest > 0)
        return pageCount
    }

    /// Ends all connections but the writer's and this one, in the middle of whatever they do.
    private static func endConnections(_ session: PostgresConnection) async throws {
        try await session.run(
            """
            SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid() AND query NOT LIKE '%writer%'
            """)
    }

    /// Commits until it is over; returns how many places a second.
    private static func write(
        _ states: CommittedStates, _ session: PostgresConnection, _ generator: SeededGenerator,
        until isOver: () -> Bool
    ) async throws -> Double {
        var generator = generator
        var places = states.newestPlaces
        var count = 0
        let start = ContinuousClock.now
        // Also where it fails.
        defer { states.end() }
        while !isOver(), !Task.isCancelled {
            count += try await move(&places, session, &generator)
            states.append(.init(places: places, datasetID: try await datasetID(session)))
        }
        return Double(count) / ((ContinuousClock.now - start) / .seconds(1))
    }

    private static func category(_ generator: inout SeededGenerator) -> String {
        ["cafe", "bar", "park"][Int.random(in: 0..<3, using: &generator)]
    }

    private static func datasetID(_ session: PostgresConnection) async throws -> DatasetID {
        try await session.value("SELECT id FROM dataset /* writer */", as: DatasetID.self)
    }

    /// Some hundred places anywhere.
    private static func insert(
        _ session: PostgresConnection, _ generator: SeededGenerator
    ) async throws -> [PointOfInterest] {
        var generator = generator
        var places: [PointOfInterest] = []
        for number in 0..<300 {
            let coordinate = Coordinate.anywhere(using: &generator)
            let name = "\(PlaceNames.random(using: &generator)) \(number)"
            let category = category(&generator)
            let id = try await session.run(
                """
                INSERT INTO locations (name, category, latitude, longitude)
                VALUES ($1, $2, $3, $4) RETURNING id
                """,
                [.text(name), .text(category), .float8(coordinate.latitude), .float8(coordinate.longitude)]
            ).only().decode(Int.self, at: 0)
            places.append(
                PointOfInterest(
                    id: id, name: name, category: category, latitude: coordinate.latitude,
                    longitude: coordinate.longitude))
        }
        return places
    }

    /// Commits that ten to thirty places are elsewhere, with other names and categories; returns how many.
    private static func move(
        _ places: inout [PointOfInterest], _ session: PostgresConnection, _ generator: inout SeededGenerator
    ) async throws -> Int {
        let moved = places.indices.shuffled(using: &generator).prefix(.random(in: 10...30, using: &generator))
        for index in moved {
            let coordinate = Coordinate.anywhere(using: &generator)
            places[index] = PointOfInterest(
                id: places[index].id, name: "\(PlaceNames.random(using: &generator)) \(index)",
                category: category(&generator), latitude: coordinate.latitude,
                longitude: coordinate.longitude,
                operatingStatus: [nil, nil, .temporarilyClosed, .permanentlyClosed].pick(using: &generator))
        }
        let changed = moved.map { places[$0] }
        try await session.run(
            """
            UPDATE locations /* writer */ SET name = new.name, category = new.category,
                latitude = new.latitude, longitude = new.longitude, operating_status = nullif(new.status, '')
            FROM unnest($1::bigint[], $2::text[], $3::text[], $4::float8[], $5::float8[], $6::text[])
                AS new (id, name, category, latitude, longitude, status)
            WHERE locations.id = new.id
            """,
            [
                .int8Array(changed.map { Int64($0.id) }), .textArray(changed.map(\.name)),
                .textArray(changed.map(\.category)), .float8Array(changed.map(\.latitude)),
                .float8Array(changed.map(\.longitude)),
                .textArray(changed.map { $0.operatingStatus?.rawValue ?? "" }),
            ])
        return changed.count
    }
}

/// The states that a writer has committed, numbered in their order. Any thread.
private final class CommittedStates: Sendable {
    /// All places after a commit, and what the database calls that state.
    struct State {
        let places: [PointOfInterest]
        let datasetID: DatasetID
    }

    private struct Kept {
        var first = 0
        var states: [State]
        var isEnded = false
    }

    private let kept: Lock<Kept>

    init(_ first: State) {
        kept = Lock(Kept(states: [first]))
    }

    /// The number of the newest one.
    var newest: Int { kept.withLock { $0.first + $0.states.count - 1 } }

    /// The places of the newest one.
    var newestPlaces: [PointOfInterest] { kept.withLock { $0.states.last?.places ?? [] } }

    /// Whether nothing is committed any more.
    var isEnded: Bool { kept.withLock { $0.isEnded } }

    func end() {
        kept.withLock { $0.isEnded = true }
    }

    func append(_ state: State) {
        kept.withLock { $0.states.append(state) }
    }

    /// Forgets those that no page may be of any more.
    func forget(before number: Int) {
        kept.withLock { kept in
            kept.states.removeFirst(max(0, number - kept.first))
            kept.first = max(kept.first, number)
        }
    }

    /// The state that a page is of; nil where it is none, or an older one than `oldest`.
    func state(
        of datasetID: DatasetID?, since oldest: Int, _ loop: EventLoop
    ) async throws -> (number: Int, places: [PointOfInterest])? {
        // A follower may be quicker than the writer, which asks for the dataset after its commit.
        let last = newest + 2
        while true {
            let isLast = isEnded || newest >= last
            let found = kept.withLock { kept in
                kept.states[(oldest - kept.first)...].firstIndex { $0.datasetID == datasetID }
                    .map { (number: kept.first + $0, places: kept.states[$0].places) }
            }
            if found != nil || isLast { return found }
            try Task.checkCancellation()
            try await loop.submit {}
        }
    }
}
