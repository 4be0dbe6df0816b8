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
