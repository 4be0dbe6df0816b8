import Foundation
import Loopback
import Postgres
import PrivateCluster
import Testing

@testable import EventLoop

/// TLS is libpq's, and set in the connection string.
@Suite("TLS to the database", .timeLimit(.minutes(2)))
struct TLSTests {
    /// A server with a certificate of its own for `localhost`, on a TCP port, and the certificates' files.
    private struct SecureServer {
        let cluster: PrivateCluster
        let port: Int
        let (certificate, otherCertificate): (URL, URL)

        init() throws {
            port = try FreePort.choose()
            cluster = PrivateCluster(ephemeralWith: ["listen_addresses": "127.0.0.1", "port": "\(port)"])
            try cluster.start()
            // Made by the server, the key is its own and closed to others, as it demands.
            for name in ["server", "other"] {
                try cluster.execute(
                    """
                    COPY (SELECT) TO PROGRAM 'openssl req -x509 -newkey rsa:2048 -nodes -days 2 \
                    -subj /CN=localhost -addext subjectAltName=DNS:localhost \
                    -keyout \(name).key -out \(name).crt 2>/dev/null'
                    """)
            }
            try cluster.execute("ALTER SYSTEM SET ssl = on; SELECT pg_reload_conf()")
            while try cluster.execute("SHOW ssl") != "on" {}
            certificate = try Self.file(cluster, "server.crt")
            otherCertificate = try Self.file(cluster, "other.crt")
        }

        private static func file(_ cluster: PrivateCluster, _ name: String) throws -> URL {
            let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            try Data(cluster.execute("SELECT pg_read_file('\(name)')").utf8).write(to: file)
            return file
        }

        func conninfo(host: String = "localhost", root: URL) -> String {
            "postgresql://postgres@\(host):\(port)/postgres?hostaddr=127.0.0.1&sslmode=verify-full"
                + "&sslrootcert=\(root.path(percentEncoded: false))"
        }

        func remove() {
            cluster.stop()
            for file in [certificate, otherCertificate] { try? FileManager.default.removeItem(at: file) }
        }
    }

    @Test("A connection is made only to a server with a trusted certificate for its name")
    func verification() async throws {
        let server = try SecureServer()
        defer { server.remove() }
        let good = server.conninfo(root: server.certificate)
        let isEncrypted = try await onLoop { loop in
            let connection = try await PostgresConnection.connect(
                PostgresConfiguration(conninfo: good), loop: loop)
            let rows = try await connection.query(
                "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
            let isEncrypted = try rows.only().decode(Bool.self, at: 0)
            await connection.close()
            return isEncrypted
        }
        #expect(isEncrypted)
        let refused = [
            (server.conninfo(root: server.otherCertificate), "certificate verify failed"),
            (server.conninfo(host: "elsewhere", root: server.certificate), "does not match host name"),
            (server.conninfo(root: URL(filePath: "/nonexistent/ca.pem")), "root certificate file"),
        ]
        for (conninfo, reason) in refused {
            let error = await #expect(throws: PostgresError.self) {
                try await onLoop { loop in
                    let configuration = try PostgresConfiguration(conninfo: conninfo)
                    try await PostgresConnection.connect(configuration, loop: loop).close()
                }
            }
            #expect(error?.code == .connectionFailed)
            #expect(error?.connectFailure == .tls)
            #expect(error?.serverMessage?.contains(reason) == true, "\(error?.serverMessage ?? "")")
        }
    }
}
