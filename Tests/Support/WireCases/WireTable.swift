import Foundation

/// The table of wire cases: the files in `Table/`, in Markdown.
package enum WireTable {
    /// Reads every row of every file.
    ///
    /// - Throws: ``WireTableError`` for a row that isn't in the notation of `Table/README.md`.
    package static func cases() throws -> [WireCase] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Table")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.lastPathComponent.hasPrefix("rfc") }
            .sorted { $0.lastPathComponent < $1.lastPathComponent }
        return try files.flatMap { file in
            var reader = WireTableReader(fileName: file.lastPathComponent)
            for line in try String(contentsOf: file, encoding: .utf8).split(
                separator: "\n", omittingEmptySubsequences: false)
            {
                try reader.read(line)
            }
            return reader.cases
        }
    }
}

/// Reads one file, line by line.
private struct WireTableReader {
    let fileName: String
    private(set) var cases: [WireCase] = []
    private var document = ""
    private var section = ""
    /// What the cells of the current table's first column are put into; nil outside of tables.
    private var frame: String?
    private var lineNumber = 0

    init(fileName: String) {
        self.fileName = fileName
    }

    mutating func read(_ line: Substring) throws(WireTableError) {
        lineNumber += 1
        if line.hasPrefix("# ") {
            document = String(line.dropFirst(2).prefix { $0 != ":" })
        } else if line.hasPrefix("## ") {
            section = String(line.dropFirst(3).prefix { $0 != " " })
        }
        guard line.hasPrefix("|") else {
            frame = nil
            return
        }
        if line.hasPrefix("|---") { return }
        do throws(WireTableError) {
            try readRow(line)
        } catch {
            throw WireTableError(description: "\(fileName):\(lineNumber): \(error)")
        }
    }

    private mutating func readRow(_ line: Substring) throws(WireTableError) {
        let cells = line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
            .map { $0.trimmingCharacters(in: .whitespaces) }
        guard cells.count == 4 else { throw WireTableError(description: "a row has four cells") }
        guard let frame else {
            self.frame = try codeSpans(cells[0]).joined()
            guard self.frame?.components(separatedBy: "{}").count == 2 else {
                throw WireTableError(description: "the first cell of a table's head needs one {}")
            }
            return
        }
        guard let connection = WireCase.Connection(rawValue: cells[2]) else {
            throw WireTableError(description: "not what becomes of a connection: \(cells[2])")
        }
        var responses: [WireCase.Response] = []
        for span in try codeSpans(cells[1]) { responses.append(try WireNotation.response(span)) }
        let parts = frame.components(separatedBy: "{}")
        let request = parts[0] + (try codeSpans(cells[0]).joined()) + parts[1]
        cases.append(
            WireCase(
                request: try WireNotation.bytes(request[...]), responses: responses, connection: connection,
                description: "\(document), \(section) (\(fileName):\(lineNumber))"))
    }

    /// The texts between backticks. Nothing else may be in the cell but blanks.
    private func codeSpans(_ cell: String) throws(WireTableError) -> [Substring] {
        let parts = cell.split(separator: "`", omittingEmptySubsequences: false)
        let outside = stride(from: 0, to: parts.count, by: 2).map { parts[$0] }
        guard parts.count % 2 == 1, outside.allSatisfy({ $0.allSatisfy { $0 == " " } }) else {
            throw WireTableError(description: "a cell that isn't between backticks: \(cell)")
        }
        return stride(from: 1, to: parts.count, by: 2).map { parts[$0] }
    }
}
