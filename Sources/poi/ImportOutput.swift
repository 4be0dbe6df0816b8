import Foundation
import Locking
import POIDatabase
import PlaceImport
import Program

/// The rows that an import has rejected, as CSV (RFC 4180): `file,line,reason,id,detail`.
final class RejectsFile: Sendable {
    private let file: OutputFile

    /// Opens it and writes the header.
    ///
    /// - Throws: `OutputFile.Failure`.
    init(path: String) throws {
        file = try OutputFile(path: path)
        try write(["file", "line", "reason", "id", "detail"])
    }

    /// Adds a row of a file. One thread at a time.
    ///
    /// - Throws: `OutputFile.Failure`.
    func write(_ row: RejectedRow, of path: String) throws {
        try write([path, String(row.line), row.reason.rawValue, row.sourceID ?? "", row.detail])
    }

    /// Gives the file its name.
    ///
    /// - Throws: `OutputFile.Failure`.
    func finish() throws { try file.finish() }

    private func write(_ fields: [String]) throws {
        let line = fields.map(Self.quoted).joined(separator: ",") + "\r\n"
        try Array(line.utf8).withUnsafeBytes { try file.write($0) }
    }

    private static func quoted(_ field: String) -> String {
        let isPlain = field.utf8.allSatisfy { !"\",\r\n".utf8.contains($0) }
        // Scalar by scalar: to Swift, a quotation mark with an accent is one character.
        let doubled = field.unicodeScalars.flatMap { $0 == "\"" ? [$0, $0] : [$0] }
        return isPlain ? field : "\"" + String(String.UnicodeScalarView(doubled)) + "\""
    }
}

/// Shows how far an import is: on one line of a terminal, elsewhere by a line every five seconds.
final class ImportProgressDisplay: Sendable {
    private struct State {
        var phase = ImportProgress.Phase.reading
        var phaseStart = ContinuousClock.now
        var lastShown = ContinuousClock.now
        var isLineOpen = false
    }

    private static let interval = Duration.seconds(5)
    /// Returns to the line's start and clears the line (ECMA-48, EL).
    private static let newLine = "\r\u{1b}[K"

    private let isTerminal = isatty(STDERR_FILENO) == 1
    private let state = Lock(State())

    /// Shows the progress of now.
    func show(_ progress: ImportProgress) {
        state.withLock { state in
            let now = ContinuousClock.now
            if progress.phase != state.phase { (state.phase, state.phaseStart) = (progress.phase, now) }
            let text = progress.text(after: now - state.phaseStart)
            if isTerminal {
                Terminal.showProgress(Self.newLine + text)
                state.isLineOpen = true
            } else if now - state.lastShown >= Self.interval {
                Terminal.printError(text)
                state.lastShown = now
            }
        }
    }

    /// Clears the terminal's line, for other output.
    func endLine() {
        state.withLock { state in
            if state.isLineOpen { Terminal.showProgress(Self.newLine) }
            state.isLineOpen = false
        }
    }
}
