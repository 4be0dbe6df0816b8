import Foundation

/// Why a private cluster could not do what was asked; `description` is one message for a terminal.
public enum PrivateClusterError: Error, Hashable, CustomStringConvertible, LocalizedError {
    /// No PostgreSQL of version 15 or later with PostGIS was found in `searched`.
    case postgresNotFound(searched: [String])
    /// Another living process holds this folder's cluster.
    case directoryInUse(path: String, processID: Int32?)
    /// The data was written by another major version than the one installed.
    case incompatibleData(path: String, dataVersion: String, installedVersion: Int)
    /// The folder belongs to a user that this process cannot act as.
    case foreignDirectory(path: String, owner: String)
    /// The process runs as root and there is no unprivileged user to run the server as.
    case noServerUser(reason: String)
    /// `initdb` failed; `output` is what it printed.
    case initializationFailed(output: String)
    /// The server ended before it accepted connections; `log` holds its last lines.
    case serverFailed(log: String)
    /// A client program of PostgreSQL failed; `output` is what it printed.
    case commandFailed(command: String, output: String)
    /// The cluster has not been started, or was stopped.
    case notRunning

    /// One message for a terminal, with the way out where there is one.
    public var description: String {
        switch self {
        case .postgresNotFound(let searched):
            "PostgreSQL 15 or later with PostGIS was not found (looked in \(searched.joined(separator: ", "))); "
                + "run scripts/bootstrap, or set POI_POSTGRES_BIN to its bin folder"
        case .directoryInUse(let path, let processID):
            "another poi dev uses \(path)" + (processID.map { " (process \($0))" } ?? "")
        case .incompatibleData(let path, let dataVersion, let installedVersion):
            "\(path) was written by PostgreSQL \(dataVersion), but PostgreSQL \(installedVersion) is installed; "
                + "set POI_POSTGRES_BIN to version \(dataVersion), or remove the folder to start afresh"
        case .foreignDirectory(let path, let owner):
            "\(path) belongs to user \(owner); start as that user or as root, or choose another folder"
        case .noServerUser(let reason):
            "PostgreSQL refuses to run as root, and \(reason)"
        case .initializationFailed(let output):
            "initdb failed: \(output)"
        case .serverFailed(let log):
            "PostgreSQL did not start: \(log)"
        case .commandFailed(let command, let output):
            "\(command) failed: \(output)"
        case .notRunning:
            "the private PostgreSQL is not running"
        }
    }

    /// The same message as `description`.
    public var errorDescription: String? { description }
}
