import Foundation
import Loopback
import PrivateCluster
import ServerProcess
import ServiceFixtures
import Testing

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
    private let baseURL: String
    private var runs: [ChildProgram] = []

    private static let batch = 20

    init(user: String, baseURL: String) throws {
        self.user = user
        self.baseURL = baseURL
        folder = try TemporaryFolder()
    }

    /// Starts it: it has events up to `count` to send, those before among them.
    mutating func start(upTo count: Int) throws {
        runs.append(
            try SystemProgram.start(
                PoiProgram.eventSender.path(percentEncoded: false),
                [
                    "--directory", folder.path, "--base-url", baseURL, "--user", user, "--count", "\(count)",
                    "--batch", "\(Self.batch)",
                ], folder: folder))
    }

    /// Waits until the service has said that it has some of the events of this run, or it was at its end before.
    func firstAcknowledgement() async throws {
        _ = try await runs.last?.output.line { $0.text.hasPrefix("acknowledged") || $0.text == "empty" }
    }

    /// Waits until the service has everything.
    func finish() async throws {
        _ = try await runs.last?.output.line { $0.text == "empty" }
        _ = try await runs.last?.exitCode()
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
