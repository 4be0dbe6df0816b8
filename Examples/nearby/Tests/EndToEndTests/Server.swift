import Foundation

/// A server to run the program against, which a variable names: see `scripts/checks/check-examples`.
enum Server: String, CaseIterable {
    /// The real one, with the seeded data.
    case real = "POI_BASE_URL"
    /// The mock server, which has the same places.
    case mock = "POI_MOCK_URL"

    /// Where it is; nil where it doesn't run.
    var url: URL? { ProcessInfo.processInfo.environment[rawValue].flatMap { URL(string: $0) } }

    /// Those that run.
    static let running = allCases.filter { $0.url != nil }
}
