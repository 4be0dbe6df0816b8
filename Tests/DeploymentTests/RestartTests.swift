import ServerProcess
import ServiceFixtures
import Testing

@Suite("A restart in place", .timeLimit(.minutes(5)))
struct RestartTests {
    @Test("A server that is started again serves on the port that it had")
    func keepsPort() async throws {
        let databaseURL = try await ServiceDatabase.migrated().connectionString
        let first = try await ServerProcess.serve(databaseURL: databaseURL)
        try await first.ready()
        #expect(try await get(secretTarget, port: first.port).status == 200)
        #expect(try await first.stop() == 0)

        let second = try await ServerProcess.serve(databaseURL: databaseURL, port: first.port)
        try await second.ready()
        #expect(second.port == first.port)
        #expect(try await get(secretTarget, port: first.port).places?.count == 20)
        #expect(try await second.stop() == 0)
    }
}
