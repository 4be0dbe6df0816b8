import Foundation
import Randomness
import ServerProcess
import ServiceFixtures
import Testing

@Suite("Events, whatever is killed on their way", .timeLimit(.minutes(60)))
struct EventKillTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let eventCount = environment["POI_TEST_EVENTS"].flatMap { Int($0) } ?? 10_000
    private static let clientCount = 4
    /// Each has new events on their way when something is killed.
    private static let stageCount = max(12, eventCount / 20_000)

    @Test("Events are in the table exactly once in the end, whatever is killed on their way")
    func exactlyOnce() async throws {
        let seed = Self.environment["POI_TEST_SEED"].flatMap { UInt64($0) } ?? .random(in: 0 ... .max)
        print("EventKillTests: POI_TEST_SEED=\(seed), \(Self.eventCount) events")
        var generator = SeededGenerator(seed: seed)
        var site = try await EventSite()
        var clients = try (0..<Self.clientCount).map { number in
            try EventClient(user: "user-\(number)", baseURL: "http://127.0.0.1:\(site.balancer.port)")
        }
        let ownCount = Self.eventCount / Self.clientCount
        var blows: [EventSite.Blow] = []
        for stage in 1...Self.stageCount {
            // Every kind as often as the others, in an order of its own.
            if blows.isEmpty { blows = EventSite.Blow.allCases.shuffled(using: &generator) }
            let count = ownCount * stage / Self.stageCount
            for index in clients.indices { try clients[index].start(upTo: count) }
            let witness = Int.random(in: clients.indices, using: &generator)
            try await clients[witness].firstAcknowledgement()
            switch blows.removeLast() {
            case .server: try await site.killServer(Int.random(in: 0..<3, using: &generator))
            case .database: try await site.crashDatabase()
            case .client:
                for index in clients.indices.shuffled(using: &generator).prefix(2) {
                    try await clients[index].kill()
                    try clients[index].start(upTo: count)
                }
            }
            for client in clients { try await client.finish() }
        }
        try await check(clients, ownCount, site)
        for client in clients { client.remove() }
        try await site.finish()
    }

    private func check(_ clients: [EventClient], _ count: Int, _ site: EventSite) async throws {
        let session = try DatabaseSession(site.databaseURL)
        for client in clients {
            let rows = try await session.run(
                "SELECT value->>'additional' FROM events WHERE user_id = '\(client.user)'")
            let stored = rows.compactMap { Int($0) }.sorted()
            #expect(stored == Array(1...count), "\(client.user)")
            #expect(client.acknowledged.isSubset(of: stored))
            #expect(client.refused.isEmpty)
        }
        let total = try await session.run("SELECT count(*) FROM events")
        #expect(total == ["\(count * clients.count)"])
        let failures = clients.map(\.failureCount).reduce(0, +)
        print("EventKillTests: sending failed \(failures) times on the way")
    }
}
