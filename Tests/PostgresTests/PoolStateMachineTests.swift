import Testing

@testable import Postgres

@Suite("The pool's decisions")
struct PoolStateMachineTests {
    private typealias Machine = PoolStateMachine<String>

    private var machine = Machine(
        limits: .init(connections: 2, waiters: 2, acquireTimeout: .seconds(1)), now: .zero)

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

    @Test("A query goes to a free connection, or waits once all are busy")
    mutating func turns() {
        connectBoth()
        var shown: [String] = []
        for name in ["a", "b", "c", "d"] { shown.append(show(machine.acquire(name, now: .zero))) }
        #expect(shown == ["a on 0", "b on 1", "-", "-"])
        #expect(show(machine.release(slot: 1, now: .zero)) == ["c on 1"])
        #expect(show(machine.release(slot: 0, now: .zero)) == ["d on 0"])
        #expect(machine.statistics.busyConnections == 2)
    }

    @Test("The waiting line is bounded")
    mutating func bound() {
        connectBoth()
        for name in ["a", "b", "c", "d"] { _ = machine.acquire(name, now: .zero) }
        #expect(show(machine.acquire("e", now: .zero)) == "e busy")
        #expect(machine.statistics.refusedAcquires == 1)
    }

    @Test("A query that waits too long fails as busy if there are connections, else as unavailable")
    mutating func expiry() {
        _ = machine.acquire("a", now: .zero)
        #expect(machine.nextDeadline == .seconds(1))
        #expect(show(machine.expireWaiters(now: .milliseconds(999))) == [])
        #expect(show(machine.expireWaiters(now: .seconds(1))) == ["a unavailable"])
        connectBoth()
        for name in ["b", "c", "d"] { _ = machine.acquire(name, now: .seconds(2)) }
        #expect(show(machine.expireWaiters(now: .seconds(3))) == ["d busy"])
        #expect(machine.statistics.timedOutAcquires == 2)
    }

    @Test(
        "Once no connection has worked for as long as a query may wait, new ones fail at once, until one works"
    )
    mutating func away() {
        #expect(show(machine.acquire("a", now: .milliseconds(999))) == "-")
        #expect(show(machine.acquire("b", now: .seconds(1))) == "b unavailable")
        #expect(show(machine.connected(slot: 0, now: .seconds(2))) == ["a on 0"])
        _ = machine.connected(slot: 1, now: .seconds(2))
        #expect(show(machine.release(slot: 0, now: .seconds(2))) == [])
        // The other one is in doubt from here on, and doesn't respond.
        #expect(show(machine.lost(slot: 0, now: .seconds(9), random: 0)) == ["connect 0", "check 1"])
        _ = machine.connectFailed(slot: 0, random: 0)
        #expect(show(machine.acquire("c", now: .milliseconds(9999))) == "-")
        #expect(show(machine.acquire("d", now: .seconds(10))) == "d unavailable")
        // One that had a connection waits as long as its own time lasts.
        #expect(show(machine.acquire("e", again: .seconds(11), now: .seconds(10))) == "-")
        #expect(show(machine.lost(slot: 1, now: .seconds(12), random: 0)) == ["connect 1"])
        #expect(show(machine.expireWaiters(now: .seconds(12))) == ["e unavailable", "c unavailable"])
        #expect(machine.statistics.timedOutAcquires == 4)
        _ = machine.connected(slot: 1, now: .seconds(13))
        #expect(show(machine.acquire("f", now: .seconds(13))) == "f on 1")
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
        #expect(show(machine.connected(slot: 0, now: .milliseconds(600))) == ["b on 0"])
        #expect(show(machine.release(slot: 0, now: .milliseconds(600))) == ["a on 0"])
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
        #expect(machine.statistics.busyConnections == 1)
    }

    @Test("Closing refuses those who wait and lets end what is in flight")
    mutating func closing() {
        connectBoth()
        for name in ["a", "b", "c"] { _ = machine.acquire(name, now: .zero) }
        #expect(show(machine.close()) == ["c closed"])
        #expect(show(machine.acquire("d", now: .zero)) == "d closed")
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
