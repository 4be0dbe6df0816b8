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
        let type = type(name)
        let start = type.prefix { $0.isUppercase }
        // An acronym goes to lower case as a whole: `URLScheme` as `urlScheme`.
        let lowered = start.count > 1 && start.count < type.count ? start.dropLast() : start
        let member = lowered.lowercased() + type.dropFirst(lowered.count)
        return member.first?.isNumber == true ? "_" + member : member
    }

    /// `page-view` as `PageView`.
    static func type(_ name: String) -> String {
        name.split { !$0.isASCII || !($0.isLetter || $0.isNumber) }
            .map { $0.prefix(1).uppercased() + $0.dropFirst() }
            .joined()
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
