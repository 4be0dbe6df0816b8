import Foundation
import PointsOfInterestClient
import ServerProcess

/// The settings of a run of the contract suite, from its environment.
///
/// | variable | meaning |
/// |---|---|
/// | `POI_CONTRACT_TARGET` | `recorded`, `mock` or `local`, which is the default |
/// | `POI_BASE_URL` | the service that runs already, in their place |
/// | `POI_CONTRACT_HEADERS` | headers for it, `Name: value` a line; secret |
/// | `POI_CONTRACT_KEYS` | its keys, `data=KEY,events=KEY`; secret |
/// | `POI_CONTRACT_EDITOR_KEY` | an editor's key for it, with which the suite makes places and removes them; secret |
/// | `POI_CONTRACT_HEADERS_FILE`, `POI_CONTRACT_KEYS_FILE`, `POI_CONTRACT_EDITOR_KEY_FILE` | a file with any of these, in its place |
/// | `POI_CONTRACT_SEEDED` | `true` where it holds exactly the seed |
/// | `POI_CONTRACT_EXPECT` | a file of places that it has, and of its settings |
/// | `POI_CONTRACT_LIMITED_URL` | another address of it, where a client is refused at its second request |
/// | `POI_CONTRACT_STRICT` | `true` fails on what a target doesn't show |
/// | `POI_CONTRACT_RECORD` | `true` records the local target's responses for the recorded target |
struct ContractConfiguration: Sendable {
    let target: ContractTarget
    let headers: HeaderProvider
    /// The headers whose values nobody may see, in lower case.
    let secretNames: Set<String>
    let keys: ContractKeys?
    /// The key of an editor of somebody else's service.
    let editorKey: String?
    /// Whether the target's places are the seed's, all of them and no other.
    let isSeeded: Bool
    /// Where a client's second request is refused.
    let limitedURL: URL?
    /// Whether a test fails if the target doesn't show what it is about.
    let isStrict: Bool
    let isRecording: Bool

    /// Reads the environment's variables; an empty one counts as absent.
    init(environment: [String: String]) throws(ContractConfigurationError) {
        var variables = environment.filter { !$0.value.isEmpty }
        for name in ["POI_CONTRACT_HEADERS", "POI_CONTRACT_KEYS", "POI_CONTRACT_EDITOR_KEY"] {
            guard let path = variables[name + "_FILE"] else { continue }
            guard variables[name] == nil, let text = try? String(contentsOfFile: path, encoding: .utf8) else {
                throw ContractConfigurationError(
                    "\(name)_FILE must be a file that can be read, without \(name)")
            }
            variables[name] = text.hasSuffix("\n") ? String(text.dropLast()) : text
        }
        let isSaidToBeSeeded = try Self.boolean("POI_CONTRACT_SEEDED", in: variables)
        isRecording = try Self.boolean("POI_CONTRACT_RECORD", in: variables)
        isStrict = try Self.boolean("POI_CONTRACT_STRICT", in: variables)
        keys = try variables["POI_CONTRACT_KEYS"].map(ContractKeys.init)
        editorKey = variables["POI_CONTRACT_EDITOR_KEY"]
        limitedURL = try Self.url("POI_CONTRACT_LIMITED_URL", in: variables)
        let named = try Self.ownTarget(in: variables)
        let lines = (variables["POI_CONTRACT_HEADERS"] ?? "").split(whereSeparator: \.isNewline)
        secretNames = Set(lines.map { $0.prefix { $0 != ":" }.lowercased() } + ["authorization"])
        if let app = try Self.remote(in: variables) {
            guard named == nil else {
                throw ContractConfigurationError("POI_CONTRACT_TARGET and POI_BASE_URL exclude each other")
            }
            target = .remote(app.baseURL)
            headers = keys.map { $0.added(to: app.headers) } ?? app.headers
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
        default: throw ContractConfigurationError("POI_CONTRACT_TARGET must be recorded, mock or local")
        }
    }

    private static func url(
        _ name: String, in variables: [String: String]
    ) throws(ContractConfigurationError) -> URL? {
        guard let text = variables[name] else { return nil }
        guard let url = URL(string: text), url.user == nil, url.password == nil, url.query == nil,
            url.fragment == nil
        else {
            throw ContractConfigurationError(
                "\(name) must be a URL without credentials, query and fragment; credentials are headers")
        }
        return url
    }

    /// The service that runs already, read like the launch arguments of an app.
    private static func remote(
        in variables: [String: String]
    ) throws(ContractConfigurationError) -> AppConfiguration? {
        guard let url = try url("POI_BASE_URL", in: variables) else { return nil }
        do {
            return try AppConfiguration(
                defaultBaseURL: url, arguments: [],
                environment: [
                    "POI_BASE_URL": url.absoluteString,
                    "POI_HEADERS": variables["POI_CONTRACT_HEADERS"] ?? "",
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

/// A key for data and one for events, two different ones.
struct ContractKeys: Hashable, Sendable {
    let data: String
    let events: String

    init(_ text: String) throws(ContractConfigurationError) {
        var values: [Substring: String] = [:]
        for part in text.split(separator: ",") {
            let name = part.prefix { $0 != "=" }
            values[name] = String(part.dropFirst(name.count + 1))
        }
        guard let data = values["data"], let events = values["events"], values.count == 2, data != events,
            !data.isEmpty, !events.isEmpty
        else {
            throw ContractConfigurationError(
                "POI_CONTRACT_KEYS must be data=KEY,events=KEY, two different keys")
        }
        (self.data, self.events) = (data, events)
    }

    static func header(_ key: String) -> [String: String] { ["Authorization": "Bearer \(key)"] }

    func added(to headers: @escaping HeaderProvider) -> HeaderProvider {
        { endpoint in
            let key = endpoint == .events ? events : data
            return try await headers(endpoint).merging(Self.header(key)) { $1 }
        }
    }
}

/// A variable that can't be used. The text doesn't have its value, which may be a secret.
struct ContractConfigurationError: Error, Hashable, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

extension ContractConfiguration {
    static let attempt = Result { () throws(ContractConfigurationError) in
        try ContractConfiguration(environment: ProcessInfo.processInfo.environment)
    }

    /// The same; where it can't be used, this process ends with one line and exit code 64.
    static let current: ContractConfiguration = {
        switch attempt {
        case .success(let configuration): return configuration
        case .failure(let error): end(with: error)
        }
    }()

    static func end(with error: some Error) -> Never {
        FileHandle.standardError.write(Data("contract tests: \(error)\n".utf8))
        exit(64)
    }
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

/// Settings of the service that a test has to know; one that is nil isn't known.
struct ServiceSettings: Hashable, Sendable {
    /// `POI_CACHE_PRIVATE_MAX_AGE`: how long a response to a position may be kept, in seconds.
    var privateMaxAge: Int?
    /// `POI_CACHE_PUBLIC_MAX_AGE`: how long other responses may be kept, in seconds.
    var publicMaxAge: Int?
    /// `POI_CORS_ORIGINS`, divided at commas: the origins whose scripts may read responses.
    var origins: [String]?

    var hasCacheTimes: Bool { privateMaxAge != nil && publicMaxAge != nil }
}

extension ContractConfiguration {
    /// The service's settings: those that our own servers are started with, or what is declared.
    var settings: ServiceSettings {
        if case .remote = target { return ExpectedPlaces.current?.settings ?? ServiceSettings() }
        return ServiceSettings(privateMaxAge: 60, publicMaxAge: 60, origins: [OwnServers.origin])
    }
}
