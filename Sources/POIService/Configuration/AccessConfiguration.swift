/// Who may ask, and how often.
public struct AccessConfiguration: Sendable {
    /// Origins whose scripts may read answers; none by default.
    public var allowedOrigins: [AllowedOrigin]

    /// Reads the settings.
    ///
    /// - Throws: the first setting that can't be used.
    public init(from reader: inout SettingsReader) throws(ConfigurationError) {
        allowedOrigins = try reader.read(
            .list(
                "POI_CORS_ORIGINS", "origins whose scripts may read answers; * is every one",
                expected: "*, or origins such as https://example.com, without a path, in lower case",
                element: { AllowedOrigin(settingText: $0) }))
    }
}
