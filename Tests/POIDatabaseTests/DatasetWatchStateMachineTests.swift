import Places
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

    @Test("The watch reads once a second until an echo proves that listening works, and then stops")
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

    @Test("The watch reads now and then without a notification, since a restore sends none")
    func doubt() {
        var machine = proven()
        for _ in 0..<9 { #expect(machine.tick() == []) }
        #expect(machine.tick() == [.read])
        #expect(machine.read(two, isStandby: false) == [.know(two)])
        for _ in 0..<9 { #expect(machine.tick() == []) }
        #expect(machine.tick() == [.read])
        #expect(machine.readFailed() == [.know(nil)])
    }

    @Test("The watch takes a renewal at once, and repeats a read that began before it")
    func renewal() {
        var machine = proven()
        #expect(machine.renewed(two) == [.know(two), .read])
        #expect(machine.renewed(one) == [.know(one)])
        #expect(machine.read(two, isStandby: false) == [.read])
        #expect(machine.read(one, isStandby: false) == [])
    }

    @Test("The watch forgets the id as soon as the listener is lost, and reads again")
    func loss() {
        var machine = proven()
        #expect(machine.lost() == [.know(nil)])
        #expect(machine.tick() == [.read])
        #expect(machine.read(two, isStandby: false) == [.know(two)])
    }

    @Test("The watch knows no id without a listener if only listening is allowed")
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

    @Test("The watch reads every second and sends few echoes behind a pooler, where no echo arrives")
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

    @Test("The watch sends no echo on a standby, which can't notify")
    func standby() {
        var machine = DatasetWatchStateMachine(mode: .auto)
        _ = machine.tick()
        _ = machine.read(one, isStandby: true)
        _ = machine.listening()
        #expect(machine.tick() == [.read])
    }

    @Test("The watch knows no id after a failed read, until a read succeeds")
    func failure() {
        var machine = proven()
        #expect(machine.renewed(two) == [.know(two), .read])
        #expect(machine.readFailed() == [.know(nil)])
        #expect(machine.tick() == [.read])
        #expect(machine.read(two, isStandby: false) == [.know(two)])
    }
}
