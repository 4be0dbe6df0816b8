import CLibPQ

/// Brings a new connection from the thread that made it to its loop.
///
/// `@unchecked Sendable`: one thread has it at a time; libpq asks for no more (PostgreSQL manual, "Behavior
/// in Threaded Programs").
struct ConnectionHandle: @unchecked Sendable {
    let raw: OpaquePointer

    /// Connects; blocks until it has, or has failed on every host.
    init(blockingParameters parameters: [(keyword: String, value: String)]) throws(PostgresError) {
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
