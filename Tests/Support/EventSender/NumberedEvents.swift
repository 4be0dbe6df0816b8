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
        withUnsafeBytes(of: id.uuid) {
            Int(UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
        }
    }

    private func id(_ number: Int) -> UUID {
        // The user's own first half, so that users don't share ids.
        let name = user.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        var bytes = [UInt8](repeating: 0, count: 16)
        bytes.withUnsafeMutableBytes { bytes in
            bytes.storeBytes(of: name.bigEndian, as: UInt64.self)
            bytes.storeBytes(of: UInt64(number).bigEndian, toByteOffset: 8, as: UInt64.self)
        }
        // As of version 4: those of version 8 are the service's.
        bytes[6] = bytes[6] & 0x0F | 0x40
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}

/// How many events were tracked, in a file: what a run that begins anew goes on from.
///
/// Written after each event, so that at most one is tracked twice where the process is killed between the two; it
/// has the same id then.
final class Progress {
    private let descriptor: Int32
    private(set) var tracked = 0

    init(path: String) throws(SenderError) {
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SenderError("\(path): can't be opened") }
        var number = UInt64(0)
        let count = withUnsafeMutableBytes(of: &number) { pread(descriptor, $0.baseAddress, $0.count, 0) }
        if count == MemoryLayout<UInt64>.size { tracked = Int(number) }
    }

    deinit { close(descriptor) }

    func note(_ number: Int) {
        tracked = number
        var number = UInt64(number)
        withUnsafeBytes(of: &number) { _ = pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    }
}
