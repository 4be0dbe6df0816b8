import Testing

@testable import Postgres

@Suite("The pool's decisions")
struct PoolStateMachineTests {
    private typealias Machine = PoolStateMachine<String>

    private var machine = Machine(
        limits: .init(connections: 2, depth: 2, waiters: 2, acquireTimeout: .seconds(1)))

    /// An action in short.
    private func show(_ action: Machine.Action?) -> String {
        switch action {
        case nil: "-"
        case .connect(let slot): "connect \(slot)"
        case .connectLater(let slot, _): "later \(slot)"
        case .dispatch(let waiter, let slot): "\(waiter) on \(slot)"
        case .refuse(let waiter, let code): "\(waiter) \(code)"
        case .check(let slot): "check \(slot)"
        case .close(let slot): "close \(slot)"
        }
    }

    private func show(_ actions: [Machine.Action]) -> [String] { actions.map { show($0) } }

    private mutating func connectBoth() {
        _ = machine.connected(slot: 0, now: .zero)
        _ = machine.connected(slot: 1, now: .zero)
    }

    @Test("A pool makes every connection at its start")
    func start() {
        #expect(show(machine.start()) == ["connect 0", "connect 1"])
    }

    @Test("A query goes to the connection with the fewest in flight, or waits once all are full")
    mutating func leastBusy() {
        connectBoth()
        var shown: [String] = []
        for name in ["a", "b", "c", "d", "e", "f"] { shown.append(show(machine.acquire(name, now: .zero))) }
        #expect(shown == ["a on 0", "b on 1", "c on 0", "d on 1", "-", "-"])
        #expect(show(machine.release(slot: 1, now: .zero)) == ["e on 1"])
        #expect(show(machine.release(slot: 0, now: .zero)) == ["f on 0"])
        #expect(machine.statistics.inFlight == 4)
    }

    @Test("The waiting line is bounded")
    mutating func bound() {
        connectBoth()
        for name in ["a", "b", "c", "d", "e", "f"] { _ = machine.acquire(name, now: .zero) }
        #expect(show(machine.acquire("g", now: .zero)) == "g busy")
        #expect(machine.statistics.refusedAcquires == 1)
    }

    @Test("A query that waits too long fails as busy if there are connections, else as unavailable")
    mutating func expiry() {
        _ = machine.acquire("a", now: .zero)
        #expect(machine.nextDeadline == .seconds(1))
        #expect(show(machine.expireWaiters(now: .milliseconds(999))) == [])
        #expect(show(machine.expireWaiters(now: .seconds(1))) == ["a unavailable"])
        connectBoth()
        for name in ["b", "c", "d", "e", "f"] { _ = machine.acquire(name, now: .seconds(2)) }
        #expect(show(machine.expireWaiters(now: .seconds(3))) == ["f busy"])
        #expect(machine.statistics.timedOutAcquires == 2)
    }

    @Test("A query that lost its connection goes before new ones, and waits as long as its own time lasts")
    mutating func returning() {
        _ = machine.acquire("a", now: .zero)
        for name in ["b", "c"] { _ = machine.acquire(name, again: .seconds(3), now: .zero) }
        _ = machine.acquire("d", again: .milliseconds(500), now: .zero)
        #expect(machine.statistics.waiting == 4)
        #expect(show(machine.expireWaiters(now: .milliseconds(500))) == ["d unavailable"])
        #expect(machine.withdraw { $0 == "c" } == "c")
        #expect(machine.nextDeadline == .seconds(1))
        #expect(show(machine.connected(slot: 0, now: .milliseconds(600))) == ["b on 0", "a on 0"])
        #expect(machine.nextDeadline == nil)
    }

    @Test("A query that is withdrawn while it waits isn't sent")
    mutating func withdrawal() {
        _ = machine.acquire("a", now: .zero)
        _ = machine.acquire("b", now: .zero)
        #expect(machine.withdraw { $0 == "a" } == "a")
        #expect(machine.withdraw { $0 == "a" } == nil)
        #expect(show(machine.connected(slot: 0, now: .zero)) == ["b on 0"])
    }

    @Test("A connection that has served is replaced at once, and one that keeps failing less and less often")
    mutating func reconnecting() {
        connectBoth()
        #expect(show(machine.lost(slot: 0, now: .seconds(60), random: 0)) == ["connect 0", "check 1"])
        #expect(show(machine.connectFailed(slot: 0, random: 0)) == "later 0")
        #expect(show(machine.backoffEnded(slot: 0)) == "connect 0")
        // Lost right after it was made: that is a failure too, or a server in trouble would be hammered.
        _ = machine.connected(slot: 0, now: .seconds(61))
        #expect(show(machine.lost(slot: 0, now: .seconds(61), random: 0)) == ["later 0"])
    }

    @Test("After a connection is lost, the others get no query until they have responded")
    mutating func doubt() {
        connectBoth()
        #expect(show(machine.acquire("a", now: .zero)) == "a on 0")
        #expect(show(machine.acquire("b", now: .zero)) == "b on 1")
        #expect(show(machine.lost(slot: 0, now: .seconds(60), random: 0)) == ["connect 0"])
        // The other is busy: what it has in flight will tell. A new connection is not in doubt.
        #expect(show(machine.acquire("a", now: .seconds(60))) == "-")
        #expect(show(machine.release(slot: 1, now: .seconds(60))) == ["a on 1"])
        #expect(show(machine.lost(slot: 1, now: .seconds(60), random: 0)) == ["connect 1"])
        #expect(show(machine.acquire("a", now: .seconds(60))) == "-")
        #expect(show(machine.connected(slot: 0, now: .seconds(60))) == ["a on 0"])
        #expect(show(machine.connected(slot: 1, now: .seconds(60))) == [])
        #expect(show(machine.release(slot: 0, now: .seconds(60))) == [])
        // An idle one is asked, and is back in use as soon as it has answered.
        #expect(show(machine.lost(slot: 0, now: .seconds(90), random: 0)) == ["connect 0", "check 1"])
        #expect(show(machine.acquire("c", now: .seconds(90))) == "-")
        #expect(show(machine.release(slot: 1, now: .seconds(90))) == ["c on 1"])
    }

    @Test("The back-off starts at 50 ms at most and never exceeds a second, and half of it is random")
    func backoff() {
        #expect(ReconnectBackoff.delay(failures: 1, random: 1) == .milliseconds(50))
        #expect(ReconnectBackoff.delay(failures: 1, random: 0) == .milliseconds(25))
        #expect(ReconnectBackoff.delay(failures: 3, random: 1) == .milliseconds(200))
        #expect(ReconnectBackoff.delay(failures: .max, random: 1) == .seconds(1))
        #expect(ReconnectBackoff.delay(failures: .max, random: 0) == .milliseconds(500))
    }

    @Test("An idle connection is checked, and the check counts as use")
    mutating func checks() {
        connectBoth()
        _ = machine.acquire("a", now: .seconds(1))
        #expect(show(machine.checkIdle(since: .zero, now: .seconds(30))) == ["check 1"])
        #expect(show(machine.checkIdle(since: .zero, now: .seconds(30))) == [])
        #expect(show(machine.release(slot: 1, now: .seconds(30))) == [])
        #expect(machine.statistics.inFlight == 1)
    }

    @Test("A serial connection gets the next query only after the one before")
    mutating func serial() {
        _ = machine.connected(slot: 0, isSerial: true, now: .zero)
        #expect(show(machine.acquire("a", now: .zero)) == "a on 0")
        #expect(show(machine.acquire("b", now: .zero)) == "-")
        #expect(show(machine.acquire("c", now: .zero)) == "-")
        #expect(show(machine.release(slot: 0, now: .zero)) == ["b on 0"])
        #expect(show(machine.connected(slot: 1, now: .zero)) == ["c on 1"])
    }

    @Test("A retired connection ends what it has, gets nothing more, and is then replaced at once")
    mutating func retiring() {
        connectBoth()
        for name in ["a", "b"] { _ = machine.acquire(name, now: .zero) }
        #expect(show(machine.retire(slot: 0, now: .zero)) == [])
        #expect(show(machine.retire(slot: 0, now: .zero)) == [])
        #expect(show(machine.acquire("c", now: .zero)) == "c on 1")
        #expect(show(machine.acquire("d", now: .zero)) == "-")
        #expect(show(machine.release(slot: 0, now: .zero)) == ["close 0"])
        #expect(show(machine.lost(slot: 0, now: .zero, random: 0)) == ["connect 0"])
        #expect(show(machine.connected(slot: 0, now: .zero)) == ["d on 0"])
        let statistics = machine.statistics
        #expect(statistics.retiredConnections == 1 && statistics.lostConnections == 0)
    }

    @Test("A connection that is retired while it is idle ends at once, and stays away after the end")
    mutating func retiringIdle() {
        connectBoth()
        #expect(show(machine.retire(slot: 1, now: .zero)) == ["close 1"])
        #expect(show(machine.lost(slot: 1, now: .zero, random: 0)) == ["connect 1"])
        #expect(show(machine.retire(slot: 1, now: .zero)) == [])
        _ = machine.acquire("a", now: .zero)
        #expect(show(machine.retire(slot: 0, now: .zero)) == [])
        #expect(show(machine.close()) == [])
        #expect(show(machine.release(slot: 0, now: .zero)) == ["close 0"])
        #expect(show(machine.lost(slot: 0, now: .zero, random: 0)) == [])
    }

    @Test("Closing refuses those who wait and lets end what is in flight")
    mutating func closing() {
        connectBoth()
        for name in ["a", "b", "c", "d", "e"] { _ = machine.acquire(name, now: .zero) }
        #expect(show(machine.close()) == ["e closed"])
        #expect(show(machine.acquire("f", now: .zero)) == "f closed")
        #expect(show(machine.release(slot: 0, now: .zero)) == [])
        #expect(show(machine.release(slot: 0, now: .zero)) == ["close 0"])
        #expect(!machine.isClosed)
        #expect(show(machine.closeNow()) == ["close 1"])
        #expect(machine.isClosed)
    }

    @Test("A connection that arrives after the end is closed")
    mutating func lateConnection() {
        #expect(show(machine.close()) == [])
        #expect(show(machine.connected(slot: 0, now: .zero)) == ["close 0"])
        #expect(show(machine.connectFailed(slot: 1, random: 0)) == "-")
        #expect(machine.isClosed)
    }
}
