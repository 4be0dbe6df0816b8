import Foundation

/// What an app is told at its launch: which service to talk to, and whether it only hosts unit tests.
public struct AppConfiguration: Sendable {
    /// Where the service is, with a path prefix if it has one.
    public var baseURL: URL
    /// The headers of each request, beside those that it has itself. Asked before each, since a token may have
    /// to be fetched; an error fails the request.
    public var headers: HeaderProvider
    /// Whether the app only hosts unit tests, and should leave out what those don't need: its first load, for
    /// instance.
    public var isUnitTesting: Bool
    /// Who uses the app, for its tracking events: 1 to 200 bytes. Asked for each event; by default an id that each
    /// launch makes anew.
    public var userID: @Sendable () -> String

    /// Makes a configuration.
    public init(
        baseURL: URL, headers: @escaping HeaderProvider = { [:] }, isUnitTesting: Bool = false,
        userID: (@Sendable () -> String)? = nil
    ) {
        self.baseURL = baseURL
        self.headers = headers
        self.isUnitTesting = isUnitTesting
        let launchID = UUID().uuidString
        self.userID = userID ?? { launchID }
    }
}

extension AppConfiguration {
    /// Makes the configuration of this launch.
    ///
    /// A UI test sets `launchArguments` or `launchEnvironment`; an argument counts before the environment.
    ///
    /// | argument | environment | meaning |
    /// |---|---|---|
    /// | `-POI_BASE_URL URL` | `POI_BASE_URL` | the service, instead of the app's own |
    /// | `-POI_HEADERS TEXT` | `POI_HEADERS` | headers, `Name: value` a line, in place of the app's own of that name |
    /// | `-IS_UNIT_TESTING YES` | `IS_UNIT_TESTING` | `YES`, `true` or `1`; `NO`, `false` or `0` |
    ///
    /// - Parameters:
    ///   - defaultBaseURL: the service that the app talks to where its launch names none.
    ///   - headers: the app's own headers.
    ///   - arguments: the launch arguments, the program's name among them or not.
    ///   - environment: the environment's variables.
    /// - Throws: `AppConfigurationError` for a value that can't be used; there is no guessing.
    public init(
        defaultBaseURL: URL, headers: @escaping HeaderProvider = { [:] },
        arguments: [String] = ProcessInfo.processInfo.arguments,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(AppConfigurationError) {
        let settings = LaunchSettings(arguments: arguments, environment: environment)
        let launchHeaders = try settings.headers()
        self.init(
            baseURL: try settings.baseURL() ?? defaultBaseURL,
            headers: { try await headers().merging(launchHeaders, uniquingKeysWith: { $1 }) },
            isUnitTesting: try settings.isUnitTesting())
    }
}
