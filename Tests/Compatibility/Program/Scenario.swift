import Foundation
import PointsOfInterestClient

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Something that an app does with its client, and what must come of it with any server.
struct Scenario: Sendable {
    /// Where the client works.
    struct Site: Sendable {
        let baseURL: URL
        let session: URLSession
    }

    /// What came of a scenario, other than it has to be.
    struct Unsound: Error, CustomStringConvertible {
        let description: String
    }

    /// The name of its file.
    let name: String
    /// Runs it and returns what the app gets, as JSON. Throws where that can't be right.
    let run: @Sendable (Site) async throws -> Data

    init<Outcome: Encodable & SendableMetatype>(
        _ name: String, _ run: @escaping @Sendable (Site) async throws -> Outcome,
        isSound: @escaping @Sendable (Outcome) -> Bool
    ) {
        self.name = name
        self.run = { site in
            let outcome = try await run(site)
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            let json = try encoder.encode(outcome)
            guard isSound(outcome) else {
                throw Unsound(description: String(decoding: json, as: UTF8.self))
            }
            return json
        }
    }
}

/// A scenario as it went when a release was recorded.
struct RecordedScenario: Codable {
    let exchanges: [Exchange]
    /// What the app got, as JSON.
    let outcome: String

    init(exchanges: [Exchange], outcome: String) {
        self.exchanges = exchanges
        self.outcome = outcome
    }

    init(_ file: URL) throws {
        self = try JSONDecoder().decode(Self.self, from: Data(contentsOf: file))
    }

    /// The places of its lists.
    var places: [PointOfInterest] {
        exchanges.flatMap { exchange in
            (try? JSONDecoder().decode([PointOfInterest].self, from: Data(exchange.response.body.utf8))) ?? []
        }
    }
}
