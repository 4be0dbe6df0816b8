import CLibPQ
import EventLoop

extension PostgresConnection {
    /// Connects on a thread of its own and hands the session to `loop`, on whose thread this must be called.
    ///
    /// - Parameter threads: shared with other connections, or new ones.
    /// - Throws: ``PostgresError/Code/connectionFailed``, whose message is one line without passwords and whose
    ///   ``PostgresError/connectFailure`` is its kind, ``PostgresError/Code/invalidConfiguration``, or
    ///   ``PostgresError/Code/cancelled`` where the task was cancelled meanwhile.
    public static func connect(
        _ configuration: PostgresConfiguration, loop: EventLoop, threads: PostgresThreads = PostgresThreads()
    ) async throws(PostgresError) -> PostgresConnection {
        loop.preconditionInEventLoop()
        let parameters = try configuration.connectionParameters()
        let handle: ConnectionHandle
        do {
            handle = try await threads.connecting.run {
                try ConnectionHandle(blockingParameters: parameters, orWithout: "options")
            }
        } catch let error as PostgresError {
            let message = error.clientMessage.map { configuration.logLine($0) }
            throw PostgresError(error.code, server: error.server, clientMessage: message)
        } catch {
            throw PostgresError(.connectionFailed, clientMessage: "\(error)")
        }
        loop.preconditionInEventLoop()
        let connection = try PostgresConnection(
            handle: handle, configuration: configuration, loop: loop, threads: threads)
        do throws(PostgresError) {
            guard !Task.isCancelled else { throw PostgresError(.cancelled) }
            try await connection.lookForPooler()
        } catch {
            await connection.close()
            throw error
        }
        return connection
    }

    /// The name of a backend in `BackendKeyData` is its process id; a pooler makes one up, as it keeps sessions
    /// and backends apart.
    private func lookForPooler() async throws(PostgresError) {
        // Who wants no statements kept says that there is a pooler, whatever can be seen of it.
        isPooled = configuration.preparedStatements == .off
        guard !isPooled else { return }
        let timeout = configuration.overrunGrace
        do throws(PostgresError) {
            let rows = try await query(PostgresQuery("SELECT pg_backend_pid()"), timeout: timeout)
            isPooled = try rows.only().decode(Int32.self, at: 0) != backendProcessID
        } catch {
            // A pooler takes connections also while it has no server to offer.
            guard error.code != .cancelled else { throw error }
            throw PostgresError(
                .connectionFailed, server: error.server,
                clientMessage: configuration.logLine(error.clientMessage ?? "\(error)"))
        }
    }

    /// Whether statements are kept on the server.
    var keepsStatements: Bool {
        switch configuration.preparedStatements {
        case .auto: !isPooled
        case .on: true
        case .off: false
        }
    }
}
