/// A query on its way: what to send, who waits for it, and until when.
///
/// Confined to its loop. The caller is answered once; the query itself may go on in the server after that.
final class PendingQuery {
    /// What to send.
    enum Command {
        case prepared(PreparedStatement)
        case unnamed(SQL)
    }

    typealias Answer = Result<PostgresRows, PostgresError>

    let command: Command
    let parameters: [PostgresValue]
    /// How long the query may take once it is on a connection.
    let timeout: Duration?
    /// May be run again where it is unknown whether it ran.
    let isIdempotent: Bool
    /// May share a Sync, hence a transaction, with others of its kind: it only reads.
    var sharesSync: Bool

    /// The caller; nil once answered.
    var continuation: UnsafeContinuation<Answer, Never>?
    /// When the caller is told that the time is up.
    var deadline: Duration?
    /// When the connection that still runs the query is closed.
    var giveUpTime: Duration?
    /// What the server has answered so far; told to the caller at the query's Sync.
    var outcome: Answer?
    /// The name under which the statement was sent.
    var sentName: String?
    /// The server has skipped it, because a query before it in its group failed.
    var isSkipped = false
    /// The error for which the query was sent again.
    var retriedError: PostgresError?
    /// Finds the query another connection when its own is lost.
    var resubmit: ((PendingQuery, PostgresError) -> Void)?
    /// How often that may still be. Where a server ends, each of a lane's connections may be lost with the query once;
    /// more would be too many, since it could be the query that ends them.
    var resubmissionsLeft = 0
    /// Until when a query may be sent again, wait and take; nil is for ever.
    var expiry: Duration?
    /// The connection of a pool that the query was given to; nil once answered.
    var connection: PostgresConnection?

    init(
        _ command: Command, _ parameters: [PostgresValue], timeout: Duration?, deadline: Duration? = nil,
        isIdempotent: Bool = false, sharesSync: Bool = false
    ) {
        expiry = deadline
        self.command = command
        self.parameters = parameters
        self.timeout = timeout
        self.isIdempotent = isIdempotent
        self.sharesSync = sharesSync
    }

    /// Whether the caller still waits.
    var isWaitedFor: Bool { continuation != nil }

    /// Answers the caller, unless that has happened.
    func answer(_ answer: Answer) {
        guard let continuation else { return }
        if let resubmit, resubmissionsLeft > 0, case .failure(let error) = answer,
            error.code == .connectionLost
        {
            resubmissionsLeft -= 1
            (outcome, retriedError, isSkipped) = (nil, nil, false)
            return resubmit(self, error)
        }
        self.continuation = nil
        connection = nil
        continuation.resume(returning: answer)
    }

    /// Checks what the server would otherwise answer with garbage or a lost connection.
    func validate() throws(PostgresError) {
        // The protocol counts parameters in 16 bits.
        guard parameters.count <= UInt16.max else { throw PostgresError(.parameterMismatch) }
        switch command {
        case .prepared(let statement):
            guard !statement.sql.hasNullByte else { throw PostgresError(.sendFailed) }
            guard statement.parameterTypes.count == parameters.count,
                zip(statement.parameterTypes, parameters).allSatisfy({ $0 == $1.type })
            else { throw PostgresError(.parameterMismatch) }
        case .unnamed(let sql):
            guard !sql.hasNullByte else { throw PostgresError(.sendFailed) }
        }
    }
}
