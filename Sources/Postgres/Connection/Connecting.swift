import CLibPQ
import EventLoop

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

extension PostgresConnection {
    /// Connects on a helper thread, since libpq blocks for it, and hands the session to `loop`, on whose thread this
    /// must be called.
    ///
    /// - Throws: ``PostgresError/Code/connectionFailed``, whose message is one line without passwords and whose
    ///   ``PostgresError/connectFailure`` is its kind, ``PostgresError/Code/invalidConfiguration``, or
    ///   ``PostgresError/Code/cancelled`` where the task was cancelled meanwhile.
    package static func connect(
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
            throw error.redacted(by: configuration)
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

    /// Notices a pooler by the process id in `BackendKeyData`: a pooler makes one up, since it keeps sessions and
    /// backends apart.
    private func lookForPooler() async throws(PostgresError) {
        // `off` implies a pooler, whether it can be seen or not.
        isPooled = configuration.preparedStatements == .off
        guard !isPooled else { return }
        let timeout = configuration.overrunGrace
        do throws(PostgresError) {
            let rows = try await query(PostgresQuery("SELECT pg_backend_pid()"), timeout: timeout)
            isPooled = try rows.only().decode(Int32.self, at: 0) != backendProcessID
        } catch {
            // A pooler takes connections even while it has no server to offer.
            guard error.code != .cancelled else { throw error }
            throw PostgresError(
                .connectionFailed, server: error.server, clientMessage: error.clientMessage ?? "\(error)"
            ).redacted(by: configuration)
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

/// The threads for the two calls of libpq that block: connecting and cancelling.
///
/// They are two, so that no cancel request has to wait for a host that doesn't respond.
package struct PostgresThreads: Sendable {
    let connecting: BlockingThread
    let cancelling: BlockingThread

    /// Two threads, each of which starts when it is first used.
    package init() {
        connecting = BlockingThread(name: "pg-connect", capacity: 64)
        cancelling = BlockingThread(name: "pg-cancel", capacity: 64)
    }
}

/// Carries a new connection from the thread that made it to its loop.
///
/// `@unchecked Sendable`: one thread has it at a time, and libpq asks for no more (PostgreSQL manual, "Behavior
/// in Threaded Programs").
struct ConnectionHandle: @unchecked Sendable {
    let raw: OpaquePointer

    /// Connects; blocks until that has succeeded, or has failed on every host.
    ///
    /// - Parameter optional: a keyword that a second attempt leaves out where the first is refused because of start-up
    ///   parameters; PgBouncer refuses those that its `ignore_startup_parameters` doesn't name.
    init(
        blockingParameters parameters: [(keyword: String, value: String)], orWithout optional: String
    ) throws(PostgresError) {
        do throws(PostgresError) {
            try self.init(blockingParameters: parameters)
        } catch {
            let isRefused = error.clientMessage?.contains("unsupported startup parameter") ?? false
            guard isRefused, parameters.contains(where: { $0.keyword == optional }) else { throw error }
            try self.init(blockingParameters: parameters.filter { $0.keyword != optional })
        }
    }

    private init(blockingParameters parameters: [(keyword: String, value: String)]) throws(PostgresError) {
        let connection = withCStrings(parameters.map(\.keyword)) { keywords in
            withCStrings(parameters.map(\.value)) { values in PQconnectdbParams(keywords, values, 1) }
        }
        guard let raw = connection else {
            throw PostgresError(.connectionFailed, clientMessage: "out of memory")
        }
        guard PQstatus(raw) == CONNECTION_OK else {
            let message = String(cString: PQerrorMessage(raw))
            PQfinish(raw)
            throw PostgresError(.connectionFailed, clientMessage: message)
        }
        self.raw = raw
    }
}

/// Calls `body` with a null-terminated array of C strings, which lives as long as the call.
func withCStrings<Result>(
    _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Result
) -> Result {
    let copies = strings.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return (copies.map { UnsafePointer($0) } + [nil]).withUnsafeBufferPointer { body($0.baseAddress) }
}

extension PostgresConnection {
    /// Runs `body` with a connection of its own, and closes it afterwards. On the loop.
    ///
    /// - Throws: `PostgresError` if there is no connection; what `body` throws.
    package static func withConnection<Value>(
        _ configuration: PostgresConfiguration, loop: EventLoop,
        _ body: (PostgresConnection) async throws -> Value
    ) async throws -> Value {
        let connection = try await connect(configuration, loop: loop)
        do {
            let value = try await body(connection)
            await connection.close()
            return value
        } catch {
            await connection.close()
            throw error
        }
    }
}
