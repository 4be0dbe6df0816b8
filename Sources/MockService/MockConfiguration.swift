import Foundation
import MockServerAPI
import POIService

/// The mock's validated settings.
package struct MockConfiguration: Sendable {
    /// The settings that it has in common with `poi serve`.
    package let service: ServiceConfiguration
    /// The places that every session begins with.
    package let fixtures: Fixtures
    /// The situation that every session begins with, and that the service without a prefix is in.
    package let scenario: MockScenario
    /// The maximum number of sessions at a time.
    package let maximumSessionCount: Int
    /// The settings in effect and where they came from, one a line.
    package let summary: String

    /// The mock's own settings, and those of `poi serve` that it has as well.
    private static let variables: Set = [
        "POI_FIXTURES", "POI_MAX_SESSIONS", "POI_SCENARIO",
        "HOST", "PORT", "POI_MAX_CONNECTIONS", "POI_MAX_IN_FLIGHT", "POI_SHUTDOWN_TIMEOUT",
        "POI_IGNORED_PARAMETERS", "POI_CACHE_PRIVATE_MAX_AGE", "POI_CACHE_PUBLIC_MAX_AGE", "POI_CORS_ORIGINS",
        "POI_API_KEYS", "POI_EVENTS_KEYS", "POI_EVENTS_DIR", "POI_RATE_LIMIT", "POI_RATE_BURST",
        "POI_TRUSTED_PROXIES", "POI_ACCESS_LOG",
        "POI_LEAFLET_DIRECTORY", "POI_TILES_URL", "POI_TILES_ATTRIBUTION",
        "POI_LOG_FORMAT", "POI_LOG_CLIENT",
    ]

    /// Reads the settings, and the file of `--fixtures`.
    ///
    /// Variables of other programs are ignored, since a shell may have them for a server; options of other programs
    /// are refused.
    ///
    /// - Throws: `ConfigurationError` for the first setting that can't be used.
    package init(_ invocation: Invocation) throws(ConfigurationError) {
        var reader = SettingsReader(
            flags: invocation.line.options,
            environment: invocation.environment.filter { Self.variables.contains($0.key) })
        let path = try reader.readIfPresent(
            .text("POI_FIXTURES", "file with the places to serve; the seed by default"))
        scenario = try reader.read(
            .choice("POI_SCENARIO", "situation that sessions begin with", default: .normal))
        maximumSessionCount = try reader.read(
            .integer("POI_MAX_SESSIONS", "maximum number of sessions at a time", in: 1...1000, default: 64))
        service = try ServiceConfiguration(from: &reader, processorCount: 1, isDevelopment: true)
        try reader.refuseUnknownFlags()
        for entry in reader.entries where entry.origin == "flag" {
            guard Self.variables.contains(entry.variable) else {
                throw ConfigurationError(
                    "\(entry.flag) means nothing to poi-mock, which has no database and one event loop")
            }
        }
        summary = reader.summary { Self.variables.contains($0.variable) }
        fixtures = try Self.fixtures(at: path)
    }

    private static func fixtures(at path: String?) throws(ConfigurationError) -> Fixtures {
        do {
            guard let path else { return .seed }
            return try Fixtures(json: Array(Data(contentsOf: URL(filePath: path))))
        } catch let error as FixtureError {
            throw ConfigurationError("--fixtures \(path ?? ""): \(error)")
        } catch {
            throw ConfigurationError("--fixtures \(path ?? ""): can't be read: \(error.localizedDescription)")
        }
    }
}
