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

/// What a client sends on one connection, and all that it gets: a row of the table in `Table/`.
package struct WireCase: Sendable, CustomStringConvertible {
    /// What the client sends.
    package let request: [UInt8]
    /// All responses that it gets, in their order.
    package let responses: [Response]
    /// What becomes of the connection.
    package let connection: Connection
    /// The section of the RFC, and the row's place: `RFC 9112, 6.2 (rfc9112-06-body.md:12)`.
    package let description: String

    /// A response, apart from what every response has: the date, the request's id, the length of its text.
    package struct Response: Sendable {
        package let status: Int
        /// The lines of the fields that not every response has, without line ends.
        package let fields: [String]
        /// The body's text, without the line feed at its end; nil for a response that can have no body.
        package let text: String?
        /// Whether the body is left out, as in a response to `HEAD`.
        package let isWithoutBody: Bool

        /// A response with status 200.
        package static func ok(_ text: String) -> Response {
            Response(status: 200, fields: [], text: text, isWithoutBody: false)
        }
    }

    package enum Connection: String, Sendable {
        /// It stays open, and the next request may come.
        case open
        /// It stays open, and the server waits for the rest of a request.
        case waits
        /// The server closes it.
        case closed
    }
}

/// A mistake in a file of the table.
package struct WireTableError: Error, CustomStringConvertible {
    package let description: String
}

/// The notation of bytes and responses in the table's cells; `Table/README.md` describes it.
enum WireNotation {
    /// The bytes that a cell stands for.
    static func bytes(_ cell: Substring) throws(WireTableError) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = cell
        while let character = rest.popFirst() {
            switch character {
            case "⏎": bytes += [0x0D, 0x0A]
            case "\\": bytes.append(try escapedByte(&rest))
            case "‹": bytes += try repetition(&rest)
            case "␀"..."␠":
                let scalar = character.unicodeScalars[character.unicodeScalars.startIndex]
                bytes.append(UInt8(truncatingIfNeeded: scalar.value - 0x2400))
            case "␡": bytes.append(0x7F)
            default: bytes += Array(String(character).utf8)
            }
        }
        return bytes
    }

    /// `xFF`, behind its backslash.
    private static func escapedByte(_ rest: inout Substring) throws(WireTableError) -> UInt8 {
        let escape = String(rest.prefix(3))
        guard escape.count == 3, escape.hasPrefix("x"), let byte = UInt8(escape.dropFirst(), radix: 16) else {
            throw WireTableError(description: "not an escape: \\\(escape)")
        }
        rest.removeFirst(3)
        return byte
    }

    /// `60×a›`, behind its opening sign.
    private static func repetition(_ rest: inout Substring) throws(WireTableError) -> [UInt8] {
        let inner = String(rest.prefix { $0 != "›" })
        let parts = inner.split(separator: "×", maxSplits: 1)
        guard rest.count > inner.count, parts.count == 2, let count = Int(parts[0]), count > 0 else {
            throw WireTableError(description: "not a repetition: ‹\(inner)")
        }
        rest.removeFirst(inner.count + 1)
        let unit = try bytes(parts[1])
        return (0..<count).flatMap { _ in unit }
    }

    /// A response: its status, its text, and in parentheses fields and `no body`.
    static func response(_ cell: Substring) throws(WireTableError) -> WireCase.Response {
        var words = cell.split(separator: " ", maxSplits: 1)[...]
        guard let word = words.popFirst(), let status = Int(word) else {
            throw WireTableError(description: "a response without a status: \(cell)")
        }
        var text = words.first.map(String.init) ?? ""
        var fields: [String] = []
        while text.hasSuffix(")"), let opening = text.lastIndex(of: "(") {
            fields.insert(String(text[text.index(after: opening)...].dropLast()), at: 0)
            text = String(text[..<opening])
            while text.hasSuffix(" ") { text.removeLast() }
        }
        let isWithoutBody = fields.contains("no body")
        let decoded = String(decoding: try bytes(text[...]), as: UTF8.self)
        return WireCase.Response(
            status: status, fields: fields.filter { $0 != "no body" }, text: decoded.isEmpty ? nil : decoded,
            isWithoutBody: isWithoutBody)
    }
}
