/// Where those who run the service reach it.
public struct AdminConfiguration: Hashable, Sendable {
    /// The address of the admin listener.
    public var host: String
    /// Its port, 0 for one that the system chooses; nil where there is no such listener.
    public var port: Int?

    /// Reads the settings.
    ///
    /// - Parameter isDevelopment: whether the system chooses the port by default, so that several run side by side.
    /// - Throws: the first setting that can't be used.
    public init(from reader: inout SettingsReader, isDevelopment: Bool) throws(ConfigurationError) {
        host = try reader.read(
            .text("POI_ADMIN_HOST", "address of the admin listener", default: "127.0.0.1"))
        port = try reader.read(
            Setting<Int?>(
                "POI_ADMIN_PORT", "port of the admin listener; 0 lets the system choose, off is none",
                default: isDevelopment ? "0" : "9464"
            ) { (text) throws(SettingRejection) in
                if text == "off" { return nil }
                guard let port = Int(text), (0...65535).contains(port) else {
                    throw SettingRejection(expected: "a whole number from 0 to 65535, or off")
                }
                return port
            })
    }
}
