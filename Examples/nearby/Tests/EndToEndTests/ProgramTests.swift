import Foundation
import Testing

/// The program itself against a server that runs: `POI_BASE_URL` names it, with the seeded data. Few tests, since
/// each is slow and tells little about why it fails.
@Suite(
    "The program against a server",
    .enabled(if: Program.baseURL != nil, "needs a server: POI_BASE_URL, see scripts/check-examples"),
    .timeLimit(.minutes(1)))
struct ProgramTests {
    @Test("lists the nearest places")
    func lists() async throws {
        let result = try await Program.run(["--limit", "2"])
        #expect(result.exitCode == 0)
        #expect(result.lines.count == 2)
        #expect(result.lines.first == "    55 m  San Jose McEnery Convention Center (conference_centre)")
    }

    @Test("features a place")
    func watches() async throws {
        let result = try await Program.run(["--watch", "--count", "1"])
        #expect(result.exitCode == 0)
        #expect(result.lines.first?.hasPrefix("★ ") == true)
    }

    @Test("tells whether this is a point of interest", arguments: [("37.3316,-121.8901", 0), ("36,-123", 1)])
    func checks(position: String, exitCode: Int32) async throws {
        #expect(try await Program.run(["--check", "--at", position]).exitCode == exitCode)
    }

    @Test("hands on what the server says is wrong")
    func handsOnProblems() async throws {
        let result = try await Program.run(["--limit", "101"])
        #expect(result.exitCode == 69)
        #expect(result.lines.first?.contains("limit must be a whole number from 1 to 100") == true)
    }

    @Test("tells how it is called")
    func tellsItsUsage() async throws {
        let result = try await Program.run(["--nearest"])
        #expect(result.exitCode == 64)
        #expect(result.lines.isEmpty)
    }
}
