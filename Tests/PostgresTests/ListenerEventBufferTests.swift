import Testing

@testable import Postgres

@Suite("A listener's buffer", .timeLimit(.minutes(1)))
struct ListenerEventBufferTests {
    private let buffer = ListenerEventBuffer(capacity: 3)

    private func event(_ payload: String) -> PostgresListener.Event {
        .notification(PostgresNotification(channel: "c", payload: payload))
    }

    @Test("Events that fit into the buffer arrive in order, before the end")
    func order() async {
        for payload in ["a", "b", "c"] { buffer.append(event(payload)) }
        buffer.finish()
        buffer.append(event("late"))
        for payload in ["a", "b", "c"] { #expect(await buffer.next() == event(payload)) }
        #expect(await buffer.next() == nil)
    }

    @Test("Events that don't fit become a gap, which is delivered even if no event follows")
    func overflow() async {
        for payload in ["a", "b", "c", "d"] { buffer.append(event(payload)) }
        #expect(await buffer.next() == .gap)
        buffer.append(event("e"))
        #expect(await buffer.next() == event("e"))
    }

    @Test("A reader that waits gets the next event, or the end")
    func waiting() async {
        async let first = buffer.next()
        buffer.append(event("a"))
        #expect(await first == event("a"))
        async let second = buffer.next()
        buffer.finish()
        #expect(await second == nil)
    }
}
