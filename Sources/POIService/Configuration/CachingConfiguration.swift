/// How long answers may be kept.
public struct CachingConfiguration: Hashable, Sendable {
    /// For answers to somebody's position, which only that client keeps.
    public var privateMaxAgeSeconds: Int
    /// For all other data, pages and documents, which shared caches may keep.
    public var publicMaxAgeSeconds: Int

    /// Reads the settings; a part of a second counts as none.
    ///
    /// - Throws: the first setting that can't be used.
    public init(from reader: inout SettingsReader) throws(ConfigurationError) {
        let ages = Duration.zero ... .seconds(365 * 86_400)
        privateMaxAgeSeconds = Self.seconds(
            try reader.read(
                .duration(
                    "POI_CACHE_PRIVATE_MAX_AGE", "how long a client may keep answers to a position", in: ages,
                    default: "60s")))
        publicMaxAgeSeconds = Self.seconds(
            try reader.read(
                .duration(
                    "POI_CACHE_PUBLIC_MAX_AGE", "how long anybody may keep other answers", in: ages,
                    default: "60s")))
    }

    private static func seconds(_ duration: Duration) -> Int { Int(duration.components.seconds) }
}
