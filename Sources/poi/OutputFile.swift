import Foundation
import POIService

/// Where a command's data go: standard output, a device or a pipe, or a file that is there only once it is whole.
///
/// Unchecked, since a command has it to itself: its loop writes while its thread waits.
final class OutputFile: @unchecked Sendable {
    /// Why it couldn't be written.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// What is called so in an error.
    private let name: String
    private let descriptor: Int32
    /// Where the data will be; nil where they go as they come.
    private let finalPath: String?
    private var waiting: [UInt8] = []
    private var isFinished = false

    private static let capacity = 64 * 1024
    /// Linux follows no more links in a row (path_resolution(7)).
    private static let mostLinks = 40

    /// Opens it.
    ///
    /// A regular file is written beside its place and renamed when it is whole. What is there and is none (a device, a
    /// FIFO) is written into. A link stays, and what it leads to is treated so.
    /// - Parameter path: nil is standard output.
    init(path: String?) throws {
        name = path ?? "standard output"
        guard let path else {
            (descriptor, finalPath) = (STDOUT_FILENO, nil)
            return
        }
        if Self.isWrittenInto(path) {
            finalPath = nil
            // Appending is for a regular file behind `/dev/stdout`, which is to keep what it has.
            descriptor = open(path, O_WRONLY | O_APPEND | O_CLOEXEC)
        } else {
            let target = try Self.target(of: path)
            finalPath = target
            descriptor = open(
                Self.unfinished(target), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
        }
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
        guard let finalPath else { return }
        guard fsync(descriptor) == 0, rename(Self.unfinished(finalPath), finalPath) == 0 else {
            throw Self.failure(name)
        }
        isFinished = true
        // The new name is on disk once its folder is (fsync(2)); not every file system can do that.
        let folder = open(Self.folder(of: finalPath), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if folder >= 0 {
            fsync(folder)
            close(folder)
        }
    }

    deinit {
        if descriptor != STDOUT_FILENO { close(descriptor) }
        if let finalPath, !isFinished { unlink(Self.unfinished(finalPath)) }
    }

    private func flush() throws {
        if let failure = waiting.withUnsafeBytes({ DescriptorOutput.write($0, to: descriptor) }) {
            throw Failure(description: "\(name): \(failure.reason)")
        }
        waiting.removeAll(keepingCapacity: true)
    }

    /// Whether there is something that a new file must not take the place of. `/dev/stdout` and the like lead to open
    /// files, whose names aren't theirs to be given to others.
    private static func isWrittenInto(_ path: String) -> Bool {
        if path == "/dev/stdout" || path == "/dev/stderr" || path.hasPrefix("/dev/fd/")
            || path.hasPrefix("/proc/")
        {
            return true
        }
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
    }

    /// Where the links begin at `path`, if it is one, end. There may be nothing yet.
    private static func target(of path: String) throws -> String {
        var path = path
        for _ in 0..<mostLinks {
            guard let destination = try? FileManager.default.destinationOfSymbolicLink(atPath: path) else {
                return path
            }
            path = destination.hasPrefix("/") ? destination : folder(of: path) + "/" + destination
        }
        throw Failure(description: "\(path): \(String(cString: strerror(ELOOP)))")
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func unfinished(_ path: String) -> String { path + ".part" }

    private static func failure(_ name: String) -> Failure {
        Failure(description: "\(name): \(String(cString: strerror(errno)))")
    }
}
