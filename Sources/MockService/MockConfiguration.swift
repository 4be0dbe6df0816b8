import Foundation
import MockServerAPI
import POIService
import Program

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
    private static let settings: Set<SettingName> = [
        .fixtures, .maxSessions, .scenario,
        .host, .port, .maxConnections, .maxInFlight, .shutdownTimeout,
        .ignoredParameters, .cachePrivateMaxAge, .cachePublicMaxAge, .corsOrigins,
        .apiKeys, .eventsKeys, .eventsDir, .rateLimit, .rateBurst,
        .trustedProxies, .accessLog,
        .leafletDirectory, .tilesURL, .tilesAttribution,
        .logFormat, .logClient,
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
            environment: invocation.environment.filter {
                SettingName(rawValue: $0.key).map(Self.settings.contains) ?? false
            })
        let path = try reader.readIfPresent(
            .text(.fixtures, "file with the places to serve; the seed by default"))
        scenario = try reader.read(
            .choice(.scenario, "situation that sessions begin with", default: .normal))
        maximumSessionCount = try reader.read(
            .integer(.maxSessions, "maximum number of sessions at a time", in: 1...1000, default: 64))
        service = try ServiceConfiguration(from: &reader, processorCount: 1, isDevelopment: true)
        try reader.refuseUnknownFlags()
        for entry in reader.entries where entry.origin == "flag" {
            guard Self.settings.contains(entry.name) else {
                throw ConfigurationError(
                    "\(entry.name.flag) means nothing to poi-mock, which has no database and one event loop")
            }
        }
        summary = reader.summary { Self.settings.contains($0.name) }
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
