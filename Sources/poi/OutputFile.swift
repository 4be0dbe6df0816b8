import Foundation

/// Where a command's data go: standard output, or a file that is there only once it is whole.
///
/// Unchecked, since a command has it to itself: its loop writes while its thread waits.
final class OutputFile: @unchecked Sendable {
    /// Why it couldn't be written.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let path: String?
    private let descriptor: Int32
    private var waiting: [UInt8] = []
    private var isFinished = false

    private static let capacity = 64 * 1024

    /// Opens it; nil is standard output.
    init(path: String?) throws {
        self.path = path
        guard let path else {
            descriptor = STDOUT_FILENO
            return
        }
        descriptor = open(Self.unfinished(path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure(path) }
    }

    /// Appends bytes.
    func write(_ bytes: UnsafeRawBufferPointer) throws {
        waiting.append(contentsOf: bytes)
        if waiting.count >= Self.capacity { try flush() }
    }

    /// Writes what is still to be written, and gives the file its name.
    func finish() throws {
        try flush()
        guard let path else { return }
        guard fsync(descriptor) == 0, rename(Self.unfinished(path), path) == 0 else {
            throw Self.failure(path)
        }
        isFinished = true
    }

    deinit {
        guard let path else { return }
        close(descriptor)
        if !isFinished { unlink(Self.unfinished(path)) }
    }

    private func flush() throws {
        var rest = waiting[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw Self.failure(path ?? "standard output") }
            rest = rest.dropFirst(count)
        }
        waiting.removeAll(keepingCapacity: true)
    }

    private static func unfinished(_ path: String) -> String { path + ".part" }

    private static func failure(_ name: String) -> Failure {
        Failure(description: "\(name): \(String(cString: strerror(errno)))")
    }
}
