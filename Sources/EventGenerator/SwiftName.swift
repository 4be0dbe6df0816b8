/// Names of Swift, made of those of events, parameters and values.
enum SwiftName {
    /// What can't name a case, a parameter or a property without backticks.
    private static let keywords: Set<String> = [
        "actor", "any", "as", "associatedtype", "async", "await", "borrowing", "break", "case", "catch",
        "class",
        "consuming", "continue", "default", "defer", "deinit", "do", "else", "enum", "extension",
        "fallthrough",
        "false", "fileprivate", "for", "func", "guard", "if", "import", "in", "init", "inout", "internal",
        "is",
        "let", "nil", "operator", "package", "precedencegroup", "private", "protocol", "public", "repeat",
        "rethrows", "return", "self", "Self", "some", "static", "struct", "subscript", "super", "switch",
        "throw", "throws", "true", "try", "typealias", "var", "where", "while",
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

    /// A name as it is written where it is declared or used: in backticks if Swift has other plans with it.
    static func escaped(_ name: String) -> String {
        keywords.contains(name) ? "`\(name)`" : name
    }

    /// Whether a type can have this name.
    static func isTypeName(_ name: String) -> Bool {
        name.wholeMatch(of: /[A-Z][A-Za-z0-9]*/) != nil && !keywords.contains(name)
    }
}
