import Locking
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

@Suite("A replica's lag")
struct ReplicaLagTests {
    private var lag = ReplicaLag()

    private mutating func update(
        _ replayed: Int64, received: Int64? = nil, primary: Int64? = nil, since: Duration? = nil,
        at seconds: Int
    ) -> Duration {
        lag.update(
            .init(replayed: replayed, received: received, sinceLastTransaction: since), primary: primary,
            now: .seconds(seconds))
    }

    @Test("A replica that has replayed everything has no lag, however old the last transaction is")
    mutating func idlePrimary() {
        for second in 0..<100 {
            let now = update(50, received: 50, primary: 50, since: .seconds(3600 + second), at: second)
            #expect(now == .zero)
        }
    }

    @Test("The lag is the time since the oldest change that isn't replayed was written")
    mutating func growing() {
        #expect(update(50, primary: 50, at: 0) == .zero)
        #expect(update(50, primary: 60, at: 1) == .zero)
        #expect(update(50, primary: 70, at: 2) == .seconds(1))
        #expect(update(50, primary: 80, at: 9) == .seconds(8))
        // That of second 1 is there, that of second 2 isn't.
        #expect(update(65, primary: 80, at: 10) == .seconds(8))
        #expect(update(75, primary: 80, at: 10) == .seconds(1))
        #expect(update(80, primary: 80, at: 11) == .zero)
    }

    @Test("The lag includes changes that the replica hasn't received while the primary's position is known")
    mutating func cutOff() {
        #expect(update(50, received: 50, primary: 50, at: 0) == .zero)
        #expect(update(50, received: 50, primary: 90, at: 1) == .zero)
        #expect(update(50, received: 50, primary: 90, at: 30) == .seconds(29))
    }

    @Test("The lag doesn't include changes that were lost with a dead primary")
    mutating func deadPrimary() {
        _ = update(50, received: 50, primary: 50, at: 0)
        #expect(update(50, received: 60, primary: 90, at: 5) == .zero)
        #expect(update(60, received: 60, primary: nil, at: 60) == .zero)
        #expect(update(55, received: 60, primary: nil, at: 61) == .zero)
    }

    @Test("The first lag is read off the replica's own clock, unless that runs ahead")
    mutating func firstSight() {
        #expect(update(50, primary: 90, since: .seconds(40), at: 100) == .seconds(40))
        var other = ReplicaLag()
        let progress = ReplicaLag.Progress(replayed: 1, sinceLastTransaction: .seconds(-40))
        #expect(other.update(progress, primary: 2, now: .seconds(100)) == .zero)
        var unknown = ReplicaLag()
        #expect(unknown.update(.init(replayed: 1), primary: 2, now: .seconds(100)) == .zero)
    }

    @Test("The lag takes bounded memory, and is right to the second after hours")
    mutating func bounded() {
        for second in 0..<20_000 { _ = update(0, primary: Int64(second), at: second) }
        #expect(update(0, primary: 20_000, at: 20_000) == .seconds(19_999))
        #expect(update(20_000, primary: 20_000, at: 20_001) == .zero)
    }
}

@Suite("The log of failed connections")
struct ConnectionLogTests {
    @Test(
        "A cause of failure is logged if it differs from the last one, and each cause once a minute at most")
    func causes() {
        var filter = CauseFilter()
        let start = ContinuousClock.now
        func isNews(_ cause: String, after seconds: Int) -> Bool {
            filter.isNews(cause, at: start + .seconds(seconds))
        }
        #expect(isNews("refused", after: 0))
        // However long it lasts.
        #expect(!isNews("refused", after: 1) && !isNews("refused", after: 3600))
        #expect(isNews("starting", after: 3601))
        // Two that take turns don't fill the log.
        #expect(isNews("refused", after: 3602))
        #expect(!isNews("starting", after: 3603) && !isNews("refused", after: 3604))
        filter.endCause()
        #expect(!isNews("refused", after: 3605))
        filter.endCause()
        #expect(isNews("refused", after: 3700))
    }

    @Test("A cause that comes back after connections have worked is logged again")
    func causesThatComeBack() {
        let count = Lock(0)
        let log = ConnectionLog(.places) { _ in count.withLock { $0 += 1 } }
        let start = ContinuousClock.now
        let failure = PoolObservation.connectFailed(.fast, PostgresError(.connectionFailed))
        for (seconds, observation) in [
            (0, failure), (1, failure), (61, failure), (62, .connected(.fast)), (123, failure),
        ] {
            log.observe(observation, at: start + .seconds(seconds))
        }
        #expect(count.withLock { $0 } == 2)
    }
}
