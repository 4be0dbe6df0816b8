import Foundation
import PointsOfInterestClient

/// The events of a run, each known by its number: the same number is the same event, whichever process made it.
struct NumberedEvents {
    let user: String
    let time: Double

    /// The event of a number: `additional` is the number, and the id has it in its last eight bytes.
    func event(_ number: Int) -> TrackedEvent {
        TrackedEvent(
            id: id(number), userID: user, time: time + Double(number),
            event: .pageView(page: .locationDetail, additional: String(number)))
    }

    /// The number of an id that `event` made.
    static func number(of id: UUID) -> Int {
        withUnsafeBytes(of: id.uuid) { Int($0.loadUnaligned(fromByteOffset: 8, as: UInt64.self).bigEndian) }
    }

    private func id(_ number: Int) -> UUID {
        // The user's own first half, so that users don't share ids.
        let name = user.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        var bytes = [UInt8](repeating: 0, count: 16)
        bytes.withUnsafeMutableBytes { bytes in
            bytes.storeBytes(of: name.bigEndian, as: UInt64.self)
            bytes.storeBytes(of: UInt64(number).bigEndian, toByteOffset: 8, as: UInt64.self)
        }
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
