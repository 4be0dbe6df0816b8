import ChildProcesses
import Foundation
import Locking

/// A PostgreSQL server of our own, reachable through a Unix socket in a private folder and by nothing else.
///
/// The server stops when this process ends, for whatever reason: a supervisor waits for the end of a socket that
/// only this process holds. A terminal's Ctrl-C does not reach the server, so that its owner can finish first.
/// Started by root, the server runs as the owner of an existing folder, else as `postgres`.
///
/// Every method blocks until its work is done. All may be called from any thread, and run one at a time.
package final class PrivateCluster: Sendable {
    /// How a server is to stop (PostgreSQL manual, "Shutting Down the Server").
    package enum ShutdownMode: String, Sendable {
        /// SIGINT: ends the sessions, then writes everything out.
        case fast = "INT"
        /// SIGQUIT: stops at once, like a crash; the next start recovers.
        case immediate = "QUIT"
    }

    /// Whether the data outlives the process.
    enum Storage {
        case persistent(path: String)
        case ephemeral
        /// As ephemeral, but made as a copy of another, which it follows.
        case standby(of: PrivateCluster)
    }

    private let storage: Storage
    private let settings: [String: String]
    private let state = Lock<RunningCluster?>(nil)

    /// A cluster that keeps its data in `directory`, which is made at the first start.
    ///
    /// Where root starts it below a folder that the server's user may not enter, the data is in
    /// `/var/lib/poi-dev-<hash>` instead and `directory` becomes a link to it. Besides the data the folder holds
    /// `server.log`, `server.log.previous` of the run before and, while the server runs, `socket`, a link to the folder of its socket.
    package init(directory: URL, settings: [String: String] = [:]) {
        storage = .persistent(path: directory.absoluteURL.standardizedFileURL.path(percentEncoded: false))
        self.settings = settings
    }

    /// A cluster for tests: nothing is written through to the disk, and everything is removed at the end.
    package init(ephemeralWith settings: [String: String] = [:]) {
        storage = .ephemeral
        self.settings = settings
    }

    /// A cluster for tests that is a hot standby: it follows another by streaming, which must run when this one starts. It
    /// stays a standby until `pg_promote()` is called in it. Everything is removed at the end.
    package init(standbyOf primary: PrivateCluster, settings: [String: String] = [:]) {
        storage = .standby(of: primary)
        self.settings = settings
    }

    /// Makes the cluster if it is missing, and stops a server that an earlier, killed process left behind. Does nothing when
    /// already started. After an error nothing is left running.
    package func start() throws {
        try state.withLock { running in
            if running == nil { running = try RunningCluster(storage: storage, settings: settings) }
        }
    }

    /// Stops the server, waits for its end and releases the folder. Does nothing when already stopped.
    package func stop() {
        state.withLock { running in
            running?.close()
            running = nil
        }
    }

    /// Stops only the server: the cluster and its socket's folder stay ours, so that ``startServer()`` can follow.
    package func stopServer(_ mode: ShutdownMode = .fast) throws {
        try withRunning { $0.stopServer(mode) }
    }

    /// Starts the server again after ``stopServer(_:)`` or its end; connection strings stay valid.
    package func startServer() throws { try withRunning { try $0.startServer() } }

    package func restartServer(_ mode: ShutdownMode = .fast) throws {
        try withRunning { running in
            running.stopServer(mode)
            try running.startServer()
        }
    }

    /// Sends `SIGKILL` to the postmaster alone and waits until all its processes have exited.
    package func crashServer() throws { try withRunning { try $0.crashServer() } }

    /// Suspends all processes of the server (SIGSTOP), as on a machine that hangs: connections stay open and nothing
    /// responds.
    package func suspendServer() throws { try withRunning { $0.signalServer(SIGSTOP) } }

    package func resumeServer() throws { try withRunning { $0.signalServer(SIGCONT) } }

    /// The folder of the server's socket, which is its host for libpq.
    package func socketFolder() throws -> String { try withRunning { $0.socketFolder } }

    /// A libpq URI for a database of this cluster, as its superuser `postgres` and without a password.
    package func connectionString(database: String = "postgres") throws -> String {
        let name = database.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? database
        let port = settings["port"].map { "&port=\($0)" } ?? ""
        return try withRunning { "postgresql://postgres@/\(name)?host=\($0.socketFolder)\(port)" }
    }

    /// The process id of the postmaster that runs, or ran last.
    package func postmasterID() throws -> Int32 {
        try withRunning { running in
            guard let id = running.directory.postmasterID else { throw PrivateClusterError.notRunning }
            return id
        }
    }

    /// The folder that really holds the cluster; see ``init(directory:settings:)``.
    package func directory() throws -> URL {
        try withRunning { URL(filePath: $0.directory.path, directoryHint: .isDirectory) }
    }

    /// The path of one of PostgreSQL's programs, of the server's own version.
    func program(_ name: String) throws -> String {
        try withRunning { $0.installation.program(name) }
    }

    func withRunning<R>(_ body: (RunningCluster) throws -> R) throws -> R {
        try state.withLock { running in
            guard let running else { throw PrivateClusterError.notRunning }
            return try body(running)
        }
    }

    // MARK: Databases

    /// Makes a database, as a copy of `template` if given, which then must have no session.
    package func createDatabase(_ name: String, template: String? = nil) throws {
        try execute(
            "CREATE DATABASE \(quoted(name))" + (template.map { " TEMPLATE \(quoted($0))" } ?? ""))
    }

    package func dropDatabase(_ name: String) throws {
        try execute("DROP DATABASE IF EXISTS \(quoted(name)) WITH (FORCE)")
    }

    package func hasDatabase(_ name: String) throws -> Bool {
        let literal = name.replacing("'", with: "''")
        return try execute("SELECT count(*) FROM pg_database WHERE datname = '\(literal)'") == "1"
    }

    /// Runs SQL through `psql`, each statement a transaction of its own, and stops at the first error.
    /// - Returns: the rows, one a line, fields separated by `|`, without a final line break.
    /// - Throws: ``PrivateClusterError/commandFailed(command:output:)`` with what `psql` printed.
    @discardableResult
    package func execute(_ sql: String, database: String = "postgres") throws -> String {
        let psql = [
            try program("psql"), "--no-psqlrc", "--quiet", "--no-align", "--tuples-only",
            "--set=ON_ERROR_STOP=1", "--file=-", try connectionString(database: database),
        ]
        let output = try ChildProcess.run(psql, input: sql)
        guard output.exitCode == 0 else {
            throw PrivateClusterError.commandFailed(command: "psql", output: output.text)
        }
        return String(output.standardOutput.trimmingSuffix(while: \.isNewline))
    }

    package func dump(database: String) throws -> URL {
        let file = try directory().appending(path: "\(UUID().uuidString).dump")
        try run(
            "pg_dump", ["--format=custom", "--file=\(file.path())", connectionString(database: database)])
        return file
    }

    /// - Parameter sections: which parts of it: `pre-data`, `data`, `post-data`; none named means all.
    package func restore(_ dump: URL, database: String, sections: [String] = []) throws {
        try run(
            "pg_restore",
            sections.map { "--section=\($0)" } + [
                "--exit-on-error", "--dbname=\(connectionString(database: database))", dump.path(),
            ])
    }

    private func run(_ name: String, _ arguments: [String]) throws {
        let output = try ChildProcess.run([try program(name)] + arguments)
        guard output.exitCode == 0 else {
            throw PrivateClusterError.commandFailed(command: name, output: output.text)
        }
    }

    private func quoted(_ identifier: String) -> String {
        "\"" + identifier.replacing("\"", with: "\"\"") + "\""
    }
}

extension StringProtocol {
    fileprivate func trimmingSuffix(while matches: (Character) -> Bool) -> SubSequence {
        guard let last = lastIndex(where: { !matches($0) }) else { return self[startIndex..<startIndex] }
        return self[...last]
    }
}

/// Why a private cluster could not do what was asked; `description` is one message for a terminal.
package enum PrivateClusterError: Error, Hashable, CustomStringConvertible, LocalizedError {
    case postgresNotFound(searched: [String])
    case directoryInUse(path: String, processID: Int32?)
    case incompatibleData(path: String, dataVersion: String, installedVersion: Int)
    case foreignDirectory(path: String, owner: String)
    /// The process runs as root and there is no unprivileged user to run the server as.
    case noServerUser(reason: String)
    case initializationFailed(output: String)
    case serverFailed(log: String)
    case commandFailed(command: String, output: String)
    case notRunning

    /// One message for a terminal, with the way out where there is one.
    package var description: String {
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
        case .noServerUser(let reason): "PostgreSQL refuses to run as root, and \(reason)"
        case .initializationFailed(let output): "initdb failed: \(output)"
        case .serverFailed(let log): "PostgreSQL did not start: \(log)"
        case .commandFailed(let command, let output): "\(command) failed: \(output)"
        case .notRunning: "the private PostgreSQL is not running"
        }
    }

    package var errorDescription: String? { description }
}
