/// What a stand-in waits at until the test lets it go on: an order of events, without time.
final class Gate: Sendable {
    private let arrivals = AsyncStream.makeStream(of: Void.self)
    private let opening = AsyncStream.makeStream(of: Void.self)

    /// Says that the stand-in is here, and waits until the gate is open.
    func pass() async {
        arrivals.continuation.yield()
        for await _ in opening.stream {}
    }

    /// Waits until a stand-in is here.
    func arrival() async {
        for await _ in arrivals.stream { return }
    }

    func open() {
        opening.continuation.finish()
    }
}
