import Foundation
import PointsOfInterestAPI
@testable import Program
import Testing

@testable import POIService

@Suite("The settings of events")
struct EventsConfigurationTests {
    private static let key = "0123456789abcdef0123456789abcdef"

    private func configuration(_ environment: [String: String]) throws -> EventsConfiguration {
        var reader = SettingsReader(flags: [:], environment: environment)
        return try EventsConfiguration(from: &reader)
    }

    private func withFile<Value>(_ text: String, _ body: (String) throws -> Value) throws -> Value {
        let path = FileManager.default.temporaryDirectory.appending(path: "poi-\(UUID())").path
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try body(path)
    }

    @Test("The defaults are no key, no hash and the package's definitions")
    func defaults() throws {
        let configuration = try configuration([:])
        #expect(configuration.keys.isEmpty)
        #expect(configuration.hashKey == nil)
        #expect(configuration.catalog == .builtIn)
    }

    @Test("A secret comes from the environment, or from a file, which no setting but a secret has")
    func secretFiles() throws {
        let settings = ["POI_EVENTS_HASH_KEY", "POI_EVENTS_KEYS", "DATABASE_URL", "POI_API_KEYS"]
        #expect(settings.allSatisfy { SettingName(rawValue: $0)?.file?.rawValue == $0 + "_FILE" })
        let fromEnvironment = try configuration([
            "POI_EVENTS_HASH_KEY": Self.key, "POI_EVENTS_KEYS": Self.key,
        ])
        let message = Array("user".utf8)
        let code = try #require(fromEnvironment.hashKey?.hash.code(of: message))
        for text in [Self.key, Self.key + "\n"] {
            try withFile(text) { path in
                let fromFile = try configuration([
                    "POI_EVENTS_HASH_KEY_FILE": path, "POI_EVENTS_KEYS_FILE": path,
                ])
                #expect(fromFile.hashKey?.hash.code(of: message) == code)
                #expect(fromFile.keys.count == 1)
            }
        }
        let setting = Setting.text(.port, "not a secret")
        var reader = SettingsReader(flags: [:], environment: ["PORT_FILE": "/nowhere"])
        #expect(try reader.readIfPresent(setting) == nil)
    }

    @Test("A key that is short, missing or given twice is refused, and never shown")
    func badHashKeys() throws {
        let short = String(Self.key.dropLast())
        try withFile(short) { path in
            for environment in [
                ["POI_EVENTS_HASH_KEY": short], ["POI_EVENTS_HASH_KEY_FILE": path],
                ["POI_EVENTS_HASH_KEY_FILE": path + "-not"],
                ["POI_EVENTS_HASH_KEY_FILE": path, "POI_EVENTS_HASH_KEY": Self.key],
                ["POI_EVENTS_HASH_KEY_FILE": "/dev/zero"], ["POI_EVENTS_HASH_KEY_FILE": "/"],
            ] {
                let error = #expect(throws: ConfigurationError.self) { try configuration(environment) }
                #expect(error.map { "\($0)".contains("POI_EVENTS_HASH_KEY") } == true)
                #expect(error.map { "\($0)".contains(short) } == false)
            }
        }
    }

    @Test("A team's own definitions are added; a faulty one is refused, with the file's name")
    func folder() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "poi-events-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let error = #expect(throws: ConfigurationError.self) {
            try configuration(["POI_EVENTS_DIR": folder.path])
        }
        #expect(error.map { "\($0)".hasPrefix("POI_EVENTS_DIR=") } == true)
        let definition = """
            {"title": "coupon-shown", "description": "A coupon was shown.", "type": "object", \
            "properties": {"code": {"type": "string", "description": "Which one."}}, "required": ["code"]}
            """
        try definition.write(
            to: folder.appending(path: "coupon-shown.json"), atomically: true, encoding: .utf8)
        let catalog = try configuration(["POI_EVENTS_DIR": folder.path]).catalog
        let own = catalog.definitions.filter { $0.name == "coupon-shown" }
        #expect(own.map { $0.parameters.map(\.name) } == [["code"]])
        #expect(catalog.definitions.contains { $0.name == "launch" })
        try "{".write(to: folder.appending(path: "broken.json"), atomically: true, encoding: .utf8)
        let fault = #expect(throws: ConfigurationError.self) {
            try configuration(["POI_EVENTS_DIR": folder.path])
        }
        #expect(fault.map { "\($0)".contains("broken.json") } == true)
    }
}
