/// The text of an SQL statement, made of literals in the program's source only.
///
/// Text that comes from outside has no way in: it is bound as a ``PostgresValue``. Pieces are joined with `+`,
/// so that a statement can be put together from literal parts.
public struct SQL: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The text as PostgreSQL reads it.
    public let text: String
    /// C would take the text up to a null byte and drop the rest in silence: such a text is never sent.
    let hasNullByte: Bool

    /// Takes a literal of the source.
    public init(stringLiteral value: StaticString) {
        self.init(unsafeSQL: value.withUTF8Buffer { String(decoding: $0, as: UTF8.self) })
    }

    /// Takes text of any origin, unchecked: whoever calls this vouches that none of it comes from outside.
    public init(unsafeSQL text: String) {
        self.text = text
        hasNullByte = text.utf8.contains(0)
    }

    /// An integer as an SQL literal, for the places where a parameter would spoil the plan (`LIMIT`).
    public init(integer: Int) {
        // A negative literal right behind a minus would start a comment.
        self.init(unsafeSQL: integer < 0 ? "(\(integer))" : String(integer))
    }

    /// A name as a quoted SQL identifier, whatever characters it has.
    ///
    /// A null byte, which no identifier can hold, is left out.
    public init(identifier name: String) {
        var quoted = "\""
        for scalar in name.unicodeScalars where scalar != "\0" {
            if scalar == "\"" { quoted.unicodeScalars.append("\"") }
            quoted.unicodeScalars.append(scalar)
        }
        self.init(unsafeSQL: quoted + "\"")
    }

    /// Both texts, one behind the other, with nothing in between.
    public static func + (left: SQL, right: SQL) -> SQL {
        SQL(unsafeSQL: left.text + right.text)
    }
}
