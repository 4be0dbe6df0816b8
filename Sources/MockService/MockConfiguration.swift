import Foundation
import POIService

/// The settings of the mock, validated.
package struct MockConfiguration: Sendable {
    /// Those of the real server, as far as they mean something here.
    package let service: ServiceConfiguration
    /// What every session begins with.
    package let fixtures: Fixtures
    /// The most sessions there may be.
    package let maximumSessionCount: Int
    /// The settings in effect, a line each, with where they came from.
    package let summary: String

    /// The mock's own settings, and those of `poi serve` that it has too.
    private static let variables: Set = [
        "POI_FIXTURES", "POI_MAX_SESSIONS",
        "HOST", "PORT", "POI_MAX_CONNECTIONS", "POI_MAX_IN_FLIGHT", "POI_SHUTDOWN_TIMEOUT",
        "POI_IGNORED_PARAMETERS", "POI_CACHE_PRIVATE_MAX_AGE", "POI_CACHE_PUBLIC_MAX_AGE", "POI_CORS_ORIGINS",
        "POI_API_KEYS", "POI_EVENTS_KEYS", "POI_EVENTS_DIR", "POI_RATE_LIMIT", "POI_RATE_BURST",
        "POI_TRUSTED_PROXIES", "POI_ACCESS_LOG",
        "POI_LOG_FORMAT", "POI_LOG_CLIENT",
    ]

    /// Reads the settings, and the fixtures of `--fixtures`.
    ///
    /// Of the environment only what means something here is looked at: a shell may have the rest for a server.
    /// - Throws: the first setting that can't be used.
    package init(_ invocation: Invocation) throws(ConfigurationError) {
        var reader = SettingsReader(
            flags: invocation.line.options,
            environment: invocation.environment.filter { Self.variables.contains($0.key) })
        let path = try reader.readIfPresent(
            .text("POI_FIXTURES", "file with the places to answer with; the seed without it"))
        maximumSessionCount = try reader.read(
            .integer("POI_MAX_SESSIONS", "most sessions at a time", in: 1...1000, default: 64))
        service = try ServiceConfiguration(from: &reader, processorCount: 1, isDevelopment: true)
        try reader.refuseUnknownFlags()
        for entry in reader.entries where entry.origin == "flag" {
            guard Self.variables.contains(entry.variable) else {
                throw ConfigurationError(
                    "\(entry.flag) means nothing to poi-mock, which has no database and one loop")
            }
        }
        summary = reader.summary { Self.variables.contains($0.variable) }
        fixtures = try Self.fixtures(at: path)
    }

    private static func fixtures(at path: String?) throws(ConfigurationError) -> Fixtures {
        do {
            guard let path else { return try .seed() }
            return try Fixtures(json: Array(Data(contentsOf: URL(filePath: path))))
        } catch let error as FixtureError {
            throw ConfigurationError("--fixtures \(path ?? "(the seed)"): \(error)")
        } catch {
            throw ConfigurationError("--fixtures \(path ?? ""): can't be read: \(error.localizedDescription)")
        }
    }
}
