import PointsOfInterestAPI

/// What the service does with the app's events.
public struct EventsConfiguration: Sendable {
    /// Keys, one of which a batch needs; none by default, and then it needs none.
    public var keys: [AccessKey]
    /// Hides users' ids behind a keyed hash; nil keeps them as they come.
    public var hashKey: HashKey?
    /// Which events there are.
    public var catalog: EventCatalog

    /// Reads the settings, and the files that they name.
    ///
    /// - Throws: the first setting that can't be used, a file of definitions with a fault included.
    public init(from reader: inout SettingsReader) throws(ConfigurationError) {
        keys = try reader.read(
            .list(
                "POI_EVENTS_KEYS", "keys, one of which a batch of events needs", isSecret: true,
                expected: AccessKey.settingForm, element: { AccessKey(settingText: $0) }))
        hashKey = try HashKey(from: &reader)
        catalog = .builtIn
        if let path = try reader.readIfPresent(
            .text("POI_EVENTS_DIR", "folder of a team's own event definitions"))
        {
            catalog = try Self.catalog(addingFolder: path)
        }
    }

    private static func catalog(addingFolder path: String) throws(ConfigurationError) -> EventCatalog {
        do throws(EventDefinitionError) {
            return try EventCatalog.builtIn.merging(try EventDefinition.read(folder: path))
        } catch {
            throw ConfigurationError("POI_EVENTS_DIR=\(path): \(error)")
        }
    }
}
