struct SourceWriter {
    /// The maximum length of a line, as in `.swift-format`.
    static let lineLength = 110

    private(set) var text = ""
    private var level = 0

    mutating func line(_ line: String = "") {
        text += line.isEmpty ? "\n" : indentation + line + "\n"
    }

    /// Writes the lines that a generated file begins with.
    mutating func head(_ options: GeneratorOptions, module: String?) {
        line(
            "// Made by generate-events from the definitions in \(options.definitions). Changes belong there."
        )
        line("// swift-format-ignore-file")
        line()
        guard let module else { return }
        line("import \(module)")
        line()
    }

    mutating func indented(_ body: (inout SourceWriter) -> Void) {
        level += 1
        body(&self)
        level -= 1
    }

    mutating func block(_ head: String, _ body: (inout SourceWriter) -> Void) {
        line(head + " {")
        indented(body)
        line("}")
    }

    mutating func comment(_ text: String, mark: String = "") {
        let room = Self.lineLength - indentation.count - 4 - mark.count
        for (index, part) in Self.wrap(text, to: room).enumerated() {
            let start = index == 0 ? mark : String(repeating: " ", count: mark.count)
            line("///" + (part.isEmpty ? "" : " " + start + part))
        }
    }

    /// Writes `head` with its arguments and `close`: on one line if they fit, else with a line for each argument.
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

/// Makes Swift names from the names of events, parameters and values.
enum SwiftName {
    /// Words that can't name a case, a parameter or a property without backticks.
    private static let keywords: Set<String> = [
        "actor", "any", "as", "associatedtype", "async", "await", "borrowing", "break", "case", "catch",
        "class", "consuming", "continue", "default", "defer", "deinit", "do", "else", "enum", "extension",
        "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import", "in", "init", "inout",
        "internal", "is", "let", "nil", "operator", "package", "precedencegroup", "private", "protocol",
        "public", "repeat", "rethrows", "return", "self", "Self", "some", "static", "struct", "subscript",
        "super", "switch", "throw", "throws", "true", "try", "typealias", "var", "where", "while",
    ]

    /// `page-view` as `pageView`.
    static func member(_ name: String) -> String {
        let words = words(name)
        guard let first = words.first else { return "" }
        // An acronym goes to lower case as a whole: `URL scheme` as `urlScheme`.
        let isAcronym = first.allSatisfy { !$0.isLowercase }
        let start = isAcronym ? first.lowercased() : first.prefix(1).lowercased() + first.dropFirst()
        let member = start + words.dropFirst().map(capitalized).joined()
        return member.first?.isNumber == true ? "_" + member : member
    }

    /// `page-view` as `PageView`.
    static func type(_ name: String) -> String {
        words(name).map(capitalized).joined()
    }

    private static func words(_ name: String) -> [Substring] {
        name.split { !$0.isASCII || !($0.isLetter || $0.isNumber) }
    }

    private static func capitalized(_ word: Substring) -> String {
        word.prefix(1).uppercased() + word.dropFirst()
    }

    /// A name as it is written where it is declared or used: in backticks if it is a keyword.
    static func escaped(_ name: String) -> String {
        keywords.contains(name) ? "`\(name)`" : name
    }

    static func isTypeName(_ name: String) -> Bool {
        name.wholeMatch(of: /[A-Z][A-Za-z0-9]*/) != nil && !keywords.contains(name)
    }
}
