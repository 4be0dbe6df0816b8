import Foundation
import Loopback
import PrivateCluster
import ServerProcess
import ServiceFixtures
import Testing

@Suite("Places that are read from a standby", .serialized, .timeLimit(.minutes(5)))
struct StandbyTests {
    /// What becomes of the standby.
    enum Outage: CaseIterable {
        case stop, freeze
    }

    @Test(
        "While a standby is away, places are served all along, and changes arrive from the primary",
        arguments: Outage.allCases)
    func outage(outage: Outage) async throws {
        let pair = try await ReplicatedService()
        let (standby, service) = (pair.standby, pair.followed)
        try await FollowedService.commit("a1", to: pair.primary)
        try await service.wait(for: "a1")
        let load = service.ask()
        try await offPool {
            load.wait(successes: 5)
            switch outage {
            case .stop: try standby.stopServer(.immediate)
            case .freeze: try standby.suspendServer()
            }
        }
        try await FollowedService.commit("a2", to: pair.primary)
        try await service.wait(for: "a2")
        try await offPool {
            switch outage {
            case .stop: try standby.startServer()
            case .freeze: try standby.resumeServer()
            }
        }
        try await FollowedService.commit("a3", to: pair.primary)
        try await service.wait(for: "a3")
        try await check(try await offPool { load.stop() }, of: ["a0", "a1", "a2", "a3"])
        try await pair.finish()
    }

    @Test("A standby that lacks for too long what the primary has is left, and no tag ever has two responses")
    func lag() async throws {
        let pair = try await ReplicatedService(["POI_MAX_REPLICA_LAG": "2s"])
        let (session, service) = (try pair.standbySession(), pair.followed)
        try await session.run("SELECT pg_wal_replay_pause()")
        try await session.wait(until: "pg_get_wal_replay_pause_state() = 'paused'")
        let load = service.ask()
        try await FollowedService.commit("a1", to: pair.primary)
        try await service.server.event("standby-left")
        try await service.wait(for: "a1")
        try await session.run("SELECT pg_wal_replay_resume()")
        try await FollowedService.commit("a2", to: pair.primary)
        try await service.wait(for: "a2")
        try await check(try await offPool { load.stop() }, of: ["a0", "a1", "a2"])
        try await service.compare()
        try await pair.finish()
    }

    /// Checks that no request has failed, that each page is of one of the states, in their order, and that each state has a tag
    /// of its own.
    private func check(_ outcomes: [[Load.Outcome]], of states: [String]) async throws {
        let failure = outcomes.flatMap(\.self).first { !$0.isSuccess }
        #expect(failure == nil, "\(String(describing: failure))")
        ServedStates(before: states).check(outcomes)
        var bodies: [String: Set<Data>] = [:]
        for response in outcomes.flatMap(\.self).compactMap(\.response) {
            bodies[try #require(response.headers["etag"]), default: []].insert(response.body)
        }
        #expect(bodies.values.allSatisfy { $0.count == 1 })
        #expect(Set(bodies.values).count == bodies.count)
    }
}

/// A primary, a streaming standby of it, and a server that reads the standby where it can.
struct ReplicatedService {
    let primary: PrivateCluster
    let standby: PrivateCluster
    let followed: FollowedService

    /// Starts them, and waits until places are read from the standby.
    ///
    /// - Parameter environment: the server's settings.
    init(_ environment: [String: String] = [:]) async throws {
        let primary = try await FollowedService.prepare()
        let standby = try await offPool {
            let standby = PrivateCluster(standbyOf: primary)
            try standby.start()
            return standby
        }
        (self.primary, self.standby) = (primary, standby)
        let hosts = "\(try standby.socketFolder()),\(try primary.socketFolder())"
        let url = "postgresql://postgres@/\(FollowedService.database)?host=\(hosts)&target_session_attrs="
        followed = try await FollowedService(
            databaseURL: url + "read-write",
            environment.merging(["POI_READ_DATABASE_URL": url + "prefer-standby"]) { $1 })
        _ = try await followed.server.program.output.line {
            $0.text.contains(#""event":"places-read-from""#) && $0.text.contains("a standby")
        }
    }

    /// A session of the test's own with the standby.
    func standbySession() throws -> DatabaseSession {
        try DatabaseSession(standby.connectionString(database: FollowedService.database))
    }

    /// Ends everything.
    func finish() async throws {
        try await followed.finish()
        try await offPool { [primary, standby] in
            standby.stop()
            primary.stop()
        }
    }
}
