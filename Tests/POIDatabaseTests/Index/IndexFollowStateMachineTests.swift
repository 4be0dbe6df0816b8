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
        _ = machine.looked(look(version(7)), served: nil, at: .seconds(100))
        return machine
    }

    @Test("The follower loads first, and serves once it has read what changed meanwhile")
    func start() {
        var machine = Self.machine()
        #expect(machine.looked(Self.look(Self.version(7), own: .missing), served: nil, at: .zero) == [.load])
        machine.loaded(Self.version(7), placeCount: 3)
        #expect(!machine.isServing)
        #expect(
            machine.looked(Self.look(Self.version(8), changed: 2), served: nil, at: .seconds(1))
                == [.readChanges])
        #expect(
            machine.took(Self.version(8), placeCount: 4, at: .seconds(1)) == [.serve(until: .seconds(11))])
        #expect(machine.isServing)
        #expect(machine.held == Self.version(8))
    }

    @Test("Each look that finds the same dataset prolongs serving, counted from when the look began")
    func confirmation() {
        var machine = Self.following()
        let actions = machine.looked(Self.look(Self.version(7)), served: Self.version(7), at: .seconds(105))
        #expect(actions == [.serve(until: .seconds(115))])
        #expect(machine.tick(at: .seconds(115)) == [])
        #expect(machine.tick(at: .seconds(116)) == [.withdraw(.unconfirmed)])
        #expect(machine.tick(at: .seconds(117)) == [])
        // They stay in memory, and are served again once they are confirmed.
        #expect(
            machine.looked(Self.look(Self.version(7)), served: Self.version(7), at: .seconds(120))
                == [.serve(until: .seconds(130))])
    }

    @Test(
        "The follower loads anew after too many or unlisted changes, and serves the old places meanwhile")
    func unknownChanges() {
        for changed in [nil, 100_001] {
            var machine = Self.following()
            let actions = machine.looked(
                Self.look(Self.version(9), changed: changed), served: Self.version(7), at: .seconds(101))
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
            let actions = machine.looked(look, served: nil, at: .seconds(101))
            #expect(actions == [.withdraw(.anotherHistory), .forgetServed, .load], "\(look)")
            #expect(machine.held == nil)
        }
    }

    @Test(
        "If the log has been pruned too far, the old places are served until all are loaded anew"
    )
    func pruned() {
        var machine = Self.following()
        let look = Self.look(Self.version(20_000), own: .missing, changed: 9)
        #expect(machine.looked(look, served: Self.version(7), at: .seconds(101)) == [.load])
        #expect(machine.isServing)
        machine.loaded(Self.version(20_000), placeCount: 2000)
        #expect(machine.isServing)
        let actions = machine.looked(
            Self.look(Self.version(20_000)), served: Self.version(7), at: .seconds(109))
        #expect(actions == [.serve(until: .seconds(119))])
    }

    @Test("The follower waits for a standby that is behind, and then asks the primary")
    func standbyBehind() {
        var machine = Self.following()
        let behind = Self.look(Self.version(6), isStandby: true, own: .missing)
        #expect(machine.looked(behind, served: Self.version(7), at: .seconds(101)) == [])
        #expect(machine.looked(behind, served: Self.version(7), at: .seconds(105)) == [])
        #expect(machine.looked(behind, served: Self.version(7), at: .seconds(106)) == [.askPrimary])
        #expect(machine.tick(at: .seconds(110)) == [])
        #expect(machine.tick(at: .seconds(111)) == [.withdraw(.unconfirmed)])
        #expect(machine.lookedAtPrimary(Self.look(Self.version(8))) == [])
        #expect(machine.lookedAtPrimary(Self.look(Self.version(6), isStandby: true, own: .missing)) == [])
        #expect(machine.held == Self.version(7))
        // It caught up.
        #expect(
            machine.looked(
                Self.look(Self.version(7), isStandby: true), served: Self.version(7), at: .seconds(113))
                == [.serve(until: .seconds(123))])
        // Or it never will: the primary has lost the commit.
        _ = machine.looked(behind, served: Self.version(7), at: .seconds(114))
        let actions = machine.lookedAtPrimary(Self.look(Self.version(6), own: .missing))
        #expect(actions == [.withdraw(.anotherHistory), .forgetServed])
        #expect(machine.held == nil)
    }

    @Test("The follower serves nothing older than the database has served, unless the primary has lost it")
    func servedByTheDatabase() {
        var machine = Self.following()
        let same = Self.look(Self.version(7), isStandby: true)
        #expect(machine.looked(same, served: Self.version(8), at: .seconds(101)) == [])
        let primary = Self.look(Self.version(7))
        #expect(
            machine.looked(primary, served: Self.version(8), at: .seconds(102))
                == [.forgetServed, .serve(until: .seconds(112))])
        machine.refused()
        #expect(machine.isRefused && !machine.isServing)
        #expect(machine.tick(at: .seconds(200)) == [])
    }

    @Test("The follower serves nothing if the log is empty")
    func emptyLog() {
        var machine = Self.following()
        #expect(
            machine.looked(Self.look(nil, own: .missing), served: nil, at: .seconds(101))
                == [.withdraw(.anotherHistory)])
        #expect(machine.looked(Self.look(nil, own: .missing), served: nil, at: .seconds(102)) == [])
    }
}
