import Foundation
import Loopback
import PointsOfInterestClient
import Randomness
import ServerProcess
import ServiceFixtures
import Testing

/// How many mutations are tried: 10,000, or what the environment's `POI_MUTATIONS` says.
private let mutationCount =
    ProcessInfo.processInfo.environment["POI_MUTATIONS"].flatMap { Int($0) } ?? 10_000

@Suite("Mutated requests", .timeLimit(.minutes(mutationCount > 20_000 ? 240 : 3)))
struct MutationTests {
    /// The statuses that the service may send while its database works.
    ///
    /// Of 5xx only what HTTP itself demands: 501 for a method or a transfer coding that doesn't exist
    /// (RFC 9110, section 15.6.2) and 505 for a version (section 15.6.6). 412 where an `If-None-Match` has become an
    /// `If-Match`. Not 408: a connection whose input has ended has nothing to wait for, so a time-out would be a hang
    /// that was found out late.
    private static let allowedStatuses: Set = [
        100, 102, 200, 204, 304, 400, 404, 405, 406, 412, 413, 414, 417, 431, 501, 505,
    ]

    @Test("The service responds to any changed request or closes its connection, and goes on")
    func mutations() async throws {
        let seed = SeededGenerator().seed
        let server = try await ServerProcess.serve(
            databaseURL: ServiceDatabase.migrated().connectionString,
            environment: [
                // Nobody is to wait for a database in vain, however slow the machine is.
                "POI_DB_ACQUIRE_TIMEOUT": "60s", "POI_DB_STATEMENT_TIMEOUT": "60s",
                "POI_REQUEST_TIMEOUT": "60s",
                "POI_CORS_ORIGINS": "https://app.example",
                // The log's lines are kept for the test's end: not a million of them.
                "POI_ACCESS_LOG": mutationCount > 100_000 ? "false" : "true",
            ])
        try await server.ready()
        let run = MutationRun(port: server.port, seed: seed, count: mutationCount) { bytes, isReset in
            try Self.check(bytes, isReset: isReset)
        }
        let (failures, statuses) = try await offPool { run.wait() }
        #expect(failures.isEmpty, "POI_TEST_SEED=\(seed)\n\(failures.joined(separator: "\n"))")
        // What mutations come to is a mixture, or they would show little.
        for status in [200, 304, 400, 404, 405, 406, 501, 505] {
            #expect(statuses[status, default: 0] > 0, "\(statuses)")
        }
        #expect(try await get(secretTarget, port: server.port).status == 200)
        try await server.finish()
    }

    /// The statuses of the responses on a connection; throws if one of them may not be.
    private static func check(_ bytes: [UInt8], isReset: Bool) throws -> [Int] {
        let responses = try ReceivedResponses(bytes, isReset: isReset).responses
        for response in responses {
            guard allowedStatuses.contains(response.status) else {
                throw ReceivedResponses.Malformed(description: "status \(response.status)")
            }
            guard response.status >= 400, !response.body.isEmpty else { continue }
            if response.isCompressed {
                guard response.isProblem, response.body.starts(with: [0x1F, 0x8B]) else {
                    throw ReceivedResponses.Malformed(description: "no compressed problem document")
                }
                continue
            }
            let problem = try JSONDecoder().decode(Problem.self, from: Data(response.body))
            guard response.isProblem, problem.status == response.status, problem.code != .unspecified else {
                throw ReceivedResponses.Malformed(description: "no problem document")
            }
        }
        return responses.map(\.status)
    }
}
