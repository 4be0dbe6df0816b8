import Locking
import EventLoop

/// A statement that each connection prepares when it first runs it, in the same round trip.
///
/// Make one per statement and keep it (a `static let`): each has a name of its own on the server, and its plan
/// is kept there for as long as the connection lives.
public struct PreparedStatement: Sendable, Hashable {
    /// The statement's text.
    public let sql: SQL
    /// The parameters' types, in order (`$1` first).
    public let parameterTypes: [PostgresType]

    /// What tells statements apart: unique in the process.
    let id: Int
    /// The name on the server.
    let name: String

    private static let lastID = Lock(0)

    /// Describes a statement; nothing is sent yet.
    public init(_ sql: SQL, parameters: [PostgresType] = []) {
        let id = Self.lastID.withLock { lastID in
            lastID += 1
            return lastID
        }
        self.sql = sql
        self.parameterTypes = parameters
        self.id = id
        self.name = "s\(id)"
    }

    /// Two statements are equal if they are one, whatever their text.
    public static func == (left: PreparedStatement, right: PreparedStatement) -> Bool {
        left.id == right.id
    }

    /// Goes with `==`.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
    }
}
