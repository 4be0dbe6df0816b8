import POIService
import Testing

@testable import POIDatabase

/// When the dataset's id is known, event by event.
@Suite("The watch over the dataset")
struct DatasetWatchStateMachineTests {
    private let one = DatasetID(high: 1, low: 1)
    private let two = DatasetID(high: 2, low: 2)

    private func proven(_ mode: ListenMode = .auto) -> DatasetWatchStateMachine {
        var machine = DatasetWatchStateMachine(mode: mode)
        _ = machine.listening()
        _ = machine.echoHeard()
        _ = machine.read(one, isStandby: false)
        return machine
    }

    @Test("Reads once a second until listening is proven, and then no more")
    func polling() {
        var machine = DatasetWatchStateMachine(mode: .auto)
        #expect(machine.tick() == [.read])
        #expect(machine.tick() == [])
        #expect(machine.read(one, isStandby: false) == [.know(one)])
        #expect(machine.tick() == [.read])
        #expect(machine.listening() == [.know(nil), .sendEcho])
        #expect(machine.echoHeard() == [])
        // What was under way when listening was proven may be older.
        #expect(machine.read(one, isStandby: false) == [.read])
        #expect(machine.read(two, isStandby: false) == [.know(two)])
        #expect(machine.tick() == [])
    }

    @Test("Reads now and then though nothing is heard, since a restore notifies nobody")
    func doubt() {
        var machine = proven()
        for _ in 0..<9 { #expect(machine.tick() == []) }
        #expect(machine.tick() == [.read])
        #expect(machine.read(two, isStandby: false) == [.know(two)])
        for _ in 0..<9 { #expect(machine.tick() == []) }
        #expect(machine.tick() == [.read])
        #expect(machine.readFailed() == [.know(nil)])
    }

    @Test("Knows a renewal at once, and trusts no read that began before it")
    func renewal() {
        var machine = proven()
        #expect(machine.renewed(two) == [.know(two), .read])
        #expect(machine.renewed(one) == [.know(one)])
        #expect(machine.read(two, isStandby: false) == [.read])
        #expect(machine.read(one, isStandby: false) == [])
    }

    @Test("Knows nothing from the moment that the listener is lost, and reads again")
    func loss() {
        var machine = proven()
        #expect(machine.lost() == [.know(nil)])
        #expect(machine.tick() == [.read])
        #expect(machine.read(two, isStandby: false) == [.know(two)])
    }

    @Test("Where only listening is allowed, knows nothing without it")
    func listeningOnly() {
        var machine = DatasetWatchStateMachine(mode: .on)
        #expect(machine.tick() == [])
        #expect(machine.listening() == [.sendEcho])
        #expect(machine.tick() == [.sendEcho])
        #expect(machine.echoHeard() == [.read])
        #expect(machine.read(one, isStandby: false) == [.know(one)])
        #expect(machine.lost() == [.know(nil)])
        #expect(machine.tick() == [])
    }

    @Test("Behind a pooler, where no echo comes, reads every second and sends few echoes")
    func pooler() {
        var machine = DatasetWatchStateMachine(mode: .auto)
        _ = machine.listening()
        var (reads, echoes) = (0, 0)
        for _ in 0..<60 {
            for action in machine.tick() {
                if action == .read { reads += 1 }
                if action == .sendEcho { echoes += 1 }
            }
            _ = machine.read(one, isStandby: false)
        }
        #expect(reads == 60)
        #expect(echoes < 10)
    }

    @Test("On a standby, where nobody can notify, sends no echo")
    func standby() {
        var machine = DatasetWatchStateMachine(mode: .auto)
        _ = machine.tick()
        _ = machine.read(one, isStandby: true)
        _ = machine.listening()
        #expect(machine.tick() == [.read])
    }

    @Test("Knows nothing after a read that failed, until one succeeds")
    func failure() {
        var machine = proven()
        #expect(machine.renewed(two) == [.know(two), .read])
        #expect(machine.readFailed() == [.know(nil)])
        #expect(machine.tick() == [.read])
        #expect(machine.read(two, isStandby: false) == [.know(two)])
    }
}
