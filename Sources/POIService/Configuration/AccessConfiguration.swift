/// Who may ask, and how often.
public struct AccessConfiguration: Sendable {
    /// Origins whose scripts may read answers; none by default.
    public var allowedOrigins: [AllowedOrigin]
    /// Keys, one of which a request for data needs; none by default, and then it needs none.
    public var keys: [AccessKey]
    /// How often a client may ask; nil is as often as it likes.
    public var rateLimit: RateLimit?
    /// The most connections that one client, which is no trusted proxy, may have open.
    public var maxConnectionsPerClient: Int
    /// Proxies whose word counts on where a request comes from.
    public var trustedProxies: [AddressRange]

    /// Reads the settings.
    ///
    /// - Throws: the first setting that can't be used.
    public init(from reader: inout SettingsReader) throws(ConfigurationError) {
        allowedOrigins = try reader.read(
            .list(
                "POI_CORS_ORIGINS", "origins whose scripts may read answers; * is every one",
                expected: "*, or origins such as https://example.com, without a path, in lower case",
                element: { AllowedOrigin(settingText: $0) }))
        keys = try reader.read(
            .list(
                "POI_API_KEYS", "keys, one of which a request for data needs", isSecret: true,
                expected: AccessKey.settingForm, element: { AccessKey(settingText: $0) }))
        rateLimit = try reader.readIfPresent(
            Setting("POI_RATE_LIMIT", "how often a client may ask, 20/s for instance") {
                (text) throws(SettingRejection) in
                guard let limit = RateLimit(settingText: text) else {
                    throw SettingRejection(
                        expected: "1 to 1000000 requests a second, minute or hour, such as 20/s")
                }
                return limit
            })
        let burst = try reader.readIfPresent(
            .optionalInteger(
                "POI_RATE_BURST", "requests at once after a pause; as many as in a period", in: 1...1_000_000)
        )
        if let burst {
            guard rateLimit != nil else {
                throw ConfigurationError("POI_RATE_BURST=\(burst): expected POI_RATE_LIMIT to be set too")
            }
            rateLimit?.burst = burst
        }
        maxConnectionsPerClient = try reader.read(
            .integer(
                "POI_MAX_CONNECTIONS_PER_CLIENT", "most open connections of one client", in: 1...1_000_000,
                default: 256))
        trustedProxies = try reader.read(
            .list(
                "POI_TRUSTED_PROXIES", "proxies whose X-Forwarded-For is believed",
                expected: "addresses, or ranges such as 10.0.0.0/8",
                element: { AddressRange(settingText: $0) }))
    }
}
