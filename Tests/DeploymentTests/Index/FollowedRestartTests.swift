import Loopback
import PrivateCluster
import ServerProcess
import ServiceFixtures
import Testing

@Suite("A server whose database goes and comes back", .timeLimit(.minutes(5)))
struct FollowedRestartTests {
    @Test(
        "A restart fails no request, and no commit around it is missed",
        arguments: [PrivateCluster.ShutdownMode.fast, .immediate])
    func restart(mode: PrivateCluster.ShutdownMode) async throws {
        let cluster = try await FollowedService.prepare()
        let service = try await FollowedService(
            databaseURL: cluster.connectionString(database: FollowedService.database))
        try await service.wait(for: "a0")
        let load = service.ask()
        var states = ["a0"]
        for round in 1...3 {
            // One that the server may not have seen before the end, and one at once after the start.
            for state in ["a\(round)", "b\(round)"] {
                states.append(state)
                try await FollowedService.commit(state, to: cluster)
                if state.hasPrefix("a") { try await offPool { try cluster.restartServer(mode) } }
            }
            try await service.wait(for: "b\(round)")
        }
        let outcomes = try await offPool { load.stop() }
        let failure = outcomes.flatMap(\.self).first { !$0.isSuccess }
        #expect(failure == nil, "\(String(describing: failure))")
        ServedStates(before: states).check(outcomes)
        try await service.compare()
        try await service.finish()
        try await offPool { cluster.stop() }
    }

    /// What takes the database's place, made of an earlier state of it.
    enum Earlier: CaseIterable {
        /// A restored dump: its ids are those of another history.
        case dump
        /// A physical copy: fewer revisions, with the ids that they had.
        case copy
        /// A copy in which others wrote: the same revisions, with other ids.
        case changedCopy
    }

    @Test(
        "An earlier state that takes the database's place is served instead, and nothing newer any more",
        arguments: Earlier.allCases)
    func restored(earlier: Earlier) async throws {
        let cluster = try await FollowedService.prepare()
        let database = FollowedService.database
        try await FollowedService.commit("a1", to: cluster)
        try await offPool {
            guard earlier == .dump else { return try cluster.createDatabase("earlier", template: database) }
            let dump = try cluster.dump(database: database)
            try cluster.createDatabase("earlier")
            try cluster.restore(dump, database: "earlier")
        }
        let service = try await FollowedService(
            databaseURL: cluster.connectionString(database: database))
        var states = ServedStates(before: ["a0", "a1", "a2", "a3"], after: ["a1"])
        for state in ["a2", "a3"] { try await FollowedService.commit(state, to: cluster) }
        if earlier == .changedCopy {
            states = ServedStates(before: states.before, after: ["b2", "b3"])
            for state in states.after {
                try await FollowedService.commit(state, to: cluster, database: "earlier")
            }
            try await expectRepeatedRevisions(cluster)
        }
        try await service.wait(for: "a3")
        let load = service.ask()
        try await offPool { load.wait(successes: 5) }
        states.lostAt = .now
        try await replace(cluster)
        try await service.wait(for: states.after.last ?? "")
        try await service.compare()
        states = ServedStates(before: states.before, after: states.after + ["c4"], lostAt: states.lostAt)
        try await FollowedService.commit("c4", to: cluster)
        try await service.wait(for: "c4")
        states.check(try await offPool { load.stop() })
        try await service.compare()
        try await service.finish()
        try await offPool { cluster.stop() }
    }

    /// The newest revision of both databases is the same number, of other datasets.
    private func expectRepeatedRevisions(_ cluster: PrivateCluster) async throws {
        let newest = try await offPool {
            try [FollowedService.database, "earlier"].map { database in
                try cluster.execute(
                    "SELECT revision, id FROM dataset_log ORDER BY revision DESC LIMIT 1", database: database
                )
                .split(separator: "|").map(String.init)
            }
        }
        #expect(newest[0][0] == newest[1][0])
        #expect(newest[0][1] != newest[1][1])
    }

    /// Puts the earlier database in the place of the one that is followed.
    private func replace(_ cluster: PrivateCluster) async throws {
        let name = FollowedService.database
        _ = try await offPool {
            try cluster.execute(
                """
                ALTER DATABASE \(name) ALLOW_CONNECTIONS false;
                SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = '\(name)';
                ALTER DATABASE \(name) RENAME TO lost;
                ALTER DATABASE earlier RENAME TO \(name)
                """)
        }
    }
}

@Suite("A database that hangs", .timeLimit(.minutes(5)))
struct HangingDatabaseTests {
    @Test(
        "A database that hangs holds up no request, and no shutdown; its changes arrive once it responds again"
    )
    func hanging() async throws {
        let cluster = try await FollowedService.prepare()
        let service = try await FollowedService(
            databaseURL: cluster.connectionString(database: FollowedService.database))
        let load = service.ask()
        try await offPool {
            load.wait(successes: 5)
            try cluster.suspendServer()
        }
        // By then a look at the database has run into its time limit.
        try await service.server.event("database-unreachable")
        #expect(try await get("/readyz", port: service.server.port).status == 200)
        try await offPool {
            load.wait(successes: 5)
            try cluster.resumeServer()
        }
        try await FollowedService.commit("a1", to: cluster)
        try await service.wait(for: "a1")
        let outcomes = try await offPool { load.stop() }
        let failure = outcomes.flatMap(\.self).first { !$0.isSuccess }
        #expect(failure == nil, "\(String(describing: failure))")
        ServedStates(before: ["a0", "a1"]).check(outcomes)
        try await offPool { try cluster.suspendServer() }
        try await service.finish()
        try await offPool { cluster.stop() }
    }
}
