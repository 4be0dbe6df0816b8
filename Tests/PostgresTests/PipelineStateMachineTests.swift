import Randomness
import Testing

@testable import Postgres

@Suite("The pipeline's bookkeeping")
struct PipelineStateMachineTests {
    private var machine = PipelineStateMachine<String>()

    /// The machine's actions, in short.
    private mutating func receive(_ results: PipelineStateMachine<String>.Received...) -> [String] {
        results.map { result in
            switch machine.receive(result) {
            case .ignore: "ignore"
            case .prepared(let query): "prepared \(query)"
            case .failPreparing(let query): "failPreparing \(query)"
            case .keepRows(let query): "rows \(query)"
            case .keepError(let query): "error \(query)"
            case .finish(let query): "finish \(query)"
            case .giveUp: "giveUp"
            }
        }
    }

    @Test("Results belong to the queries in the order in which the queries were sent")
    mutating func order() {
        machine.sent("a", preparing: false)
        machine.sent("b", preparing: false)
        #expect(
            receive(.success, .endOfCommand, .sync, .success, .endOfCommand, .sync)
                == ["rows a", "ignore", "finish a", "rows b", "ignore", "finish b"])
        #expect(machine.count == 0)
    }

    @Test("Preparing a statement has a result of its own before the query's rows")
    mutating func preparing() {
        machine.sent("a", preparing: true)
        #expect(
            receive(.success, .endOfCommand, .success, .endOfCommand, .sync)
                == ["prepared a", "ignore", "rows a", "ignore", "finish a"])
    }

    @Test("A failed Parse aborts its own query and no other")
    mutating func failedParse() {
        machine.sent("a", preparing: true)
        machine.sent("b", preparing: false)
        #expect(
            receive(.failure, .endOfCommand, .aborted, .endOfCommand, .sync, .success, .endOfCommand, .sync)
                == [
                    "failPreparing a", "ignore", "ignore", "ignore", "finish a", "rows b", "ignore",
                    "finish b",
                ])
    }

    @Test("An error at the Sync, where the commit is, goes before the rows")
    mutating func failedCommit() {
        machine.sent("a", preparing: false)
        #expect(
            receive(.success, .endOfCommand, .failure, .endOfCommand, .sync)
                == ["rows a", "ignore", "error a", "ignore", "finish a"])
    }

    @Test(
        "A result that no command asked for ends the connection",
        arguments: [
            [PipelineStateMachine<String>.Received.sync],
            [.unknown],
            [.aborted],
            [.success, .endOfCommand, .success],
            [.endOfCommand, .endOfCommand, .endOfCommand],
        ])
    mutating func disorder(results: [PipelineStateMachine<String>.Received]) {
        machine.sent("a", preparing: false)
        var last: [String] = []
        for result in results { last = receive(result) }
        #expect(last == ["giveUp"])
    }

    @Test("With nothing in flight, no result is expected")
    mutating func nothingInFlight() {
        #expect(receive(.endOfCommand, .success, .sync) == ["ignore", "giveUp", "giveUp"])
    }

    @Test("A lost connection hands back what was in flight, oldest first")
    mutating func removeAll() {
        machine.sent("a", preparing: false)
        machine.sent("b", preparing: true)
        #expect(machine.removeAll() == ["a", "b"])
        #expect(machine.count == 0)
    }
}

@Suite("A queue")
struct FirstInFirstOutTests {
    @Test("A queue behaves like an array that is appended to and shortened at the front")
    func likeAnArray() {
        let seed = UInt64.random(in: 0 ... .max)
        print("FirstInFirstOutTests seed: \(seed)")
        var generator = SeededGenerator(seed: seed)
        var queue = FirstInFirstOut<Int>()
        var model: [Int] = []
        for step in 0..<5000 {
            switch Int.random(in: 0..<100, using: &generator) {
            case 0..<52:
                queue.append(step)
                model.append(step)
            case 52..<98:
                #expect(queue.popFirst() == (model.isEmpty ? nil : model.removeFirst()))
            default:
                #expect(queue.removeAll { $0 % 7 == 0 } == model.filter { $0 % 7 == 0 })
                model.removeAll { $0 % 7 == 0 }
            }
            #expect(queue.count == model.count && queue.first == model.first)
        }
        #expect(queue.elements == model)
    }
}
