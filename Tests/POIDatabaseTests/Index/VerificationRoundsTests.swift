import Randomness
import Testing

@testable import POIDatabase

@Suite("Rounds of verification")
struct VerificationRoundsTests {
    /// Verifies as the follower does: up to `limit` of the ids at a time.
    private static func verify(
        _ ids: [Int64], _ limit: Int, in rounds: inout VerificationRounds, at time: Duration
    ) -> ClosedRange<Int64> {
        let first = rounds.next
        let found = ids.filter { $0 >= first }.prefix(limit)
        let last = found.count < limit ? .max : found.last ?? .max
        rounds.verified(through: last, at: time)
        return first...last
    }

    @Test("Each round covers every possible id, whichever ids exist and wherever the round begins")
    func complete() {
        var generator = SeededGenerator()
        for _ in 0..<300 {
            let count = Int.random(in: 0..<12, using: &generator)
            var ids = Set((0..<count).map { _ in Int64.random(in: -9...9, using: &generator) })
            for id in [Int64.min, .max] where Bool.random(using: &generator) { ids.insert(id) }
            let start =
                [ids.randomElement(using: &generator) ?? 3, .min, .max, 0]
                .randomElement(using: &generator) ?? 0
            var rounds = VerificationRounds(loadedAt: .zero, start: start)
            var (ranges, time): ([ClosedRange<Int64>], Duration) = ([], .zero)
            for _ in 0..<3 {
                let (before, began) = (rounds.verifiedAt, time + .seconds(1))
                ranges = []
                while rounds.verifiedAt == before || ranges.isEmpty {
                    time += .seconds(1)
                    ranges.append(Self.verify(ids.sorted(), 3, in: &rounds, at: time))
                    guard ranges.count < 20 else { break }
                }
                let asked = Array(ids) + [.min, .max, start, 0, -10, 10]
                #expect(asked.allSatisfy { id in ranges.contains { $0.contains(id) } }, "\(ids), \(ranges)")
                #expect(rounds.verifiedAt == began)
            }
        }
    }
}
