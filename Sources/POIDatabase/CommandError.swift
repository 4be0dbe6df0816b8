import EventLoop
import POIService
import Postgres

/// Why a command on the database has failed; its description is one line.
public struct CommandError: Error, CustomStringConvertible {
    /// What went wrong.
    public let description: String

    init(_ description: String) {
        self.description = description
    }

    /// Runs `body` with a session of its own; an error of the database becomes one of these.
    static func withConnection<Value>(
        _ configuration: PostgresConfiguration, loop: EventLoop,
        _ body: (PostgresConnection) async throws -> Value
    ) async throws -> Value {
        do {
            let connection = try await PostgresConnection.connect(configuration, loop: loop)
            do {
                let value = try await body(connection)
                await connection.close()
                return value
            } catch {
                await connection.close()
                throw error
            }
        } catch let error as PostgresError {
            throw CommandError(error.serverMessage ?? error.description)
        }
    }
}
