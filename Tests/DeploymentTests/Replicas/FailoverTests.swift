import Loopback
import PrivateCluster
import ServiceFixtures
import Testing

@Suite("A failover that loses commits", .timeLimit(.minutes(5)))
struct FailoverTests {
    /// When the standby becomes a primary, and is written to.
    enum Promotion: CaseIterable {
        /// At once: the server finds revisions that it doesn't know.
        case atOnce
        /// Only when the server has noticed that the standby is behind for good.
        case late
    }

    @Test(
        "The server serves nothing older until the standby is promoted, and no lost commit afterwards",
        arguments: Promotion.allCases)
    func failover(promotion: Promotion) async throws {
        let pair = try await ReplicatedService([
            "POI_MAX_REPLICA_LAG": "2s", "POI_INDEX_MAX_STALENESS": "2s",
        ])
        let (primary, standby, service) = (pair.primary, pair.standby, pair.followed)
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
        try await pair.finish()
    }
}
