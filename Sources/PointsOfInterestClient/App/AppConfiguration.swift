import Foundation
import PointsOfInterestHTTP

/// The configuration of an app's launch: which service to use, and whether the app only hosts unit tests.
public struct AppConfiguration: Sendable {
    /// Where the service is, with a path prefix if it has one.
    public var baseURL: URL
    /// Returns the header fields that are added to a request to an endpoint. Called before each attempt, since a token
    /// may have to be fetched; an error fails the request.
    public var headers: HeaderProvider
    /// Renews the key after the service has refused it with 401; nil leaves it at that.
    public var renewKey: KeyRenewer?
    /// The number of decimals of the coordinates in requests, 0 to 13; nil sends coordinates as they are. 5 are about a
    /// metre.
    public var coordinateDecimals: Int?
    /// Whether the app only hosts unit tests, and should leave out what they don't need, such as its first load.
    public var isUnitTesting: Bool
    /// Returns who uses the app, for its tracking events: 1 to 200 bytes. Called for each event.
    ///
    /// The default is `UserIdentity.shared.current`, a random id that stays the same from one launch to the next. A
    /// configuration for unit tests has an id in memory, so that tests don't write to the disk.
    public var userID: @Sendable () -> String

    /// Makes a configuration.
    public init(
        baseURL: URL, headers: @escaping HeaderProvider = { _ in [:] }, renewKey: KeyRenewer? = nil,
        coordinateDecimals: Int? = 5, isUnitTesting: Bool = false,
        userID: (@Sendable () -> String)? = nil
    ) {
        self.baseURL = baseURL
        self.headers = headers
        self.renewKey = renewKey
        self.coordinateDecimals = coordinateDecimals
        self.isUnitTesting = isUnitTesting
        let identity = UserIdentity.ofLaunch(isUnitTesting: isUnitTesting)
        self.userID = userID ?? { identity.current }
    }
}

extension AppConfiguration {
    /// Makes the configuration of this launch.
    ///
    /// A UI test sets `launchArguments` or `launchEnvironment`. An argument takes precedence over the environment.
    ///
    /// | argument | environment | meaning |
    /// |---|---|---|
    /// | `-POI_BASE_URL URL` | `POI_BASE_URL` | the service, instead of the app's own |
    /// | `-POI_HEADERS TEXT` | `POI_HEADERS` | headers for all endpoints, one `Name: value` a line |
    /// | `-IS_UNIT_TESTING YES` | `IS_UNIT_TESTING` | `YES`, `true` or `1`; `NO`, `false` or `0` |
    ///
    /// The headers of the launch replace the app's own headers of the same name.
    ///
    /// - Parameters:
    ///   - defaultBaseURL: the service to use where the launch names none.
    ///   - headers: the app's own headers.
    ///   - renewKey: renews the app's own key after the service has refused it with 401; nil leaves it at that.
    ///   - coordinateDecimals: the number of decimals of the coordinates in requests; nil sends coordinates as they are.
    ///   - arguments: the launch arguments, with or without the program's name.
    ///   - environment: the environment variables.
    /// - Throws: `AppConfigurationError` for a value that can't be used.
    public init(
        defaultBaseURL: URL, headers: @escaping HeaderProvider = { _ in [:] }, renewKey: KeyRenewer? = nil,
        coordinateDecimals: Int? = 5,
        arguments: [String] = ProcessInfo.processInfo.arguments,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(AppConfigurationError) {
        let settings = LaunchSettings(arguments: arguments, environment: environment)
        let launchHeaders = try settings.headers()
        self.init(
            baseURL: try settings.baseURL() ?? defaultBaseURL,
            headers: { try await headers($0).merging(launchHeaders, uniquingKeysWith: { $1 }) },
            renewKey: renewKey, coordinateDecimals: coordinateDecimals,
            isUnitTesting: try settings.isUnitTesting())
    }
}

/// The settings in the arguments and the environment of a launch.
struct LaunchSettings {
    let arguments: [String]
    let environment: [String: String]

    func baseURL() throws(AppConfigurationError) -> URL? {
        let name = "POI_BASE_URL"
        guard let text = try value(name) else { return nil }
        guard let url = URL(string: text), ["http", "https"].contains(url.scheme?.lowercased()),
            url.host?.isEmpty == false
        else { throw .invalidValue(name: name, expected: "an absolute http or https URL") }
        return url
    }

    func headers() throws(AppConfigurationError) -> [String: String] {
        let name = "POI_HEADERS"
        guard let text = try value(name) else { return [:] }
        var headers: [String: String] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty, parts[0].utf8.allSatisfy(Self.isTokenByte) else {
                throw .invalidValue(name: name, expected: "lines of the form Name: value")
            }
            headers[String(parts[0])] = parts[1].trimmingCharacters(in: .whitespaces)
        }
        return headers
    }

    func isUnitTesting() throws(AppConfigurationError) -> Bool {
        let name = "IS_UNIT_TESTING"
        switch try value(name)?.lowercased() {
        case nil, "no", "false", "0": return false
        case "yes", "true", "1": return true
        default: throw .invalidValue(name: name, expected: "YES or NO")
        }
    }

    /// Returns the value of an argument, else of a variable. An empty variable counts as none.
    private func value(_ name: String) throws(AppConfigurationError) -> String? {
        if let index = arguments.lastIndex(of: "-" + name) {
            guard arguments.indices.contains(index + 1) else { throw .missingValue(name: "-" + name) }
            return arguments[index + 1]
        }
        return environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Whether a header's name may contain the byte (RFC 9110, section 5.6.2).
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}

/// A launch argument or an environment variable that can't be used.
public enum AppConfigurationError: Error, Hashable, Sendable {
    /// The argument is the last one and has no value.
    case missingValue(name: String)
    /// The value is not `expected`, which describes the right ones.
    case invalidValue(name: String, expected: String)
}

extension AppConfigurationError: LocalizedError {
    /// A sentence for whoever starts the app with settings, in English. It doesn't contain the value, which may be a secret.
    public var errorDescription: String? {
        switch self {
        case .missingValue(let name): "\(name) has no value."
        case .invalidValue(let name, let expected): "\(name) must be \(expected)."
        }
    }
}
