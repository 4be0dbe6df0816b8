/// Finds where top-level statements begin and end, as psql does (psqlscan.l): comments, quotes, dollar quotes,
/// parentheses and the bodies of SQL functions (`BEGIN ATOMIC … END`) hide semicolons.
///
/// It doesn't report broken SQL: an open quote lasts until the end, and the server refuses it later.
struct SQLStatementScanner {
    /// The first few words of each statement, in upper case.
    private(set) var statements: [[String]] = []

    private static let wordLimit = 4
    private let bytes: [UInt8]
    private var position = 0
    private var words: [String] = []
    private var isEmpty = true
    private var parenthesisDepth = 0
    private var bodyDepth = 0

    init(_ sql: String) {
        bytes = Array(sql.utf8)
        while let byte = peek() { scan(byte) }
        endStatement()
    }

    private mutating func scan(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "-") where peek(1) == byte:
            skip { $0 == UInt8(ascii: "\n") }
        case UInt8(ascii: "/") where peek(1) == UInt8(ascii: "*"):
            skipBlockComment()
        case UInt8(ascii: ";") where parenthesisDepth == 0 && bodyDepth == 0:
            position += 1
            endStatement()
        case _ where byte.isSpace:
            position += 1
        default:
            isEmpty = false
            scanToken(byte)
        }
    }

    private mutating func scanToken(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "'"), UInt8(ascii: "\""):
            skipQuoted(byte, backslashEscapes: false)
        case UInt8(ascii: "E"), UInt8(ascii: "e"):
            if peek(1) == UInt8(ascii: "'") {
                position += 1
                skipQuoted(UInt8(ascii: "'"), backslashEscapes: true)
            } else {
                scanWord()
            }
        case UInt8(ascii: "$"):
            skipDollarQuoted()
        case UInt8(ascii: "("):
            parenthesisDepth += 1
            position += 1
        case UInt8(ascii: ")"):
            parenthesisDepth = max(0, parenthesisDepth - 1)
            position += 1
        case _ where byte.isWord:
            scanWord()
        default:
            position += 1
        }
    }

    private mutating func scanWord() {
        let start = position
        skip { !$0.isWord && $0 != UInt8(ascii: "$") }
        let word = String(decoding: bytes[start..<position], as: UTF8.self).uppercased()
        if words.count < Self.wordLimit { words.append(word) }
        guard parenthesisDepth == 0, createsRoutine else { return }
        switch word {
        case "BEGIN": bodyDepth += 1
        case "CASE" where bodyDepth > 0: bodyDepth += 1
        case "END" where bodyDepth > 0: bodyDepth -= 1
        default: break
        }
    }

    /// CREATE [OR REPLACE] FUNCTION or PROCEDURE.
    private var createsRoutine: Bool {
        guard words.first == "CREATE" else { return false }
        let kind = words.dropFirst().first == "OR" ? words.dropFirst(3).first : words.dropFirst().first
        return kind == "FUNCTION" || kind == "PROCEDURE"
    }

    private mutating func endStatement() {
        if !isEmpty { statements.append(words) }
        (words, isEmpty, parenthesisDepth, bodyDepth) = ([], true, 0, 0)
    }

    private func peek(_ offset: Int = 0) -> UInt8? {
        position + offset < bytes.count ? bytes[position + offset] : nil
    }

    private mutating func skip(until matches: (UInt8) -> Bool) {
        while let byte = peek(), !matches(byte) { position += 1 }
    }

    private mutating func skipBlockComment() {
        var depth = 0
        repeat {
            switch (peek(), peek(1)) {
            case (UInt8(ascii: "/"), UInt8(ascii: "*")): (depth, position) = (depth + 1, position + 2)
            case (UInt8(ascii: "*"), UInt8(ascii: "/")): (depth, position) = (depth - 1, position + 2)
            default: position += 1
            }
        } while depth > 0 && position < bytes.count
    }

    /// A doubled quote needs no special case: it ends one quoted piece and begins the next.
    private mutating func skipQuoted(_ quote: UInt8, backslashEscapes: Bool) {
        position += 1
        while let byte = peek(), byte != quote {
            position += backslashEscapes && byte == UInt8(ascii: "\\") ? 2 : 1
        }
        position += 1
    }

    private mutating func skipDollarQuoted() {
        var end = position + 1
        while end < bytes.count, bytes[end].isWord { end += 1 }
        // `$1` is a parameter, not a quote.
        guard end < bytes.count, bytes[end] == UInt8(ascii: "$"), !bytes[position + 1].isDigit else {
            position += 1
            return
        }
        let delimiter = bytes[position...end]
        position = end + 1
        while position < bytes.count, !bytes[position...].starts(with: delimiter) { position += 1 }
        position += delimiter.count
    }
}

extension UInt8 {
    fileprivate var isSpace: Bool { self == 0x20 || (0x09...0x0d).contains(self) }
    fileprivate var isDigit: Bool { (0x30...0x39).contains(self) }
    /// What may be in an unquoted identifier, apart from the dollar sign.
    fileprivate var isWord: Bool {
        isDigit || (0x41...0x5a).contains(self) || (0x61...0x7a).contains(self) || self == 0x5f
            || self >= 0x80
    }
}
