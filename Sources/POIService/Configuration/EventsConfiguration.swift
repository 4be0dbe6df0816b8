import Foundation
import Hashing
import PointsOfInterestAPI
import Program

/// How the app's events are handled.
public struct EventsConfiguration: Sendable {
    /// The keys for events; if there are none, as by default, requests need no key.
    public var keys: [AccessKey]
    /// The key of the hash that replaces users' ids; nil to store them as they are.
    public var hashKey: HashKey?
    /// The definitions of events.
    public var catalog: EventCatalog

    /// Reads the settings, and the files that they name.
    ///
    /// - Throws: `ConfigurationError` for the first setting or file that can't be used.
    public init(from reader: inout SettingsReader) throws(ConfigurationError) {
        keys = try reader.read(
            .list(
                .eventsKeys, "keys for events; a batch needs one of them", isSecret: true,
                expected: AccessKey.settingForm, element: { AccessKey(settingText: $0) }))
        hashKey = try HashKey(from: &reader)
        catalog = .builtIn
        if let path = try reader.readIfPresent(
            .text(.eventsDir, "folder with a team's own event definitions"))
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

/// The secret key of the hash that replaces users' ids.
public struct HashKey: Sendable, CustomStringConvertible {
    /// The valid lengths of a key, in bytes. A key that is shorter than the hash, which has 32 bytes, would weaken it
    /// (RFC 2104, section 3).
    static let lengths = 32...1024

    private static let variable = SettingName.eventsHashKey
    private static let fileVariable = SettingName.eventsHashKeyFile
    private static let form = "\(lengths.lowerBound) to \(lengths.upperBound) bytes, from a random source"

    let hash: HMAC

    /// Makes a key; nil if it is too short or too long.
    init?(_ bytes: [UInt8]) {
        guard Self.lengths.contains(bytes.count) else { return nil }
        hash = HMAC(key: bytes)
    }

    /// A text without the key.
    public var description: String { "(redacted)" }

    /// Reads the key from its variable or its file; nil if neither is set.
    ///
    /// - Throws: `ConfigurationError` if both are set, if the file can't be read, or if the key's length is invalid.
    init?(from reader: inout SettingsReader) throws(ConfigurationError) {
        let key = try reader.readIfPresent(
            Setting(Self.variable, "key of the hash that replaces users' ids", isSecret: true) {
                (text) throws(SettingRejection) in
                guard let key = HashKey(Array(text.utf8)) else { throw SettingRejection(expected: Self.form) }
                return key
            })
        let path = try reader.readIfPresent(
            .text(Self.fileVariable, "file with that key; a line feed at its end is ignored"))
        guard key == nil || path == nil else {
            throw ConfigurationError("\(Self.variable) and \(Self.fileVariable): expected only one of them")
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
