import MockServerAPI

/// A mock's sessions by their names. Belongs to one loop.
final class SessionTable {
    private let limit: Int
    private let makeSession: () -> MockSession
    private var sessions: [String: MockSession] = [:]
    private var isClosed = false

    /// - Parameter limit: the most sessions there may be.
    init(limit: Int, makeSession: @escaping () -> MockSession) {
        self.limit = limit
        self.makeSession = makeSession
    }

    /// The names of the sessions that there are, sorted.
    var names: [String] { sessions.keys.sorted() }

    /// The session of a name, made where there is none yet.
    func session(named name: String) throws(MockProblem) -> MockSession {
        if let session = sessions[name] { return session }
        guard MockPath.isSessionName(name) else { throw .invalidName }
        guard sessions.count < limit else { throw .tooManySessions(limit) }
        let session = makeSession()
        if isClosed { session.journal.close() }
        sessions[name] = session
        return session
    }

    /// Ends a session; its name begins anew with its next use.
    func end(_ name: String) {
        sessions.removeValue(forKey: name)?.journal.close()
    }

    /// Lets nobody wait any more.
    func close() {
        isClosed = true
        for session in sessions.values { session.journal.close() }
    }
}
