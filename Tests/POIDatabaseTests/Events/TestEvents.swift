import EventLoop
import Foundation
import Loopback
import Places
import PointsOfInterestAPI
import Postgres
import PrivateCluster
@testable import Program

@testable import POIDatabase

extension StoredEvent {
    /// An event of a test, one of its own unless the test says which.
    static func test(
        id: UUID = UUID(), seconds: Double = Date.now.timeIntervalSince1970, userID: String = "user",
        name: String = "launch", value: String = "{}", isTest: Bool = false
    ) -> StoredEvent {
        StoredEvent(
            key: Key(id: id, timeMicroseconds: Int64(seconds * 1_000_000)), userID: userID, name: name,
            value: ArraySlice(value.utf8), isTest: isTest)
    }
}

extension TestDatabase {
    /// How the service would write events here, with deadlines that the busiest machine meets.
    func eventConfiguration() throws -> EventDatabaseConfiguration {
        var reader = SettingsReader(flags: [:], environment: ["POI_EVENTS_STATEMENT_TIMEOUT": "60s"])
        return try EventDatabaseConfiguration(from: &reader, database: configuration())
    }

    /// Runs `body` on a loop of its own with a store of events over this database, and a session beside it.
    func withEventStore<Value: Sendable>(
        _ change: @escaping @Sendable (inout EventDatabaseConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (PostgresEventStore, PostgresConnection) async throws -> Value
    ) async throws -> Value {
        var configuration = try eventConfiguration()
        change(&configuration)
        let database = try self.configuration().postgres
        return try await onLoop { [configuration] loop in
            let session = try await PostgresConnection.connect(database, loop: loop)
            let store = PostgresEventStore(configuration: configuration, loop: loop)
            let result: Result<Value, any Error>
            do {
                result = .success(try await body(store, session))
            } catch {
                result = .failure(error)
            }
            await store.close()
            await session.close()
            return try result.get()
        }
    }
}

extension PostgresEventStore {
    /// Stores batches at the same time; returns the outcome of each.
    func storeAtOnce(_ batches: [[StoredEvent]]) async -> [Result<EventsResponse, EventStoreError>] {
        let store = LoopBound(self, loop: pool.loop)
        let tasks = batches.map { events in
            Task(executorPreference: pool.loop) { () -> Result<EventsResponse, EventStoreError> in
                do throws(EventStoreError) {
                    return .success(try await store.value.store(events))
                } catch {
                    return .failure(error)
                }
            }
        }
        var results: [Result<EventsResponse, EventStoreError>] = []
        for task in tasks { results.append(await task.value) }
        return results
    }
}
