import Postgres
import Testing

@testable import POIDatabase

@Suite("The servers for reads")
struct ReadServersTests {
    private var servers: ReadServers
    private let endpoints: [PostgresEndpoint]

    init() throws {
        endpoints = try PostgresConfiguration(conninfo: "host=replica,other,primary").endpoints
        servers = ReadServers(endpoints, prefersStandbys: true, maximumLag: .seconds(10))
    }

    private func candidates() -> [String] { servers.candidates.map(\.host) }

    private func fate(_ host: String, at seconds: Int) -> ConnectionPool.Fate {
        servers.fate(of: (host, "5432"), now: .seconds(seconds))
    }

    /// All respond from the start.
    private mutating func allUsable() {
        _ = servers.update(0, .standby(lag: .zero), now: .zero)
        _ = servers.update(1, .standby(lag: .zero), now: .zero)
        _ = servers.update(2, .primary, now: .zero)
        servers.isPrimaryResponding = true
    }

    @Test("Every server is tried until something is known about the servers")
    func unknown() {
        #expect(candidates() == ["replica", "other", "primary"])
        for host in ["replica", "primary", "elsewhere"] { #expect(fate(host, at: 0) == .keep) }
    }

    @Test("A server that lags too far is left, and used again once it has caught up well")
    mutating func lagging() {
        allUsable()
        #expect(servers.update(0, .standby(lag: .seconds(10)), now: .seconds(1)) == nil)
        #expect(servers.update(0, .standby(lag: .seconds(11)), now: .seconds(2)) == .lagging)
        #expect(candidates() == ["other", "primary"])
        #expect(fate("replica", at: 2) == .leave)
        #expect(servers.update(0, .standby(lag: .seconds(6)), now: .seconds(3)) == nil)
        #expect(
            servers.update(0, .standby(lag: .seconds(5)), now: .seconds(4))
                == .usable(isStandby: true, since: .seconds(4)))
        #expect(candidates() == ["replica", "other", "primary"])
    }

    @Test("Reads go only to DATABASE_URL if every replica lags")
    mutating func allLagging() {
        for index in endpoints.indices { _ = servers.update(index, .standby(lag: .seconds(99)), now: .zero) }
        #expect(candidates() == [])
        #expect(fate("replica", at: 0) == .leave)
    }

    @Test("A silent server is abandoned while another one responds, and kept if none does")
    mutating func silent() {
        allUsable()
        #expect(servers.update(0, .noResponse, now: .seconds(1)) == .silent)
        #expect(servers.update(0, .noResponse, now: .seconds(2)) == nil)
        #expect(candidates() == ["other", "primary"])
        #expect(fate("replica", at: 2) == .abandon)
        for index in [1, 2] { _ = servers.update(index, .noResponse, now: .seconds(3)) }
        servers.isPrimaryResponding = false
        #expect(fate("replica", at: 3) == .keep)
        #expect(candidates() == ["replica", "other", "primary"])
        // What lags is not even taken for want of others.
        _ = servers.update(1, .standby(lag: .seconds(99)), now: .seconds(4))
        #expect(candidates() == ["replica", "primary"])
        servers.isPrimaryResponding = true
        #expect(fate("replica", at: 5) == .abandon)
    }

    @Test("Connections move back to a standby once it has settled")
    mutating func movingBack() {
        allUsable()
        for index in [0, 1] { _ = servers.update(index, .noResponse, now: .seconds(60)) }
        #expect(fate("primary", at: 61) == .keep)
        _ = servers.update(0, .standby(lag: .zero), now: .seconds(70))
        #expect(fate("primary", at: 74) == .keep)
        for host in ["primary", "elsewhere"] { #expect(fate(host, at: 75) == .move) }
        #expect(fate("replica", at: 75) == .keep)
    }

    @Test("Connections stay on a primary in the list if standbys aren't preferred")
    mutating func noPreference() {
        servers = ReadServers(endpoints, prefersStandbys: false, maximumLag: .seconds(10))
        allUsable()
        #expect(fate("primary", at: 75) == .keep)
        #expect(fate("elsewhere", at: 75) == .move)
    }

    @Test("A standby that is promoted counts as a primary")
    mutating func promotion() {
        allUsable()
        #expect(
            servers.update(0, .primary, now: .seconds(9)) == .usable(isStandby: false, since: .seconds(9)))
    }
}
