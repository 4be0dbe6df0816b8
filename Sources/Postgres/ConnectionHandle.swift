import CLibPQ

/// Brings a new connection from the thread that made it to its loop.
///
/// `@unchecked Sendable`: one thread has it at a time; libpq asks for no more (PostgreSQL manual, "Behavior
/// in Threaded Programs").
struct ConnectionHandle: @unchecked Sendable {
    let raw: OpaquePointer

    /// Connects; blocks until it has, or has failed on every host.
    ///
    /// - Parameter optional: a keyword that is left out in a second attempt where the first is refused because
    ///   of start-up parameters, as PgBouncer does unless its `ignore_startup_parameters` names them.
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

    /// Connects; blocks until it has, or has failed on every host.
    private init(blockingParameters parameters: [(keyword: String, value: String)]) throws(PostgresError) {
        let keywords = CStringArray(parameters.map(\.keyword))
        let values = CStringArray(parameters.map(\.value))
        guard let raw = PQconnectdbParams(keywords.pointer, values.pointer, 1) else {
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
