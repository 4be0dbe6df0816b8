import Places
import Testing

@testable import POIDatabase

/// What follows from each look at the database.
@Suite("The follower's decisions")
struct IndexFollowStateMachineTests {
    typealias Machine = IndexFollowStateMachine

    /// Places may be served for ten seconds without having been confirmed; a standby may be behind for four.
    private static func machine() -> Machine {
        Machine(maximumStaleness: .seconds(10), maximumLag: .seconds(4))
    }

    private static func version(_ revision: Int64, incarnation: UInt64 = 1, id: UInt64? = nil)
        -> DatasetVersion
    {
        DatasetVersion(
            datasetID: DatasetID(high: incarnation, low: id ?? UInt64(revision)), revision: revision,
            incarnation: DatasetID(high: 0, low: incarnation))
    }

    private static func look(
        _ version: DatasetVersion?, isStandby: Bool = false, own: Machine.OwnRevision = .same,
        changed: Int? = 0
    ) -> Machine.Look {
        Machine.Look(version: version, isStandby: isStandby, own: own, changedCount: changed)
    }

    /// Serves revision 7 of 1000 places, confirmed at 100 s.
    private static func following() -> Machine {
        var machine = machine()
        machine.loaded(version(7), placeCount: 1000)
        _ = machine.looked(look(version(7)), at: .seconds(100))
        return machine
    }

    @Test("The follower loads first, and serves once it has read what changed meanwhile")
    func start() {
        var machine = Self.machine()
        #expect(machine.looked(Self.look(Self.version(7), own: .missing), at: .zero) == [.load])
        machine.loaded(Self.version(7), placeCount: 3)
        #expect(!machine.isServing)
        #expect(
            machine.looked(Self.look(Self.version(8), changed: 2), at: .seconds(1))
                == [.readChanges])
        #expect(
            machine.took(Self.version(8), placeCount: 4, at: .seconds(1)) == [.serve(until: .seconds(11))])
        #expect(machine.isServing)
        #expect(machine.held == Self.version(8))
    }

    private static func restored(age: Int) -> Machine {
        var machine = Self.machine()
        let confirmed = Duration.seconds(100 - age)
        machine.restored(Self.version(7), placeCount: 1000, confirmedAt: confirmed, at: .seconds(100))
        return machine
    }

    @Test(
        "Places of a file wait for a look, for a second, are served for the rest of their time, and followed also where it is over"
    )
    func restored() {
        for (age, served) in [(4, [Machine.Action.serve(until: .seconds(106))]), (11, [])] {
            var machine = Self.restored(age: age)
            #expect(!machine.isServing)
            #expect(machine.tick(at: .milliseconds(100_750)) == [])
            #expect(machine.tick(at: .seconds(101)) == served)
            #expect(machine.isServing == !served.isEmpty)
            #expect(
                machine.looked(Self.look(Self.version(8), changed: 1), at: .seconds(101)) == [.readChanges])
            let taken = machine.took(Self.version(8), placeCount: 1000, at: .seconds(101))
            #expect(taken == [.serve(until: .seconds(111))])

            var cut = Self.restored(age: age)
            #expect(cut.failedToLook(at: .seconds(100)) == served)
            #expect(cut.failedToLook(at: .seconds(100)) == [])
            #expect(cut.tick(at: .seconds(101)) == [])
        }
    }

    @Test("What a look shows is served instead of a file's places")
    func replaced() {
        var machine = Self.restored(age: 4)
        #expect(
            machine.looked(Self.look(Self.version(8), changed: 1), at: .seconds(100)) == [.readChanges])
        #expect(!machine.isServing)
        let taken = machine.took(Self.version(8), placeCount: 1000, at: .seconds(100))
        #expect(taken == [.serve(until: .seconds(110))])
        #expect(machine.tick(at: .seconds(101)) == [])

        var outgrown = Self.restored(age: 4)
        #expect(outgrown.outgrown(at: .seconds(100)) == [.serve(until: .seconds(1 << 50))])

        var another = Self.restored(age: 4)
        let look = Self.look(Self.version(7, incarnation: 2), own: .missing)
        #expect(another.looked(look, at: .seconds(100)) == [.load])
        #expect(another.tick(at: .seconds(101)) == [])
    }

    @Test("Each look that finds the same dataset prolongs serving, counted from when the look began")
    func confirmation() {
        var machine = Self.following()
        let actions = machine.looked(Self.look(Self.version(7)), at: .seconds(105))
        #expect(actions == [.serve(until: .seconds(115))])
        #expect(machine.tick(at: .seconds(115)) == [])
        #expect(machine.tick(at: .seconds(116)) == [.withdraw(.unconfirmed)])
        #expect(machine.tick(at: .seconds(117)) == [])
        // They stay in memory, and are served again once they are confirmed.
        #expect(
            machine.looked(Self.look(Self.version(7)), at: .seconds(120))
                == [.serve(until: .seconds(130))])
    }

    @Test(
        "The follower loads anew after too many or unlisted changes, and serves the old places meanwhile")
    func unknownChanges() {
        for changed in [nil, 100_001] {
            var machine = Self.following()
            let actions = machine.looked(
                Self.look(Self.version(9), changed: changed), at: .seconds(101))
            #expect(actions == [.load])
            #expect(machine.isServing)
            #expect(machine.tick(at: .seconds(111)) == [.withdraw(.unconfirmed)])
        }
    }

    @Test("The places of another history are loaded anew, and the old ones aren't served any more")
    func anotherHistory() {
        let looks = [
            // Restored from a dump.
            Self.look(Self.version(7, incarnation: 2), own: .another),
            Self.look(Self.version(90, incarnation: 2), own: .missing),
            // A standby was promoted that lacked the last commits: lower, at the same revision, and beyond it.
            Self.look(Self.version(6), own: .missing),
            Self.look(Self.version(7, id: 99), own: .another),
            Self.look(Self.version(8, id: 99), own: .another),
            // A standby of such a primary.
            Self.look(Self.version(8, id: 99), isStandby: true, own: .another),
        ]
        for look in looks {
            var machine = Self.following()
            let actions = machine.looked(look, at: .seconds(101))
            #expect(actions == [.withdraw(.anotherHistory), .load], "\(look)")
            #expect(machine.held == nil)
        }
    }

    @Test(
        "If the log has been pruned too far, the old places are served until all are loaded anew"
    )
    func pruned() {
        var machine = Self.following()
        let look = Self.look(Self.version(20_000), own: .missing, changed: 9)
        #expect(machine.looked(look, at: .seconds(101)) == [.load])
        #expect(machine.isServing)
        machine.loaded(Self.version(20_000), placeCount: 2000)
        #expect(machine.isServing)
        let actions = machine.looked(
            Self.look(Self.version(20_000)), at: .seconds(109))
        #expect(actions == [.serve(until: .seconds(119))])
    }

    @Test("The follower waits for a standby that is behind, then asks the primary, and reads from that")
    func standbyBehind() {
        var machine = Self.following()
        let behind = Self.look(Self.version(6), isStandby: true, own: .missing)
        #expect(machine.looked(behind, at: .seconds(101)) == [])
        #expect(machine.looked(behind, at: .seconds(105)) == [])
        #expect(machine.looked(behind, at: .seconds(106)) == [.askPrimary])
        // It can't be asked, or is a standby, too.
        #expect(machine.lookedAtPrimary(nil, at: .seconds(106)) == [])
        let other = Self.look(Self.version(6), isStandby: true, own: .missing)
        #expect(machine.lookedAtPrimary(other, at: .seconds(106)) == [])
        #expect(machine.tick(at: .seconds(110)) == [])
        #expect(machine.tick(at: .seconds(111)) == [.withdraw(.unconfirmed)])
        #expect(machine.lookedAtPrimary(Self.look(Self.version(8)), at: .seconds(111)) == [.leaveStandby])
        #expect(machine.held == Self.version(7))
        machine.changedServer()
        #expect(machine.looked(Self.look(Self.version(8), changed: 1), at: .seconds(112)) == [.readChanges])
        // Or it never catches up: the primary has lost the commit.
        machine = Self.following()
        _ = machine.looked(behind, at: .seconds(114))
        let actions = machine.lookedAtPrimary(Self.look(Self.version(6), own: .missing), at: .seconds(114))
        #expect(actions == [.withdraw(.anotherHistory), .leaveStandby])
        #expect(machine.held == nil)
    }

    @Test("The follower leaves a standby that lacks for too long what the primary has")
    func standbyTooFarBehind() {
        var machine = Self.following()
        let same = Self.look(Self.version(7), isStandby: true)
        #expect(machine.looked(same, at: .seconds(101)) == [.askPrimary, .serve(until: .seconds(111))])
        #expect(machine.lookedAtPrimary(Self.look(Self.version(8)), at: .seconds(101)) == [])
        // It isn't asked with each look.
        #expect(machine.looked(same, at: .seconds(102)) == [.serve(until: .seconds(112))])
        #expect(machine.looked(same, at: .seconds(103)) == [.askPrimary, .serve(until: .seconds(113))])
        // A later one doesn't begin anew.
        #expect(machine.lookedAtPrimary(Self.look(Self.version(9)), at: .seconds(103)) == [])
        #expect(machine.looked(same, at: .seconds(106)) == [.leaveStandby])
        // It comes in time.
        machine = Self.following()
        _ = machine.looked(same, at: .seconds(101))
        _ = machine.lookedAtPrimary(Self.look(Self.version(8)), at: .seconds(101))
        let next = Self.look(Self.version(8), isStandby: true, changed: 1)
        #expect(machine.looked(next, at: .seconds(105)) == [.askPrimary, .readChanges])
        _ = machine.took(Self.version(8), placeCount: 1000, at: .seconds(105))
        #expect(machine.lookedAtPrimary(Self.look(Self.version(8)), at: .seconds(105)) == [])
        let confirmed = Self.look(Self.version(8), isStandby: true)
        #expect(machine.looked(confirmed, at: .seconds(106)) == [.serve(until: .seconds(116))])
    }

    @Test("Places are served for as long as newer ones don't fit, and are confirmed no more")
    func outgrown() {
        var machine = Self.following()
        #expect(machine.outgrown(at: .seconds(100)) == [.serve(until: .seconds(1 << 50))])
        #expect(machine.outgrown(at: .seconds(100)) == [])
        // Also in another form, once parts of it were merged.
        #expect(machine.servedUntil == .seconds(1 << 50))
        #expect(machine.tick(at: .seconds(1000)) == [])
        #expect(machine.confirmedAt == .seconds(100))
        #expect(machine.looked(Self.look(Self.version(8), changed: 1), at: .seconds(1001)) == [.readChanges])
        let taken = machine.took(Self.version(8), placeCount: 1000, at: .seconds(1001))
        #expect(taken == [.serve(until: .seconds(1011))])
        #expect(machine.tick(at: .seconds(1012)) == [.withdraw(.unconfirmed)])
        // Nothing is served that wasn't.
        var empty = Self.machine()
        #expect(empty.outgrown(at: .zero) == [])
    }

    @Test("The follower serves nothing if the log is empty")
    func emptyLog() {
        var machine = Self.following()
        #expect(
            machine.looked(Self.look(nil, own: .missing), at: .seconds(101))
                == [.withdraw(.anotherHistory)])
        #expect(machine.looked(Self.look(nil, own: .missing), at: .seconds(102)) == [])
    }
}
