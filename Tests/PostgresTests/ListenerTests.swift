import EventLoop
import Loopback
import Postgres
import PrivateCluster
import Testing

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
