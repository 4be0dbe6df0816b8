/// Lines of source, indented and no longer than a line is.
struct SourceWriter {
    /// As in `.swift-format`.
    static let lineLength = 110

    private(set) var text = ""
    private var level = 0

    /// Writes a line; an empty one without blanks.
    mutating func line(_ line: String = "") {
        text += line.isEmpty ? "\n" : indentation + line + "\n"
    }

    /// Writes lines one level further in.
    mutating func indented(_ body: (inout SourceWriter) -> Void) {
        level += 1
        body(&self)
        level -= 1
    }

    /// Writes `head {`, the lines within, and the brace.
    mutating func block(_ head: String, _ body: (inout SourceWriter) -> Void) {
        line(head + " {")
        indented(body)
        line("}")
    }

    /// Writes a comment for documentation, broken where lines end.
    mutating func comment(_ text: String, mark: String = "") {
        let room = Self.lineLength - indentation.count - 4 - mark.count
        for (index, part) in Self.wrap(text, to: room).enumerated() {
            let start = index == 0 ? mark : String(repeating: " ", count: mark.count)
            line("///" + (part.isEmpty ? "" : " " + start + part))
        }
    }

    /// Writes `head` with its arguments and what follows: on one line if they fit there, else on as many as it
    /// takes.
    mutating func call(_ head: String, _ arguments: [String], close: String) {
        let whole = head + "(" + arguments.joined(separator: ", ") + ")" + close
        if !whole.contains("\n"), indentation.count + whole.count <= Self.lineLength { return line(whole) }
        line(head + "(")
        indented { writer in
            for (index, argument) in arguments.enumerated() {
                writer.line(argument + (index == arguments.count - 1 ? ")" + close : ","))
            }
        }
    }

    /// A text as a literal.
    static func literal(_ text: String) -> String {
        var literal = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": literal += "\\" + String(scalar)
            case _ where scalar.value < 0x20 || scalar.value == 0x7f:
                literal += "\\u{\(String(scalar.value, radix: 16))}"
            default: literal.unicodeScalars.append(scalar)
            }
        }
        return literal + "\""
    }

    /// The words of a text in lines of at most that many characters, unless a word has more.
    static func wrap(_ text: String, to width: Int) -> [String] {
        var lines: [String] = []
        var current = ""
        for word in text.split(separator: " ") {
            if !current.isEmpty, current.count + 1 + word.count > width {
                lines.append(current)
                current = ""
            }
            current += current.isEmpty ? String(word) : " " + word
        }
        return lines + [current]
    }

    private var indentation: String { String(repeating: "    ", count: level) }
}
