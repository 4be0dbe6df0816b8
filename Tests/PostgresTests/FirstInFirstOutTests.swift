import Randomness
import Testing

@testable import Postgres

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
