import Loopback
import PrivateCluster
import ServerProcess
import ServiceFixtures
import Testing

@Suite("A server that serves from memory, while its database goes and comes back", .timeLimit(.minutes(5)))
struct FollowedRestartTests {
    @Test(
        "A restart fails no request, and no commit around it is missed",
        arguments: [PrivateCluster.ShutdownMode.fast, .immediate])
    func restart(mode: PrivateCluster.ShutdownMode) async throws {
        let cluster = try await FollowedService.prepare()
        let service = try await FollowedService(
            databaseURL: cluster.connectionString(database: FollowedService.database), [:])
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
            databaseURL: cluster.connectionString(database: database), [:])
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

@Suite("A failover under a server that serves from memory", .timeLimit(.minutes(5)))
struct FollowedFailoverTests {
    /// When the standby becomes a primary, and is written to.
    enum Promotion: CaseIterable {
        /// At once: the server that serves from memory finds revisions that it doesn't know.
        case atOnce
        /// Only when the server has noticed that the standby is behind for good.
        case late
    }

    @Test(
        "The server serves nothing older until the standby is promoted, and no lost commit afterwards",
        arguments: Promotion.allCases)
    func failover(promotion: Promotion) async throws {
        let primary = try await FollowedService.prepare()
        let standby = try await offPool {
            let standby = PrivateCluster(standbyOf: primary)
            try standby.start()
            return standby
        }
        let service = try await Self.service(primary, standby)
        try await service.wait(for: "a0")
        try await FollowedService.commit("a1", to: primary)
        try await service.wait(for: "a1")
        let load = service.ask()
        try await offPool { try standby.stopServer() }
        // The standby never gets these.
        for state in ["a2", "a3"] { try await FollowedService.commit(state, to: primary) }
        try await service.wait(for: "a3")
        try await offPool {
            load.wait(successes: 5)
            try primary.stopServer(.immediate)
            try standby.startServer()
            // Rather than something older, and once nobody has confirmed the newer places for a while.
            if promotion == .late { load.wait(failures: 1) }
        }
        let lostAt = ContinuousClock.now
        try await offPool { _ = try standby.execute("SELECT pg_promote()") }
        if promotion == .late {
            try await service.wait(for: "a1")
            try await service.compare()
        }
        for state in ["b2", "b3"] { try await FollowedService.commit(state, to: standby) }
        try await service.wait(for: "b3")
        let outcomes = try await offPool { load.stop() }
        ServedStates(before: ["a0", "a1", "a2", "a3"], after: ["a1", "b2", "b3"], lostAt: lostAt).check(
            outcomes)
        for failure in outcomes.flatMap(\.self) where !failure.isSuccess {
            #expect(failure.response?.status == 503, "\(failure)")
        }
        try await service.compare()
        try await service.finish()
        try await offPool {
            standby.stop()
            primary.stop()
        }
    }

    /// Reads go to the standby where they can, all else to whichever is the primary.
    private static func service(
        _ primary: PrivateCluster, _ standby: PrivateCluster
    ) async throws -> FollowedService {
        let hosts = "\(try standby.socketFolder()),\(try primary.socketFolder())"
        let url = "postgresql://postgres@/\(FollowedService.database)?host=\(hosts)&target_session_attrs="
        return try await FollowedService(
            databaseURL: url + "read-write",
            [
                "POI_READ_DATABASE_URL": url + "prefer-standby", "POI_MAX_REPLICA_LAG": "2s",
                "POI_INDEX_MAX_STALENESS": "2s",
            ])
    }
}
