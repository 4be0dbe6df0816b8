import Foundation
import Loopback
import PointsOfInterestClient
import PrivateCluster
import ServerProcess
import ServiceFixtures
import Testing

/// A server that follows a database, and what its responses have to be.
///
/// Each commit renames every place, so a page shows which state it is of, and whether it is of one state at all.
struct FollowedService {
    static let database = "places"
    /// All pages of this request have five places.
    private static let target = "/locations?lat=1&long=2&limit=5"

    let server: ServerProcess
    private let databaseURL: String
    private let environment: [String: String]

    /// Starts the server, and waits until it is ready.
    ///
    /// - Parameter environment: its settings.
    init(databaseURL: String, _ environment: [String: String] = [:]) async throws {
        self.databaseURL = databaseURL
        self.environment = ["POI_LOOPS": "2"].merging(environment) { $1 }
        server = try await ServerProcess.serve(databaseURL: databaseURL, environment: self.environment)
        try await server.ready()
    }

    /// A cluster with a migrated database of some places, in the state `a0`.
    static func prepare(_ settings: [String: String] = [:]) async throws -> PrivateCluster {
        let cluster = try await offPool {
            // Its commits survive a stop at once.
            let cluster = PrivateCluster(
                ephemeralWith: settings.merging(["synchronous_commit": "on"]) { $1 })
            try cluster.start()
            try cluster.createDatabase(database)
            return cluster
        }
        let result = try await PoiProgram.run(
            ["migrate", "up"], environment: ["DATABASE_URL": cluster.connectionString(database: database)])
        #expect(result.exitCode == 0, "\(result)")
        _ = try await offPool {
            try cluster.execute(
                """
                INSERT INTO locations (name, category, latitude, longitude, featured)
                SELECT 'Place ' || n || ' in a0', CASE WHEN n % 3 = 0 THEN 'cafe' ELSE 'park' END,
                    n % 80, n % 170, n % 5 = 0
                FROM generate_series(1, 200) AS n
                """, database: database)
        }
        return cluster
    }

    /// Commits a state.
    static func commit(
        _ state: String, to cluster: PrivateCluster, database: String = Self.database
    ) async throws {
        _ = try await offPool {
            try cluster.execute(
                "UPDATE locations SET name = 'Place ' || id || ' in \(state)'", database: database)
        }
    }

    /// Starts to ask the server, over and over.
    func ask() -> Load { Load(port: server.port, connections: 2, target: Self.target) }

    /// The one state that a page is of; nil where its places are of several, or it isn't a page.
    static func state(of response: WireResponse) -> String? {
        guard response.status == 200, let places = response.places, places.count == 5 else { return nil }
        let states = Set(places.map { $0.name.split(separator: " ").last.map(String.init) })
        return states.count == 1 ? states.first ?? nil : nil
    }

    /// Waits until a state is served.
    func wait(for state: String) async throws {
        while Self.state(of: try await get(Self.target, port: server.port)) != state {
            try Task.checkCancellation()
        }
    }

    private static let questions = [
        target, "/locations?lat=40&long=-80&limit=100", "/locations?lat=-37&long=58&category=cafe&limit=30",
        "/locations?lat=10&long=20&featured=true", "/locations?bbox=0,0,60,60&limit=50",
        "/locations?lat=1&long=1&q=place%2017", "/locations?lat=60&long=60&radius=2000000", "/locations/17",
        "/locations/100000", "/categories",
    ]

    /// Compares every kind of response with that of another server, which has just read all places; nobody may write meanwhile.
    func compare() async throws {
        let other = try await ServerProcess.serve(databaseURL: databaseURL, environment: environment)
        try await other.ready()
        for question in Self.questions {
            let (ours, theirs) = try await (
                get(question, port: server.port), get(question, port: other.port)
            )
            #expect(ours.status == theirs.status, "\(question)")
            guard ours.status == 200 else { continue }
            #expect(ours.headers["etag"] == theirs.headers["etag"], "\(question)")
            #expect(ours.body == theirs.body, "\(question)")
        }
        #expect(try await other.stop() == 0)
    }

    /// Ends the server.
    func finish() async throws {
        #expect(try await server.stop() == 0)
    }
}

/// The committed states in the order in which a process may serve them.
struct ServedStates {
    /// Until a part of the history was lost, if one was.
    let before: [String]
    /// What the database has from that moment on.
    var after: [String] = []
    var lostAt: ContinuousClock.Instant?

    private func rank(of state: String, at start: ContinuousClock.Instant) -> Int? {
        if let lostAt, start > lostAt, let index = after.firstIndex(of: state) { return before.count + index }
        return before.firstIndex(of: state)
    }

    /// Checks that every page is of a committed state, and none of an older one than a page that was there before its
    /// request was sent.
    func check(_ outcomes: [[Load.Outcome]]) {
        let inOrder = outcomes.flatMap(\.self).filter(\.isSuccess).sorted { $0.start < $1.start }
        var ended = inOrder.sorted { $0.end < $1.end }[...]
        var known: [Data: String] = [:]
        var oldest = 0
        func rank(_ outcome: Load.Outcome) -> Int? {
            guard let response = outcome.response else { return nil }
            let state = known[response.body] ?? FollowedService.state(of: response)
            known[response.body] = state
            return state.flatMap { self.rank(of: $0, at: outcome.start) }
        }
        for outcome in inOrder {
            while let first = ended.first, first.end < outcome.start {
                oldest = max(oldest, rank(first) ?? 0)
                ended.removeFirst()
            }
            guard let rank = rank(outcome), rank >= oldest else {
                let state = outcome.response.flatMap(FollowedService.state(of:)) ?? "no state"
                Issue.record("\(state), after \((before + after)[oldest]): \(outcome)")
                return
            }
        }
    }
}
