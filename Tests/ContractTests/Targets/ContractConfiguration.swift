import Foundation
import PointsOfInterestClient

/// The settings of a run of the contract suite, from its environment.
///
/// | variable | meaning |
/// |---|---|
/// | `POI_CONTRACT_TARGET` | `recorded`, `mock` or `local`, which is the default |
/// | `POI_BASE_URL` | the service that runs already, in their place |
/// | `POI_CONTRACT_HEADERS` | headers for it, `Name: value` a line; secret |
/// | `POI_CONTRACT_SEEDED` | `true` where it holds exactly the seed |
/// | `POI_CONTRACT_RECORD` | `true` records the local target's responses for the recorded target |
struct ContractConfiguration: Sendable {
    let target: ContractTarget
    /// What the app adds to each request.
    let headers: HeaderProvider
    /// Whether the target's places are the seed's, all of them and no other.
    let isSeeded: Bool
    /// Whether responses are recorded for the recorded target.
    let isRecording: Bool

    /// Reads the environment's variables; an empty one is as good as none.
    init(environment: [String: String]) throws(ContractConfigurationError) {
        let variables = environment.filter { !$0.value.isEmpty }
        let isSaidToBeSeeded = try Self.boolean("POI_CONTRACT_SEEDED", in: variables)
        isRecording = try Self.boolean("POI_CONTRACT_RECORD", in: variables)
        let named = try Self.ownTarget(in: variables)
        if let app = try Self.remote(in: variables) {
            guard named == nil else {
                throw ContractConfigurationError("POI_CONTRACT_TARGET and POI_BASE_URL exclude each other")
            }
            target = .remote(app.baseURL)
            headers = app.headers
            isSeeded = isSaidToBeSeeded
        } else {
            target = named ?? .local
            headers = { _ in [:] }
            isSeeded = true
        }
        guard !isRecording || target == .local else {
            throw ContractConfigurationError("POI_CONTRACT_RECORD needs the local target")
        }
    }

    private static func ownTarget(
        in variables: [String: String]
    ) throws(ContractConfigurationError) -> ContractTarget? {
        switch variables["POI_CONTRACT_TARGET"] {
        case nil: nil
        case "recorded": .recorded
        case "mock": .mock
        case "local": .local
        default:
            throw ContractConfigurationError("POI_CONTRACT_TARGET must be recorded, mock or local")
        }
    }

    /// The service that runs already, read like the launch arguments of an app.
    private static func remote(
        in variables: [String: String]
    ) throws(ContractConfigurationError) -> AppConfiguration? {
        guard let text = variables["POI_BASE_URL"] else { return nil }
        guard let url = URL(string: text), url.user == nil, url.password == nil, url.query == nil,
            url.fragment == nil
        else {
            throw ContractConfigurationError(
                "POI_BASE_URL must be a URL without credentials, query and fragment; credentials are headers")
        }
        do {
            return try AppConfiguration(
                defaultBaseURL: url, arguments: [],
                environment: [
                    "POI_BASE_URL": text, "POI_HEADERS": variables["POI_CONTRACT_HEADERS"] ?? "",
                ])
        } catch {
            let told = error.localizedDescription.replacing("POI_HEADERS", with: "POI_CONTRACT_HEADERS")
            throw ContractConfigurationError(told)
        }
    }

    private static func boolean(
        _ name: String, in variables: [String: String]
    ) throws(ContractConfigurationError) -> Bool {
        switch variables[name] {
        case nil, "false": false
        case "true": true
        default: throw ContractConfigurationError("\(name) must be true or false")
        }
    }
}

/// A variable that can't be used. The text doesn't have its value, which may be a secret.
struct ContractConfigurationError: Error, Hashable, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

extension ContractConfiguration {
    /// What the environment of this process says.
    static let attempt = Result { () throws(ContractConfigurationError) in
        try ContractConfiguration(environment: ProcessInfo.processInfo.environment)
    }

    /// The same; where it can't be used, this process ends with one line and exit code 64.
    static let current: ContractConfiguration = {
        switch attempt {
        case .success(let configuration): return configuration
        case .failure(let error):
            FileHandle.standardError.write(Data("contract tests: \(error)\n".utf8))
            exit(64)
        }
    }()
}

/// What the contract suite is run against; one run, one target.
enum ContractTarget: Hashable, Sendable {
    /// The client alone: `MockURLProtocol` responds with what was recorded.
    case recorded
    /// `poi-mock`, with the seed for fixtures.
    case mock
    /// `poi dev`, with a PostgreSQL of its own that holds the seed.
    case local
    /// A service that runs already, staging for instance.
    case remote(URL)
}
