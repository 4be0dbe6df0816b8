import Program

/// Whether people may report what is wrong with places.
package struct ReportsConfiguration: Sendable {
    package let isOn: Bool

    init(from reader: inout SettingsReader, isOnByDefault: Bool) throws(ConfigurationError) {
        isOn = try reader.read(
            .flag(.reports, "whether people may report what is wrong with places", default: isOnByDefault))
    }
}
