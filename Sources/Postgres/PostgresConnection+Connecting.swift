import CLibPQ
import EventLoop

extension PostgresConnection {
    /// Connects on a thread of its own and hands the session to `loop`, on whose thread this must be called.
    ///
    /// - Parameter threads: shared with other connections, or new ones.
    /// - Throws: ``PostgresError/Code/connectionFailed``, ``PostgresError/Code/invalidConfiguration``, or
    ///   ``PostgresError/Code/cancelled`` where the task was cancelled meanwhile.
    public static func connect(
        _ configuration: PostgresConfiguration, loop: EventLoop, threads: PostgresThreads = PostgresThreads()
    ) async throws(PostgresError) -> PostgresConnection {
        loop.preconditionInEventLoop()
        let parameters = try configuration.connectionParameters()
        let handle: ConnectionHandle
        do {
            handle = try await threads.connecting.run {
                try ConnectionHandle(blockingParameters: parameters)
            }
        } catch let error as PostgresError {
            throw error
        } catch {
            throw PostgresError(.connectionFailed, clientMessage: "\(error)")
        }
        loop.preconditionInEventLoop()
        let connection = try PostgresConnection(
            handle: handle, configuration: configuration, loop: loop, threads: threads)
        guard !Task.isCancelled else {
            await connection.close()
            throw PostgresError(.cancelled)
        }
        return connection
    }
}
