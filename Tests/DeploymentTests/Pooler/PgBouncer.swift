import Foundation
import PrivateCluster
import ServerProcess

/// A PgBouncer in transaction mode in front of a cluster's database, on a Unix socket of its own.
struct PgBouncer {
    let program: ChildProgram
    private let folder: TemporaryFolder
    private let database: String

    private static let port = 6432

    /// Starts it, and waits until it takes connections.
    ///
    /// - Parameters:
    ///   - backends: how many connections to the database all clients share.
    ///   - settings: further lines of its configuration.
    init(_ cluster: PrivateCluster, database: String, backends: Int, settings: [String] = []) async throws {
        self.database = database
        folder = try TemporaryFolder(permissions: 0o777)
        let lines =
            [
                "[databases]",
                "\(database) = host=\(try cluster.socketFolder()) dbname=\(database) user=postgres",
                "[pgbouncer]", "unix_socket_dir = \(folder.path)", "unix_socket_mode = 0777",
                "listen_port = \(Self.port)", "auth_type = any", "pool_mode = transaction",
                "default_pool_size = \(backends)", "max_client_conn = 200", "log_connections = 0",
                "log_disconnections = 0",
            ] + settings
        let file = folder.path + "/pgbouncer.ini"
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: file))
        // It refuses to run as root; the cluster's socket is open to the cluster's user.
        let user = ["/usr/bin/setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", "--"]
        program = try ChildProgram(
            executable: "/bin/sh",
            arguments: ["-c", Self.supervisor, "supervisor"] + (geteuid() == 0 ? user : [])
                + ["/usr/sbin/pgbouncer", file],
            environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"])
        _ = try await program.output.line { $0.text.contains("process up") }
    }

    /// A libpq URI of the database through it.
    var connectionString: String {
        "postgresql://postgres@/\(database)?host=\(folder.path)&port=\(Self.port)"
    }

    /// Ends it and removes what it had.
    func stop() async throws {
        program.send(signal: SIGINT)
        _ = try await program.exitCode()
        folder.remove()
    }

    /// Becomes the program; what stays behind ends it with this process, as in `PoiProgram`.
    private static let supervisor = """
        exec 3<&0 </dev/null
        ( read -r _ <&3 || kill -s KILL $$ ) >/dev/null 2>&1 &
        exec "$@" 3<&-
        """
}
