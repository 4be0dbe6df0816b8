import EventLoop
import Migrator
import Testing

/// Runs that meet. The first waits inside its first file for a gate that the test opens when it has seen enough.
@Suite("Runs at the same time", .timeLimit(.minutes(2)))
struct ConcurrentRunsTests {
    private let gated = migration(up: "SELECT pg_advisory_xact_lock(42); CREATE TABLE a (n int);")

    /// Starts two runs, opens the gate once the second waits for the first, and returns the steps of both.
    private func runTwice(_ scene: Scene) async throws -> (first: [String], second: [String]) {
        try await scene.holdingGate { open in
            let firstRecorder = EventRecorder()
            let secondRecorder = EventRecorder()
            async let first = scene.run(.up(to: nil), recorder: firstRecorder)
            await firstRecorder.wait { if case .started = $0 { true } else { false } }
            async let second = scene.run(.up(to: nil), recorder: secondRecorder)
            await secondRecorder.wait { $0 == .waitingForLock }
            try await open()
            return try await (first, second)
        }
    }

    @Test("A second run waits for the first, and nothing is applied twice")
    func twoRuns() async throws {
        let scene = try Scene(["0001_create_a.sql": gated])
        let steps = try await runTwice(scene)
        #expect(steps.first == ["apply 0001_create_a"])
        #expect(steps.second == [])
        #expect(try scene.versions == "0001")
    }

    @Test("CREATE INDEX CONCURRENTLY goes through while another run waits")
    func concurrentIndex() async throws {
        let index = "CREATE INDEX CONCURRENTLY IF NOT EXISTS a_n ON a (n);"
        let scene = try Scene([
            "0001_create_a.sql": gated,
            "0002_index_a.sql": migration(up: index, options: "transaction:false"),
        ])
        let steps = try await runTwice(scene)
        #expect(steps.first == ["apply 0001_create_a", "apply 0002_index_a"])
        #expect(steps.second == [])
        #expect(
            try scene.database.execute("SELECT indisvalid FROM pg_index WHERE indexrelid = 'a_n'::regclass")
                == "t")
    }

    @Test("A run that may not wait gives up with an error and changes nothing")
    func boundedWait() async throws {
        let scene = try Scene(["0001_create_a.sql": gated])
        try await scene.holdingGate { open in
            let recorder = EventRecorder()
            async let first = scene.run(.up(to: nil), recorder: recorder)
            await recorder.wait { if case .started = $0 { true } else { false } }
            await #expect(throws: MigrationError.lockTimedOut(.zero)) {
                try await scene.withMigrator(lockWaitLimit: .zero) { try await $0.run(.up(to: nil)) }
            }
            try await open()
            #expect(try await first == ["apply 0001_create_a"])
        }
    }
}
