import PointsOfInterestAPI
import PointsOfInterestServerAPI

/// Writes rejected rows so that a person can mend them, and the same import can read them again.
///
/// The rows of one delimited file become a file like it: its header and its rows, byte for byte, with the columns
/// `rejected_line`, `rejected_reason` and `rejected_detail` before them. They come first, so that they are in their place
/// in rows with too few or too many columns, too. Rows of other formats, and of several files, become objects of JSON on
/// lines, each with such members before its own (RFC 7946, section 6.1).
struct RejectedRows {
    /// What a delimited file begins with.
    static let columns = ["rejected_line", "rejected_reason", "rejected_detail"]
    private static let firstMember = Array("\"rejected_file\"".utf8)
    /// How many bytes tell whether a file has rejected objects.
    static let beginningLength = 64

    /// Whether these bytes begin like a file of rejected objects, also where another program has written them anew.
    static func areBeginning(_ bytes: some Collection<UInt8>) -> Bool {
        let object = bytes.drop { $0 <= 0x20 }
        return object.first == UInt8(ascii: "{")
            && object.dropFirst().drop { $0 <= 0x20 }.starts(with: firstMember)
    }

    /// Whether bytes are the beginning of a delimited file of rejected rows, which is in UTF-8, whatever its rows were in.
    static func areBeginning(ofColumns bytes: some Collection<UInt8>) -> Bool {
        bytes.starts(with: columns[0].utf8)
    }

    /// What a file of objects says of all its rows, since it isn't the file that said it.
    struct Context: Equatable {
        /// The mapping that is usual for the file's format; nil where that is `columns`, or an option names one.
        var mapping: String?
        var referenceSystem: String?
    }

    private let isDelimited: Bool
    private var first: (path: String, context: Context)?

    init(isDelimited: Bool) { self.isDelimited = isDelimited }

    /// The bytes for a row; the first one has the header before it. Throws where rows of two files can't be read as one.
    mutating func bytes(
        of row: RejectedRow, read rows: any RowReader, from path: String, _ context: Context
    ) throws(ImportError) -> [UInt8] {
        let isFirst = first == nil
        if let first, first.context != context {
            throw ImportError(
                "its rejected rows can't be in one file with those of \(first.path), which has another mapping or another "
                    + "coordinate system: import them one after the other, or without --rejects", path: path)
        }
        if isFirst { first = (path, context) }
        if isDelimited, let rows = rows as? CSVReader {
            return (isFirst ? rows.rejectedHeader : []) + rows.rejectedLine(row)
        }
        return Self.object(of: row, read: rows, from: path, context)
    }

    private static func object(
        of row: RejectedRow, read rows: any RowReader, from path: String, _ context: Context
    ) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.name("rejected_file")
        writer.value(path)
        writer.name("rejected_line")
        writer.value(row.line)
        for (name, text) in [
            ("rejected_reason", row.reason.rawValue), ("rejected_detail", row.detail),
            ("rejected_mapping", context.mapping), ("rejected_crs", context.referenceSystem),
        ] {
            guard let text else { continue }
            writer.name(escaping: name)
            writer.value(text)
        }
        let object = rows.rowObject.map { Self.withoutOwnMembers($0) }
        if object == nil, let text = rows.rowText {
            writer.name("rejected_text")
            writer.value(String(decoding: text, as: UTF8.self))
        }
        writer.endObject()
        var bytes = writer.bytes
        if let object {
            bytes.removeLast()
            let isEmpty = object.first { $0 > 0x20 } == UInt8(ascii: "}")
            if !isEmpty { bytes.append(UInt8(ascii: ",")) }
            // Between members, line ends mean nothing; within texts there must be none.
            bytes += object.map { $0 == 0x0a || $0 == 0x0d ? 0x20 : $0 }
        }
        return bytes + [0x0a]
    }

    /// What follows the brace of an object; of one that was rejected before, what follows the reasons of then.
    private static func withoutOwnMembers(_ object: [UInt8]) -> ArraySlice<UInt8> {
        guard areBeginning(object) else { return object.dropFirst() }
        return object.withScanner { scanner in
            _ = scanner.take(UInt8(ascii: "{"))
            scanner.skipBlanks()
            var end = scanner.position
            do throws(JSONScanner.SyntaxError) {
                while object[end...].starts(with: "\"rejected_".utf8),
                    !object[end...].starts(with: "\"rejected_text\"".utf8)
                {
                    _ = try scanner.string()
                    scanner.skipBlanks()
                    guard scanner.take(UInt8(ascii: ":")) else { break }
                    scanner.skipBlanks()
                    try scanner.skipValue()
                    scanner.skipBlanks()
                    if scanner.take(UInt8(ascii: ",")) { scanner.skipBlanks() }
                    end = scanner.position
                }
            } catch {
                // What isn't JSON stays.
            }
            return object[end...]
        }
    }
}

// MARK: - Delimited rows

extension CSVReader {
    fileprivate var rejectedHeader: [UInt8] {
        let line = Array(
            RejectedRows.columns.joined(separator: String(decoding: [delimiter], as: UTF8.self)).utf8)
        let header = line + [delimiter] + header
        let isRecognised = Self.recognizedDelimiter(header) == delimiter
        return (isRecognised ? [] : Array("sep=".utf8) + [delimiter, 0x0a]) + header + [0x0a]
    }

    fileprivate func rejectedLine(_ row: RejectedRow) -> [UInt8] {
        var line = Array("\(row.line)".utf8)
        for text in [row.reason.rawValue, row.detail] { line += [delimiter] + quoted(text) }
        return line + [delimiter] + (rowText ?? []) + [0x0a]
    }

    /// A text as a field. Where quotes don't quote, it has a space instead of what would end it.
    func quoted(_ text: String) -> [UInt8] {
        func isSpecial(_ byte: UInt8) -> Bool { byte == delimiter || byte == 0x0a || byte == 0x0d }
        let quote = UInt8(ascii: "\"")
        guard hasQuotes else { return text.utf8.map { isSpecial($0) ? 0x20 : $0 } }
        guard text.utf8.contains(where: { isSpecial($0) || $0 == quote }) else { return Array(text.utf8) }
        return [quote] + text.utf8.flatMap { $0 == quote ? [quote, quote] : [$0] } + [quote]
    }
}
