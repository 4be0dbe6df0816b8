import Foundation
import PointsOfInterestTesting
import Testing

@Suite("An app's configuration")
struct AppConfigurationTests {
    private let appURL: URL

    init() throws {
        appURL = try #require(URL(string: "https://poi.example/api"))
    }

    private func configuration(
        _ arguments: [String] = [], _ environment: [String: String] = [:],
        headers: @escaping HeaderProvider = { _ in [:] }
    ) throws -> AppConfiguration {
        try AppConfiguration(
            defaultBaseURL: appURL, headers: headers, arguments: ["/app"] + arguments,
            environment: environment)
    }

    @Test("The app's own configuration is used where the launch sets nothing")
    func isTheAppsOwn() async throws {
        let configuration = try configuration(headers: { _ in ["Authorization": "Bearer t"] })
        #expect(configuration.baseURL == appURL)
        #expect(try await configuration.headers(.nearbyPlaces) == ["Authorization": "Bearer t"])
        #expect(!configuration.isUnitTesting)
    }

    @Test("The service's address comes from a launch argument, or else from the environment")
    func takesTheAddress() throws {
        let environment = ["POI_BASE_URL": "http://127.0.0.1:8080"]
        let arguments = ["-x", "-POI_BASE_URL", "http://127.0.0.1:9090/~a"]
        #expect(try configuration([], environment).baseURL.absoluteString == "http://127.0.0.1:8080")
        #expect(
            try configuration(arguments, environment).baseURL.absoluteString == "http://127.0.0.1:9090/~a")
        #expect(try configuration([], ["POI_BASE_URL": ""]).baseURL == appURL)
    }

    @Test(
        "A URL that isn't absolute HTTP is refused",
        arguments: ["poi", "ftp://h", "http:", "file:///x", "http:///x", " "])
    func refusesAddresses(text: String) {
        let error = AppConfigurationError.invalidValue(
            name: "POI_BASE_URL", expected: "an absolute http or https URL")
        #expect(throws: error) { try configuration([], ["POI_BASE_URL": text]) }
        #expect(throws: error) { try configuration(["-POI_BASE_URL", text]) }
        #expect(error.localizedDescription == "POI_BASE_URL must be an absolute http or https URL.")
    }

    @Test(
        "A launch argument without its value is refused",
        arguments: ["POI_BASE_URL", "POI_HEADERS", "IS_UNIT_TESTING"])
    func refusesMissingValues(name: String) {
        #expect(throws: AppConfigurationError.missingValue(name: "-" + name)) {
            try configuration(["-" + name], [name: "1"])
        }
    }

    @Test(
        "The setting for unit tests is read from an argument or the environment",
        arguments: [
            ("YES", true), ("yes", true), ("true", true), ("1", true), ("NO", false), ("false", false),
            ("0", false),
        ])
    func knowsUnitTests(text: String, expected: Bool) throws {
        #expect(try configuration([], ["IS_UNIT_TESTING": text]).isUnitTesting == expected)
        #expect(
            try configuration(["-IS_UNIT_TESTING", text], ["IS_UNIT_TESTING": "YES"]).isUnitTesting
                == expected)
    }

    @Test("A value that is neither yes nor no is refused")
    func refusesOtherFlags() {
        #expect(throws: AppConfigurationError.invalidValue(name: "IS_UNIT_TESTING", expected: "YES or NO")) {
            try configuration([], ["IS_UNIT_TESTING": "maybe"])
        }
    }

    @Test("The launch's header fields replace the app's own of the same name")
    func mergesHeaders() async throws {
        let text = "X-Session: a:b\r\nAuthorization:Bearer launch \n\n"
        let configuration = try configuration(
            [], ["POI_HEADERS": text], headers: { _ in ["Authorization": "Bearer app", "X-App": "1"] })
        #expect(
            try await configuration.headers(.nearbyPlaces)
                == ["X-Session": "a:b", "Authorization": "Bearer launch", "X-App": "1"])
    }

    @Test("Malformed headers are refused", arguments: ["Bearer t", ": x", "A b: c", "Ä: x", "A: b\nc"])
    func refusesHeaders(text: String) {
        let error = AppConfigurationError.invalidValue(
            name: "POI_HEADERS", expected: "lines of the form Name: value")
        #expect(throws: error) { try configuration(["-POI_HEADERS", text]) }
        #expect(!error.localizedDescription.contains(text))
    }

    @Test("The error of a token that can't be fetched is thrown")
    func handsOnTokenErrors() async throws {
        let configuration = try configuration(
            [], ["POI_HEADERS": "A: b"], headers: { _ in throw URLError(.userAuthenticationRequired) })
        await #expect(throws: URLError.self) { try await configuration.headers(.nearbyPlaces) }
    }
}
