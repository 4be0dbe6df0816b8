import EventLoop
import Locking

/// The text of an SQL statement, made only of literals in the program's source.
///
/// Text from outside can't become part of it, but is bound as a ``PostgresValue``. Literal parts are joined with `+`.
package struct SQL: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The text as PostgreSQL reads it.
    package let text: String
    /// A text with a null byte is never sent, since C would silently drop what follows the byte.
    let hasNullByte: Bool

    package init(stringLiteral value: StaticString) {
        self.init(unsafeSQL: value.withUTF8Buffer { String(decoding: $0, as: UTF8.self) })
    }

    /// Takes any text, unchecked: the caller makes sure that none of it comes from outside.
    package init(unsafeSQL text: String) {
        self.text = text
        hasNullByte = text.utf8.contains(0)
    }

    /// An integer as an SQL literal, for where a parameter would make the plan worse (`LIMIT`).
    package init(integer: Int) {
        // A negative literal right behind a minus would start a comment.
        self.init(unsafeSQL: integer < 0 ? "(\(integer))" : String(integer))
    }

    /// A name as a quoted SQL identifier, whatever characters it has.
    ///
    /// Null bytes, which no identifier can hold, are left out.
    package init(identifier name: String) {
        var quoted = "\""
        for scalar in name.unicodeScalars where scalar != "\0" {
            if scalar == "\"" { quoted.unicodeScalars.append("\"") }
            quoted.unicodeScalars.append(scalar)
        }
        self.init(unsafeSQL: quoted + "\"")
    }

    /// Both texts, one after the other, with nothing in between.
    package static func + (left: SQL, right: SQL) -> SQL {
        SQL(unsafeSQL: left.text + right.text)
    }
}

/// A statement and its bound values, parsed anew each time it runs (an unnamed statement).
///
/// For statements that run seldom; use a ``PreparedStatement`` for those that run often.
package struct PostgresQuery: Sendable, Hashable {
    /// The statement's text.
    package var sql: SQL
    /// The values of `$1`, `$2`, …
    package var parameters: [PostgresValue]

    /// A query with its values.
    package init(_ sql: SQL, _ parameters: [PostgresValue] = []) {
        self.sql = sql
        self.parameters = parameters
    }
}

extension PostgresQuery: ExpressibleByStringLiteral {
    /// A query without parameters.
    package init(stringLiteral value: StaticString) {
        self.init(SQL(stringLiteral: value))
    }
}

/// A statement that each connection prepares when it first runs it, in the same round trip.
///
/// Make one per statement and keep it (a `static let`): each has a name of its own on the server, which keeps its plan
/// for as long as the connection lives.
package struct PreparedStatement: Sendable, Hashable {
    /// The statement's text.
    package let sql: SQL
    /// The parameters' types, in order (`$1` first).
    package let parameterTypes: [PostgresType]

    /// Unique in the process.
    let id: Int
    let name: String

    private static let lastID = Lock(0)

    /// Describes a statement; nothing is sent yet.
    package init(_ sql: SQL, parameters: [PostgresType] = []) {
        let id = Self.lastID.withLock { lastID in
            lastID += 1
            return lastID
        }
        self.sql = sql
        self.parameterTypes = parameters
        self.id = id
        self.name = "s\(id)"
    }

    /// A statement equals itself and its copies; another one with the same text is not equal.
    package static func == (left: PreparedStatement, right: PreparedStatement) -> Bool {
        left.id == right.id
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(id)
    }
}
