import Foundation
import POIService
import Postgres

extension PostgresUUID {
    /// The same 16 bytes.
    init(_ id: UUID) {
        let halves = withUnsafeBytes(of: id.uuid) { bytes in
            (
                bytes.loadUnaligned(as: UInt64.self),
                bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
            )
        }
        self.init(high: UInt64(bigEndian: halves.0), low: UInt64(bigEndian: halves.1))
    }
}

extension PostgresTimestamp {
    /// The phone's time of an event. What no timestamp can hold is one of the infinities, so that nothing is lost.
    init(_ key: StoredEvent.Key) {
        self =
            PostgresTimestamp(microsecondsSince1970: key.timeMicroseconds)
            ?? (key.timeMicroseconds < 0 ? .minusInfinity : .infinity)
    }
}
