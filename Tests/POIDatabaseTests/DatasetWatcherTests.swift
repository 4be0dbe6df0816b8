import Places
import PointsOfInterestAPI
import Postgres
import PrivateCluster
import Testing

@testable import POIDatabase

/// What a process knows about the data, against the real database.
@Suite("The dataset's watcher", .timeLimit(.minutes(5)))
struct DatasetWatcherTests {
    private static let current = "SELECT id FROM dataset"
    private static let change = """
        INSERT INTO locations (name, category, latitude, longitude) VALUES ('A', 'zoo', 1, 1)
        """
    private static let listeners = """
        SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'
        """

    /// Waits for the store to know an id, by turns of its loop.
    private static func wait(
        for id: DatasetID, _ store: PostgresPlaceStore, _ session: PostgresConnection
    ) async throws {
        try await wait(session) { store.currentDatasetID == id }
    }

    /// Waits for the store to come to something, by turns of its loop.
    private static func wait(
        _ session: PostgresConnection, until isReached: () async throws -> Bool
    ) async throws {
        while try await !isReached() {
            // A query that ends at once doesn't notice the time limit.
            try Task.checkCancellation()
            try await session.run("SELECT 1")
        }
    }

    @Test(
        "The watcher knows the current id and the vocabulary, and learns of every renewal",
        arguments: ListenMode.allCases)
    func renewals(mode: ListenMode) async throws {
        try await MigratedDatabase.empty().withStore(listenMode: mode) { store, session in
            for round in 0..<5 {
                let id = try await session.value(Self.current, as: DatasetID.self)
                try await Self.wait(for: id, store, session)
                try await session.run("INSERT INTO categories VALUES ('kind_\(round)')")
                let next = try await session.value(Self.current, as: DatasetID.self)
                try await Self.wait(for: next, store, session)
                try await Self.wait(session) {
                    store.vocabulary?.categories.contains("kind_\(round)") == true
                }
            }
        }
    }

    @Test("The watcher forgets the id when its listening session is lost, and learns the current one")
    func killedListener() async throws {
        try await MigratedDatabase.empty().withStore(listenMode: .on) { store, session in
            for _ in 0..<5 {
                let id = try await session.value(Self.current, as: DatasetID.self)
                try await Self.wait(for: id, store, session)
                let killed = "SELECT count(pg_terminate_backend(pid)) FROM (\(Self.listeners)) AS listener"
                #expect(try await session.value(killed, as: Int.self) == 1)
                // Nobody hears of this one.
                try await session.run(Self.change)
                // For a moment it knows nothing; that may be over before this test comes to look.
                try await Self.wait(session) { store.currentDatasetID != id }
                let next = try await session.value(Self.current, as: DatasetID.self)
                try await Self.wait(for: next, store, session)
            }
        }
    }

    @Test("The watcher misses no change that is written while it begins to listen")
    func beginning() async throws {
        let database = try MigratedDatabase.empty()
        for _ in 0..<10 {
            try await database.withStore(listenMode: .on) { store, session in
                for _ in 0..<20 { try await session.run(Self.change) }
                let id = try await session.value(Self.current, as: DatasetID.self)
                try await Self.wait(for: id, store, session)
            }
        }
    }

    @Test("Several stores of a process share one listening session and all that it reports")
    func sharing() async throws {
        let database = try MigratedDatabase.empty()
        let state = DatasetState()
        try await database.withStore(listenMode: .auto, dataset: state) { first, session in
            try await database.withStore(listenMode: .auto, dataset: state) { second, session in
                let id = try await session.value(Self.current, as: DatasetID.self)
                try await Self.wait(for: id, second, session)
                // What is known may have been asked for before the session listens.
                let count = "SELECT count(*) FROM (\(Self.listeners)) AS listener"
                try await Self.wait(session) { try await session.value(count, as: Int.self) != 0 }
                #expect(try await session.value(count, as: Int.self) == 1)
            }
            let id = try await session.value(Self.current, as: DatasetID.self)
            try await Self.wait(for: id, first, session)
        }
        #expect(state.datasetID == nil)
    }
}

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
}
