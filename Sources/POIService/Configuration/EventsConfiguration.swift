import PointsOfInterestServerAPI
import Foundation
import Hashing
import PointsOfInterestAPI
import Program

package struct EventsConfiguration: Sendable {
    /// The keys for events; if there are none, as by default, requests need no key.
    package var keys: [AccessKey]
    /// The key of the hash that replaces users' ids; nil to store them as they are.
    package var hashKey: HashKey?
    package var catalog: EventCatalog

    package init(from reader: inout SettingsReader) throws(ConfigurationError) {
        keys = try reader.read(
            .list(
                .eventsKeys, "keys for events; a batch needs one of them", isSecret: true,
                expected: AccessKey.settingForm, element: { AccessKey(settingText: $0) }))
        hashKey = try reader.readIfPresent(.eventsHashKey)
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
package struct HashKey: Sendable, CustomStringConvertible {
    /// The valid lengths of a key, in bytes. A key that is shorter than the hash, which has 32 bytes, would weaken it
    /// (RFC 2104, section 3).
    static let lengths = 32...1024

    let hash: HMAC

    /// Makes a key; nil if it is too short or too long.
    init?(_ bytes: [UInt8]) {
        guard Self.lengths.contains(bytes.count) else { return nil }
        hash = HMAC(key: bytes)
    }

    package var description: String { "(redacted)" }
}

extension Setting where Value == HashKey {
    static var eventsHashKey: Setting {
        let lengths = HashKey.lengths
        return Setting(.eventsHashKey, "key of the hash that replaces users' ids", isSecret: true) {
            (text) throws(SettingRejection) in
            guard let key = HashKey(Array(text.utf8)) else {
                throw SettingRejection(
                    expected: "\(lengths.lowerBound) to \(lengths.upperBound) bytes, from a random source")
            }
            return key
        }
    }
}
