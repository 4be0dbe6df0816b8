import Testing

@testable import POIDatabase

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
