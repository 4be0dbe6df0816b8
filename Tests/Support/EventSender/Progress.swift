import Foundation

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
