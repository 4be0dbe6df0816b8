import EventLoop
import Loopback
import PrivateCluster
import Testing

@testable import Postgres

@Suite("Listening", .timeLimit(.minutes(2)))
struct ListenerTests {
    private static let database = Result { try TestDatabase() }

    @Test("Notifications arrive in order, and a lost session is made anew, with a gap told")
    func listening() async throws {
        let database = try Self.database.get()
        try await onLoop { loop in
            let configuration = try PostgresConfiguration(conninfo: database.connectionString)
            let listener = PostgresListener(configuration, channels: ["Big \"Ch\"", "small"], loop: loop)
            var events = listener.events.makeAsyncIterator()
            #expect(await events.next() == .gap)
            for round in 0..<3 {
                try database.execute(
                    """
                    SELECT pg_notify('Big "Ch"', 'first \(round)'); NOTIFY other, 'unheard';
                    NOTIFY small, 'second \(round)'; NOTIFY small;
                    """)
                var payloads: [String] = []
                while payloads.count < 3, case .notification(let notification)? = await events.next() {
                    payloads.append("\(notification.channel): \(notification.payload)")
                }
                #expect(payloads == ["Big \"Ch\": first \(round)", "small: second \(round)", "small: "])
                try database.execute(
                    """
                    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE datname = current_database() AND pid <> pg_backend_pid()
                      AND application_name = 'points-of-interest'
                    """)
                #expect(await events.next() == .gap)
            }
            await listener.close()
            #expect(await events.next() == nil)
        }
    }

    @Test("A listener that finds no server closes all the same")
    func noServer() async throws {
        try await onLoop { loop in
            let configuration = try PostgresConfiguration(conninfo: "host=/nonexistent")
            let listener = PostgresListener(configuration, channels: ["c"], loop: loop)
            await listener.close()
            for await _ in listener.events { Issue.record("nothing can have been heard") }
        }
    }
}

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
