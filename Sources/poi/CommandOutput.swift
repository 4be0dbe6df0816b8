import Foundation
import Program

/// Where a command writes its data: standard output, a device or a pipe, or a file that appears only once it is complete.
/// Unchecked, since only one thread uses it at a time: a command's loop writes while its thread waits.
final class OutputFile: @unchecked Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let name: String
    private let descriptor: Int32
    /// The file's name once it is complete; nil where data is written directly.
    private let finalPath: String?
    private var waiting: [UInt8] = []
    private var isFinished = false

    private static let capacity = 64 * 1024
    /// Linux follows no more links in a row (path_resolution(7)).
    private static let maximumLinkCount = 40

    /// A regular file is written under another name beside it, and renamed when it is complete. An existing file of another
    /// kind (a device, a FIFO) is written into. A link stays, and its destination is treated likewise.
    /// - Parameter path: nil is standard output.
    init(path: String?) throws {
        name = path ?? "standard output"
        guard let path else {
            (descriptor, finalPath) = (STDOUT_FILENO, nil)
            return
        }
        if Self.isWrittenInto(path) {
            finalPath = nil
            // Appends, since `/dev/stdout` may be a regular file, whose content must stay.
            descriptor = open(path, O_WRONLY | O_APPEND | O_CLOEXEC)
        } else {
            let target = try Self.target(of: path)
            finalPath = target
            descriptor = open(
                Self.unfinished(target), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
        }
        guard descriptor >= 0 else { throw Self.failure(path) }
    }

    func write(_ bytes: some Sequence<UInt8>) throws {
        waiting.append(contentsOf: bytes)
        if waiting.count >= Self.capacity { try flush() }
    }

    /// Writes the rest, and gives the file its name.
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
        if let failure = DescriptorOutput.write(waiting, to: descriptor) {
            throw Failure(description: "\(name): \(failure.reason)")
        }
        waiting.removeAll(keepingCapacity: true)
    }

    /// Whether there is something that a new file must not replace. `/dev/stdout` and the like lead to files that are open
    /// already, whatever their names are now.
    private static func isWrittenInto(_ path: String) -> Bool {
        if path == "/dev/stdout" || path == "/dev/stderr" || path.hasPrefix("/dev/fd/")
            || path.hasPrefix("/proc/")
        {
            return true
        }
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
    }

    /// Where `path` leads if it is a link, or a chain of links. Nothing need exist there yet.
    private static func target(of path: String) throws -> String {
        var path = path
        for _ in 0..<maximumLinkCount {
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

/// Shows progress on one line of a terminal. Unchecked, since only one thread uses it at a time: a command's loop shows
/// progress while its thread waits.
final class ProgressBar: @unchecked Sendable {
    private let unit: String
    private var shownPerMille = -1
    private var text = ""
    private var isFinished = false

    private static let width = 40

    private init(unit: String) { self.unit = unit }

    /// A bar where standard error is a terminal, else nil.
    static func onTerminal(unit: String) -> ProgressBar? {
        isatty(STDERR_FILENO) == 1 ? ProgressBar(unit: unit) : nil
    }

    var update: @Sendable (_ done: Int, _ total: Int) -> Void { { self.show($0, of: $1) } }

    /// Draws the bar, unless it would look the same.
    private func show(_ done: Int, of total: Int) {
        let perMille = total > 0 ? min(1000, done * 1000 / total) : 1000
        text = Self.line(done, of: total, perMille: perMille, unit: unit)
        guard perMille != shownPerMille else { return }
        shownPerMille = perMille
        write("\r" + text)
    }

    /// Shows the final state and ends the line. Does nothing where nothing was shown, or the second time.
    func finish() {
        guard !isFinished, !text.isEmpty else { return }
        isFinished = true
        write("\r" + text + "\n")
    }

    deinit {
        // An error gets a line of its own.
        if !text.isEmpty, !isFinished { write("\n") }
    }

    private static func line(_ done: Int, of total: Int, perMille: Int, unit: String) -> String {
        let full = perMille * width / 1000
        let bar = String(repeating: "#", count: full) + String(repeating: "-", count: width - full)
        return "[\(bar)] \(perMille / 10) %  \(done) of \(max(done, total)) \(unit)"
    }

    private func write(_ text: String) {
        Terminal.showProgress(text)
    }
}

extension Terminal {
    /// Rows of cells as columns, those of numbers at the right.
    static func table(_ rows: [[String]], numbers: Set<Int> = []) -> String {
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        let lines = rows.map { row in
            let cells = zip(row, widths).enumerated().map { column, cell in
                let blanks = String(repeating: " ", count: cell.1 - cell.0.count)
                return numbers.contains(column) ? blanks + cell.0 : cell.0 + blanks
            }
            let line = cells.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
        return lines.joined(separator: "\n")
    }
}
