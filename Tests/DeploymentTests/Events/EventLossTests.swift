import Foundation
import Loopback
import PrivateCluster
import Randomness
import ServerProcess
import ServiceFixtures
import Testing

@Suite("Events, whatever is killed on their way", .timeLimit(.minutes(60)))
struct EventKillTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let eventCount = environment["POI_TEST_EVENTS"].flatMap { Int($0) } ?? 10_000
    private static let clientCount = 4
    /// Each has new events on their way when something is killed.
    private static let stageCount = max(12, eventCount / 20_000)

    @Test("Events are in the table exactly once in the end, whatever is killed on their way")
    func exactlyOnce() async throws {
        let seed = Self.environment["POI_TEST_SEED"].flatMap { UInt64($0) } ?? .random(in: 0 ... .max)
        print("EventKillTests: POI_TEST_SEED=\(seed), \(Self.eventCount) events")
        var generator = SeededGenerator(seed: seed)
        var site = try await EventSite()
        var clients = try (0..<Self.clientCount).map { number in
            try EventClient(user: "user-\(number)", baseURL: "http://127.0.0.1:\(site.balancer.port)")
        }
        let ownCount = Self.eventCount / Self.clientCount
        var blows: [EventSite.Blow] = []
        for stage in 1...Self.stageCount {
            // Every kind as often as the others, in an order of its own.
            if blows.isEmpty { blows = EventSite.Blow.allCases.shuffled(using: &generator) }
            let count = ownCount * stage / Self.stageCount
            for index in clients.indices { try clients[index].start(upTo: count) }
            let witness = Int.random(in: clients.indices, using: &generator)
            try await clients[witness].firstAcknowledgement()
            switch blows.removeLast() {
            case .server: try await site.killServer(Int.random(in: 0..<3, using: &generator))
            case .database: try await site.crashDatabase()
            case .client:
                for index in clients.indices.shuffled(using: &generator).prefix(2) {
                    try await clients[index].kill()
                    try clients[index].start(upTo: count)
                }
            }
            for client in clients { try await client.finish() }
        }
        try await check(clients, ownCount, site)
        for client in clients { client.remove() }
        try await site.finish()
    }

    private func check(_ clients: [EventClient], _ count: Int, _ site: EventSite) async throws {
        let session = try DatabaseSession(site.databaseURL)
        for client in clients {
            let rows = try await session.run(
                "SELECT value->>'additional' FROM events WHERE user_id = '\(client.user)'")
            let stored = rows.compactMap { Int($0) }.sorted()
            #expect(stored == Array(1...count), "\(client.user)")
            #expect(client.acknowledged.isSubset(of: stored))
            #expect(client.refused.isEmpty)
        }
        let total = try await session.run("SELECT count(*) FROM events")
        #expect(total == ["\(count * clients.count)"])
        let failures = clients.map(\.failureCount).reduce(0, +)
        print("EventKillTests: sending failed \(failures) times on the way")
    }
}

@Suite("Events on a primary whose standby is away", .timeLimit(.minutes(5)))
struct UnreplicatedEventsTests {
    private static func event(id: UUID) -> String {
        #"[{"id":"\#(id)","user_id":"u","time":1536753250,"event":{"name":"e","value":{}}}]"#
    }

    /// A commit that waits for a standby can be read by nobody, until PostgreSQL is restarted: then it is there, though still
    /// on no other disk. An event that is sent again must not be acknowledged for that.
    @Test("An event that is stored already is acknowledged only when the standby has it, too")
    func sentAgain() async throws {
        let cluster = PrivateCluster(ephemeralWith: ["fsync": "on"])
        let url = try await offPool {
            try cluster.start()
            try cluster.createDatabase("places")
            return try cluster.connectionString(database: "places")
        }
        let migration = try await PoiProgram.run(["migrate", "up"], environment: ["DATABASE_URL": url])
        #expect(migration.exitCode == 0, "\(migration)")
        let server = try await ServerProcess.serve(
            databaseURL: url, environment: ["POI_LOOPS": "1", "POI_EVENTS_STATEMENT_TIMEOUT": "2s"])
        try await server.ready()

        try await offPool { try Self.require(cluster, standby: "away") }
        // Commits wait once the checkpointer has read the setting (`SyncRepUpdateSyncStandbysDefined` in PostgreSQL's
        // syncrep.c), which takes a moment. Events before that are stored at once.
        var id: UUID
        repeat { id = UUID() } while try await postEvents(Self.event(id: id), port: server.port).status == 200
        let event = Self.event(id: id)
        try await offPool { try cluster.restartServer(.immediate) }
        let session = try DatabaseSession(url)
        try await session.wait(until: "count(*) = 1 FROM events WHERE id = '\(id)'")
        try await server.ready()
        for _ in 0..<2 {
            #expect(try await postEvents(event, port: server.port).status == 503)
        }

        try await offPool { try Self.require(cluster, standby: "") }
        var response = try await postEvents(event, port: server.port)
        while response.status == 503 { response = try await postEvents(event, port: server.port) }
        #expect(response.status == 200)
        #expect(String(decoding: response.body, as: UTF8.self) == #"{"accepted":0,"duplicates":1}"#)
        #expect(try await server.stop() == 0)
        try await offPool { cluster.stop() }
    }

    /// Which standby commits wait for.
    private static func require(_ cluster: PrivateCluster, standby: String) throws {
        try cluster.execute("ALTER SYSTEM SET synchronous_standby_names = '\(standby)'")
        try cluster.execute("SELECT pg_reload_conf()")
    }
}

/// Three servers behind the balancer that is shipped, on a database that keeps what it has committed.
struct EventSite {
    /// What the test kills.
    enum Blow: CaseIterable {
        case server, database, client
    }

    let cluster: PrivateCluster
    let databaseURL: String
    let balancer: Balancer
    private var fleet: ServerFleet

    private static let serverCount = 3

    init() async throws {
        // What other tests do without: a restart must not lose what was committed.
        let cluster = PrivateCluster(ephemeralWith: [
            "fsync": "on", "synchronous_commit": "on", "full_page_writes": "on",
        ])
        self.cluster = cluster
        databaseURL = try await offPool {
            try cluster.start()
            try cluster.createDatabase("places")
            return try cluster.connectionString(database: "places")
        }
        let result = try await PoiProgram.run(
            ["migrate", "up", "--seeds"], environment: ["DATABASE_URL": databaseURL])
        #expect(result.exitCode == 0, "\(result)")
        fleet = try await ServerFleet(
            count: Self.serverCount, databaseURL: databaseURL, settings: ["POI_DRAIN_DELAY": "0"])
        balancer = try await Balancer(.haproxy, for: fleet)
    }

    /// Kills a server, and starts it again at its address.
    mutating func killServer(_ index: Int) async throws {
        try await fleet.kill(index % Self.serverCount)
    }

    /// Stops the database at once, as a crash does, and starts it again.
    func crashDatabase() async throws {
        let cluster = cluster
        try await offPool { try cluster.restartServer(.immediate) }
    }

    /// Ends everything.
    func finish() async throws {
        try await balancer.stop()
        try await fleet.finish()
        let cluster = cluster
        try await offPool { cluster.stop() }
    }
}

/// A client that sends numbered events from a queue in a folder, and that may be killed and started again.
struct EventClient {
    /// Whose events they are.
    let user: String

    private let folder: TemporaryFolder
    private let queue: String
    private let baseURL: String
    private var runs: [ChildProgram] = []

    private static let batch = 20

    /// Makes one whose queue is in a folder of its own, or in a part of a folder that it shares with others.
    init(user: String, baseURL: String, sharing shared: (folder: TemporaryFolder, part: String)? = nil) throws
    {
        self.user = user
        self.baseURL = baseURL
        folder = try shared?.folder ?? TemporaryFolder()
        queue = folder.path + (shared.map { "/" + $0.part } ?? "")
    }

    /// Starts it: it has events up to `count` to send, those before among them.
    mutating func start(upTo count: Int) throws {
        runs.append(
            try SystemProgram.start(
                PoiProgram.eventSender.path(percentEncoded: false),
                [
                    "--directory", queue, "--base-url", baseURL, "--user", user, "--count", "\(count)",
                    "--batch", "\(Self.batch)",
                ], folder: folder))
    }

    /// Waits until the service has said that it has some of the events of this run, or it was at its end before.
    func firstAcknowledgement() async throws {
        _ = try await runs.last?.output.line { $0.text.hasPrefix("acknowledged") || $0.text == "empty" }
    }

    /// Waits until it has tracked all of its events.
    func hasTracked() async throws {
        _ = try await runs.last?.output.line { $0.text.hasPrefix("tracked") }
    }

    /// Waits until the service has everything.
    func finish() async throws {
        _ = try await runs.last?.output.line { $0.text == "empty" }
        _ = try await runs.last?.exitCode()
    }

    /// Waits for the end of a run that can't begin, and returns what it says.
    func failure() async throws -> (exitCode: Int32?, text: String) {
        (try await runs.last?.exitCode(), runs.last?.output.text ?? "")
    }

    /// Kills it, wherever it is.
    func kill() async throws {
        runs.last?.send(signal: SIGKILL)
        _ = try await runs.last?.exitCode()
    }

    /// The numbers of the events that the service has said that it has, over all runs.
    var acknowledged: Set<Int> { Set(numbers(behind: "acknowledged")) }

    /// Those that it has refused.
    var refused: [Int] { numbers(behind: "refused") }

    /// How often sending has failed, over all runs.
    var failureCount: Int {
        runs.reduce(0) { count, run in count + run.output.lines.count { $0.text.hasPrefix("failed") } }
    }

    /// Removes its queue.
    func remove() { folder.remove() }

    private func numbers(behind word: String) -> [Int] {
        runs.flatMap { run in
            run.output.lines(of: .standardOutput).flatMap { line in
                let words = line.split(separator: " ")
                return words.first.map(String.init) == word ? words.dropFirst().compactMap { Int($0) } : []
            }
        }
    }
}
