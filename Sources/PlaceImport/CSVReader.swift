import PointsOfInterestAPI
import PointsOfInterestServerAPI

/// Reads delimited rows (RFC 4180): a header, if the mapping doesn't list the columns, then a row at a time. It also accepts
/// what the RFC doesn't have: another delimiter, LF alone, a byte order mark, blank lines, and quotes within a field that
/// doesn't begin with one.
struct CSVReader: RowReader {
    /// The maximum length of a row. There has to be one, because a row is kept until it ends.
    static let maximumRowBytes = 1 << 20
    static let maximumColumns = 4096

    let input: ByteInput
    private(set) var delimiter: UInt8
    private(set) var columns: [String] = []
    let hasQuotes: Bool
    /// The bytes of the header, without its line end and without the columns of ``RejectedRows``.
    private(set) var header: [UInt8] = []
    /// Whether the rows were rejected by an earlier import, and have the columns of ``RejectedRows`` before their own.
    private(set) var isRejected = false
    private var rowLength = 0
    /// Whether it is known that the text is UTF-8, or isn't: until then all was ASCII.
    private var isEncodingKnown = false
    /// For each column, the mapping's field that is in it; −1 for none.
    private var fieldOfColumn: [Int]
    private var nextLine = 1
    /// The line that the header begins in.
    private(set) var headerLine = 1

    /// Reads the header; the mapping then knows which columns have names in languages.
    /// - Throws: ``ImportError``, also where a field that places must have is in no column.
    init(
        _ input: ByteInput, mapping: inout Mapping, delimiter: UInt8?, headerRow: Int? = nil
    ) throws(ImportError) {
        try self.init(input, mapping, delimiter: delimiter, headerRow: headerRow)
        mapping.findNames(among: columns)
        take(mapping.fieldNames)
        if let duplicate = duplicate(among: mapping.usedNames) {
            throw input.error("\(duplicate): rename one of them", line: 1)
        }
        guard let field = mapping.missingFields(where: fieldOfColumn.contains).first else { return }
        let found = columns.prefix(30).map { "\($0.prefix(40))" }.joined(separator: ", ")
        var error = input.error("no column for the \(field) among \(found)", line: 1)
        error.isAboutFields = true
        throw error
    }

    /// Reads the header, unless the mapping knows the columns, and takes no column yet.
    ///
    /// - Parameter headerRow: which row the header is in; nil for the first one, or for the one below a title that has what
    ///   the mapping needs.
    init(
        _ input: ByteInput, _ mapping: Mapping, delimiter: UInt8?, headerRow: Int?
    ) throws(ImportError) {
        self.input = input
        hasQuotes = mapping.hasQuotes
        self.delimiter = UInt8(ascii: ",")
        let delimiter = delimiter ?? mapping.delimiter
        fieldOfColumn = Array(0..<Self.maximumColumns)
        try findEncoding()
        let named = delimiterLine()
        self.delimiter = delimiter ?? named ?? Self.recognizedDelimiter(input.unread)
        let mark = Array(RejectedRows.columns[0].utf8) + [self.delimiter]
        isRejected = input.startsWith(mark)
        if let columns = mapping.columns, !isRejected {
            self.columns = columns
            header = Array(columns.map(quoted).joined(separator: [self.delimiter]))
        } else {
            if !isRejected {
                try skipTitle(mapping, hasDelimiter: delimiter != nil || named != nil, headerRow: headerRow)
            }
            headerLine = nextLine
            self.columns = try readHeader()
            header = Array(rowText ?? [])
        }
        take([])
    }

    /// Reads these columns, by their names, as fields of a row.
    mutating func take(_ fieldNames: [String]) {
        // Only ASCII letters are compared without case: for others it depends on the language.
        let names = columns.map(\.asciiLowercased)
        fieldOfColumn = Array(repeating: -1, count: names.count)
        for (field, name) in fieldNames.enumerated() {
            if let column = names.firstIndex(of: name.asciiLowercased) { fieldOfColumn[column] = field }
        }
    }

    /// Says which two columns have the same one of these names, in any case; nil where none have.
    func duplicate(among used: Set<String>) -> String? {
        var seen: [String: Int] = [:]
        for (column, name) in columns.enumerated() where used.contains(name.asciiLowercased) {
            guard let first = seen.updateValue(column, forKey: name.asciiLowercased) else { continue }
            return "columns \(first + 1) and \(column + 1) are both called \(name.prefix(60).printable)"
        }
        return nil
    }

    /// Takes the line that tells Excel the delimiter, `sep=;`; nil where there is none.
    private mutating func delimiterLine() -> UInt8? {
        let line = input.unread.prefix(8).prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        guard line.count == 5, line.prefix(4).asciiLowercased == Array("sep=".utf8), let byte = line.last,
            byte < 0x80, byte != UInt8(ascii: "\"")
        else { return nil }
        input.consume(5)
        if input.startsWith([0x0d]) { input.consume(1) }
        if input.startsWith([0x0a]) { input.consume(1) }
        nextLine += 1
        return byte
    }

    /// Finds out whether the text is UTF-8, from the first bytes that aren't ASCII.
    private mutating func findEncoding() throws(ImportError) {
        guard !isEncodingKnown, input.encoding == nil, let isOther = WesternText.isLikely(input.unread) else {
            return
        }
        isEncodingKnown = true
        guard isOther else { return }
        if let word = WesternText.doubtfulWord(in: input.unread) {
            throw input.error(
                "the text isn't UTF-8, and as Windows-1252 it would have “\(TextDecoder.shown(word))”: "
                    + "give --encoding, perhaps \(WesternText.guess(input.unread))")
        }
        try input.read(as: WesternText.encoding)
    }

    /// Passes over what is above the header.
    private mutating func skipTitle(
        _ mapping: Mapping, hasDelimiter: Bool, headerRow: Int?
    ) throws(ImportError) {
        let first = delimiter
        var row = Row(fieldCount: Self.maximumColumns)
        var (length, lines, number) = (0, 0, 0)
        while number < headerRow ?? TableHeader.maximumRows {
            let bytes = input.unread.dropFirst(length)
            // A title has none, or others.
            if !hasDelimiter { delimiter = Self.recognizedDelimiter(bytes) }
            row.removeAll()
            guard let record = scan(bytes, isAtEnd: input.isAtEnd, into: &row), record.length > 0 else {
                break
            }
            number += 1
            let names = (0..<min(record.columns, Self.maximumColumns)).map { row.text(of: row[$0]) }
            if headerRow.map({ $0 == number }) ?? TableHeader(names).isFound(by: mapping) {
                input.consume(length)
                nextLine += lines
                return
            }
            length += record.length
            lines += record.lines
        }
        if let headerRow { throw input.error("there is no row \(headerRow), which should have the header") }
        delimiter = first
    }

    private mutating func readHeader() throws(ImportError) -> [String] {
        var row = Row(fieldCount: Self.maximumColumns)
        guard let record = try nextRecord(into: &row) else { throw input.error("there is no header") }
        guard record.columns <= Self.maximumColumns else {
            throw input.error(
                "\(record.columns) columns are more than \(Self.maximumColumns)", line: row.line)
        }
        let names = (0..<record.columns).map { row.text(of: row[$0]).trimmingBlanks }
        // In quotes a name may have lines.
        guard !names.contains(where: { $0.utf8.contains(0x0d) && !$0.utf8.contains(0x0a) }) else {
            throw input.error("the lines end with CR alone: convert it with tr '\\r' '\\n'", line: 1)
        }
        return names
    }

    /// The delimiter that is most often in the first line; a comma if none is.
    static func recognizedDelimiter(_ bytes: some Sequence<UInt8>) -> UInt8 {
        var counts: [UInt8: Int] = [:]
        var isQuoted = false
        for byte in bytes {
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            if byte == UInt8(ascii: "\n"), !isQuoted { break }
            if !isQuoted { counts[byte, default: 0] += 1 }
        }
        let candidates = [",", ";", "\t", "|"].map { (character: Unicode.Scalar) in UInt8(ascii: character) }
        // `max` takes the first of equals.
        return candidates.max { counts[$0, default: 0] < counts[$1, default: 0] }
            ?? UInt8(ascii: ",")
    }

    mutating func next(into row: inout Row) throws(ImportError) -> ReadRow {
        guard let record = try nextRecord(into: &row) else { return .end }
        if record.isMalformed { return .rejected(.malformedRow, detail: "text behind a closing quote") }
        guard record.columns == fieldOfColumn.count else {
            return .rejected(
                .columnCount, detail: "\(record.columns) columns instead of \(fieldOfColumn.count)")
        }
        return .row
    }

    var rowText: [UInt8]? {
        var text = input.consumed(rowLength)
        if text.last == 0x0a { text.removeLast() }
        if text.last == 0x0d { text.removeLast() }
        guard isRejected else { return Array(text) }
        var (columns, isQuoted) = (0, false)
        while columns < RejectedRows.columns.count, let byte = text.popFirst() {
            if byte == UInt8(ascii: "\""), hasQuotes { isQuoted.toggle() }
            if byte == delimiter, !isQuoted { columns += 1 }
        }
        return Array(text)
    }

    var rowObject: [UInt8]? {
        guard let text = rowText else { return nil }
        var whole = self
        let names = isRejected ? columns.dropFirst(RejectedRows.columns.count) : columns[...]
        whole.fieldOfColumn = Array(0..<names.count)
        var row = Row(fieldCount: names.count)
        let record = whole.scan(text[...], isAtEnd: true, into: &row)
        guard let record, !record.isMalformed, record.columns == names.count else { return nil }
        var writer = JSONWriter()
        writer.beginObject()
        for (field, name) in names.enumerated() {
            writer.name(escaping: name)
            writer.value(row.text(of: row[field]))
        }
        writer.endObject()
        return writer.bytes
    }

    /// Reads the next record that isn't a blank line.
    private mutating func nextRecord(into row: inout Row) throws(ImportError) -> Record? {
        var isAtEnd = false
        while true {
            row.removeAll()
            row.line = nextLine
            guard let record = scan(input.unread, isAtEnd: isAtEnd, into: &row) else {
                guard !isAtEnd else { throw input.error("a quote isn't closed", line: nextLine) }
                // Each chunk is at least a quarter of the maximum, so a row is begun five times at most.
                guard input.unread.count <= Self.maximumRowBytes else {
                    throw input.error("a row has more than 1 MiB: is a quote not closed?", line: nextLine)
                }
                isAtEnd = try !input.fill()
                try findEncoding()
                continue
            }
            input.consume(record.length)
            rowLength = record.length
            nextLine += record.lines
            if record.length == 0 { return nil }
            if record.isBlank { continue }
            return record
        }
    }

    private struct Record {
        var length = 0
        var lines = 0
        var columns = 0
        /// There was text behind a closing quote.
        var isMalformed = false
        var isBlank = false
    }

    /// Reads a record's fields; nil where it isn't complete. Its length is 0 at the end.
    private func scan(_ bytes: ArraySlice<UInt8>, isAtEnd: Bool, into row: inout Row) -> Record? {
        var record = Record()
        let unread = bytes.span
        var index = 0
        if bytes.isEmpty { return isAtEnd ? record : nil }
        while true {
            let isQuoted = hasQuotes && index < unread.count && unread[index] == UInt8(ascii: "\"")
            if isQuoted {
                guard let end = scanQuoted(bytes, from: index, isAtEnd: isAtEnd, &record, into: &row) else {
                    return nil
                }
                index = end
            }
            let start = index
            while index < unread.count, unread[index] != delimiter, unread[index] != UInt8(ascii: "\n") {
                index &+= 1
            }
            guard index < unread.count || isAtEnd else { return nil }
            let isDelimited = index < unread.count && unread[index] == delimiter
            // If a line ends with CR and LF, the CR isn't part of the field.
            let hasReturn = !isDelimited && index > start && unread[index - 1] == UInt8(ascii: "\r")
            let end = hasReturn ? index - 1 : index
            if isQuoted {
                record.isMalformed = record.isMalformed || end > start
            } else if let field = field(of: record.columns) {
                row.set(field, to: bytes.dropFirst(start).prefix(end - start))
            }
            record.columns += 1
            if isDelimited {
                index += 1
                continue
            }
            record.lines += 1
            record.length = min(index + 1, unread.count)
            record.isBlank = isBlank(bytes.prefix(record.length))
            return record
        }
    }

    /// Whether a row has no text: spreadsheets write such rows below those that they show.
    @inline(__always)
    private func isBlank(_ row: ArraySlice<UInt8>) -> Bool {
        func isText(_ byte: UInt8) -> Bool {
            byte > 0x20 && byte != delimiter && (byte != UInt8(ascii: "\"") || !hasQuotes)
        }
        guard let text = row.firstIndex(where: isText) else { return true }
        return row[text] >= 0x80
            && String(decoding: row, as: UTF8.self).unicodeScalars.allSatisfy { scalar in
                TableCheck.isInvisible(scalar) || !isText(UInt8(truncatingIfNeeded: min(scalar.value, 0xff)))
            }
    }

    @inline(__always)
    private func field(of column: Int) -> Int? {
        guard column < fieldOfColumn.count, fieldOfColumn[column] >= 0 else { return nil }
        return fieldOfColumn[column]
    }

    /// Reads a quoted field and returns the index behind the closing quote; nil if that isn't there yet.
    private func scanQuoted(
        _ bytes: ArraySlice<UInt8>, from start: Int, isAtEnd: Bool, _ record: inout Record,
        into row: inout Row
    ) -> Int? {
        let unread = bytes.span
        var index = start + 1
        var hasDoubled = false
        while index < unread.count {
            if unread[index] == UInt8(ascii: "\n") { record.lines += 1 }
            guard unread[index] == UInt8(ascii: "\"") else {
                index &+= 1
                continue
            }
            // Without the next byte it isn't known whether the quote is doubled.
            guard index + 1 < unread.count || isAtEnd else { return nil }
            if index + 1 < unread.count, unread[index + 1] == UInt8(ascii: "\"") {
                hasDoubled = true
                index += 2
                continue
            }
            if let field = field(of: record.columns) {
                let content = bytes.dropFirst(start + 1).prefix(index - start - 1)
                if hasDoubled { row.set(field, toQuoted: content) } else { row.set(field, to: content) }
            }
            return index + 1
        }
        return nil
    }
}

extension StringProtocol {
    /// The text for a message, without control characters: those of an untrusted file would otherwise reach the terminal.
    package var printable: String {
        String(
            String.UnicodeScalarView(
                unicodeScalars.map { $0.properties.generalCategory == .control ? "?" : $0 }))
    }
}
