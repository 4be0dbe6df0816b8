import Foundation
import Hashing
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

/// The secret with which users' ids become a keyed hash; from the environment, or from a file.
public struct HashKey: Sendable, CustomStringConvertible {
    /// The lengths of a key, in bytes: less than the hash's 32 would weaken it (RFC 2104, section 3).
    static let lengths = 32...1024

    private static let variable = "POI_EVENTS_HASH_KEY"
    private static let fileVariable = "POI_EVENTS_HASH_KEY_FILE"
    private static let form = "\(lengths.lowerBound) to \(lengths.upperBound) bytes, from a random source"

    let hash: HMAC

    /// Makes a key; nil where it is too short or too long.
    init?(_ bytes: [UInt8]) {
        guard Self.lengths.contains(bytes.count) else { return nil }
        hash = HMAC(key: bytes)
    }

    /// Never the key itself.
    public var description: String { "(redacted)" }

    /// Reads the key where one is set.
    ///
    /// - Throws: where it is set in both ways, is too short, or can't be read.
    init?(from reader: inout SettingsReader) throws(ConfigurationError) {
        let key = try reader.readIfPresent(
            Setting(Self.variable, "key of the hash that hides users' ids", isSecret: true) {
                (text) throws(SettingRejection) in
                guard let key = HashKey(Array(text.utf8)) else { throw SettingRejection(expected: Self.form) }
                return key
            })
        let path = try reader.readIfPresent(
            .text(Self.fileVariable, "file with that key, a line feed at its end not counted"))
        guard key == nil || path == nil else {
            throw ConfigurationError("\(Self.variable) and \(Self.fileVariable): expected one of them")
        }
        if let path { self = try Self.read(path) } else if let key { self = key } else { return nil }
    }

    private static func read(_ path: String) throws(ConfigurationError) -> HashKey {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw ConfigurationError("\(fileVariable)=\(path): expected a file that can be read")
        }
        var bytes = Array(data)
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        guard let key = HashKey(bytes) else {
            throw ConfigurationError("\(fileVariable)=\(path): expected \(form)")
        }
        return key
    }
}
