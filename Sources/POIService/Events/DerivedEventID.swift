import Hashing
import PointsOfInterestAPI

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The id of an event that came without one: a hash of its content, so that the same event sent again is the same.
enum DerivedEventID {
    /// A UUID of version 8 (RFC 9562, section 5.8).
    ///
    /// - Parameter userID: as it is stored: where that is a keyed hash, nobody without the key can find out by
    ///   trying user ids whose event this is.
    static func id(of event: ReceivedEvent, userID: String, timeMicroseconds: Int64) -> UUID {
        var hash = SHA256()
        // Each part behind its length, so that no two contents are the same bytes.
        for part in [ArraySlice(userID.utf8), ArraySlice(event.name.utf8), event.value] {
            hash.absorb(bigEndian(Int64(part.count)))
            hash.absorb(part)
        }
        hash.absorb(bigEndian(timeMicroseconds))
        var bytes = hash.digest()
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    private static func bigEndian(_ value: Int64) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }
}
