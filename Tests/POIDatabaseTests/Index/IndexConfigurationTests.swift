@testable import Program
import Testing

@testable import POIDatabase

/// The settings of the places in memory.
@Suite("The index's settings")
struct IndexConfigurationTests {
    private func configuration(_ environment: [String: String]) throws -> IndexConfiguration {
        var reader = SettingsReader(flags: [:], environment: environment)
        return try DatabaseConfiguration(from: &reader).index
    }

    @Test("Places are kept in memory while they fit into a part of it, which --print-config shows")
    func defaults() throws {
        let index = try configuration([:])
        #expect(index.use == .auto)
        let limit = MemoryLimit()
        #expect(index.maximumBytes == limit.bytes / (limit.file == nil ? 4 : 2))
        var reader = SettingsReader(flags: [:], environment: [:])
        _ = try IndexConfiguration(from: &reader)
        let shown = "POI_INDEX_MAX_MEMORY=\(index.maximumBytes >> 20)MiB  # \(index.maximumOrigin)"
        #expect(reader.summary.contains(shown))
        #expect(index.maximumOrigin.contains("\(limit.bytes >> 20) MiB"))
    }

    @Test(
        "Memory is a number of bytes, or has a binary unit",
        arguments: [
            ("2097152", 2_097_152), ("2048KiB", 2_097_152), ("512MiB", 512 << 20), ("2GiB", 2 << 30),
            ("1TiB", 1 << 40),
        ])
    func memory(text: String, bytes: Int) throws {
        let index = try configuration(["POI_INDEX": "on", "POI_INDEX_MAX_MEMORY": text])
        #expect(index.use == .on)
        #expect(index.maximumBytes == bytes)
        #expect(index.maximumOrigin == "POI_INDEX_MAX_MEMORY")
        #expect(index.fits(Int(Double(bytes) / 2.11)))
        #expect(!index.fits(Int(Double(bytes) / 2.09)))
    }

    @Test(
        "An invalid setting of the index is refused with one line",
        arguments: [
            ("POI_INDEX", "yes", "POI_INDEX=yes: expected one of auto, on, off"),
            (
                "POI_INDEX_MAX_MEMORY", "2G",
                "POI_INDEX_MAX_MEMORY=2G: expected bytes, such as 512MiB or 2GiB, at least 1048576"
            ),
            (
                "POI_INDEX_MAX_MEMORY", "99999999999999999GiB",
                "POI_INDEX_MAX_MEMORY=99999999999999999GiB: expected bytes, such as 512MiB or 2GiB, at least 1048576"
            ),
            (
                "POI_INDEX_MAX_MEMORY", "1KiB",
                "POI_INDEX_MAX_MEMORY=1KiB: expected bytes, such as 512MiB or 2GiB, at least 1048576"
            ),
        ])
    func refusal(variable: String, value: String, line: String) {
        let error = #expect(throws: ConfigurationError.self) { try configuration([variable: value]) }
        #expect(error?.description == line)
    }
}
