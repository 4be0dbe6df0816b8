/// Why a connection could not be made: few kinds, so that a metric can count each.
///
/// libpq has no code for it, only text (PostgreSQL manual, `PQerrorMessage`). Its own text is English here, and so is
/// the server's unless `lc_messages` says otherwise. A text that isn't recognised is ``other``.
public enum ConnectFailure: String, Sendable, Hashable, CaseIterable {
    /// The password, the role or `pg_hba.conf` doesn't allow it.
    case authentication
    /// There is no such database, or it takes no connections.
    case missingDatabase = "missing-database"
    /// The server, the database or the role has all the connections that it may have.
    case tooManyConnections = "too-many-connections"
    /// TLS could not be agreed on: a certificate that can't be verified, a missing CA, a server without TLS.
    case tls
    /// The server starts, stops or recovers.
    case starting
    /// No server is of the kind that `target_session_attrs` asks for.
    case wrongServer = "wrong-server"
    /// A host's name could not be looked up.
    case unknownHost = "unknown-host"
    /// There is no route to the host.
    case unreachable
    /// The host didn't respond within `connect_timeout`.
    case timeout
    /// Nothing listens there, or what does closed the connection at once.
    case refused
    /// Anything else.
    case other

    /// Where several hosts failed in different ways, the kind that comes first in the order of the cases: the earlier
    /// ones need an operator, the later ones may pass.
    init(sqlState: SQLState?, text: String) {
        self = sqlState.flatMap(Self.init(sqlState:)) ?? Self(text: text)
    }

    private init?(sqlState: SQLState) {
        switch sqlState.rawValue {
        case "28000", "28P01", "42501": self = .authentication
        case "3D000": self = .missingDatabase
        case "53300": self = .tooManyConnections
        case "57P03": self = .starting
        default: return nil
        }
    }

    private init(text: String) {
        self = Self.allCases.first { kind in kind.signs.contains { text.contains($0) } } ?? .other
    }

    /// The texts of libpq, PostgreSQL and PgBouncer by which a kind is recognised.
    private var signs: [String] {
        switch self {
        case .authentication:
            [
                "authentication failed", "no password supplied", "pg_hba.conf", "FATAL: role \"",
                "not permitted to log in", "permission denied for database", "no such user",
            ]
        case .missingDatabase: ["FATAL: database \"", "no such database"]
        case .tooManyConnections:
            [
                "too many clients", "too many connections", "remaining connection slots",
                "no more connections allowed",
            ]
        case .tls: ["SSL", "certificate", "private key file"]
        case .starting: ["FATAL: the database system"]
        case .wrongServer: ["session is read-only", "session is not read-only", "hot standby mode"]
        case .unknownHost: ["could not translate host name"]
        case .unreachable: ["Network is unreachable", "No route to host"]
        case .timeout: ["timeout expired", "Connection timed out"]
        case .refused:
            [
                "Connection refused", "No such file or directory", "Connection reset",
                "server closed the connection",
            ]
        case .other: []
        }
    }
}

extension PostgresError {
    /// Why the connection could not be made, for ``Code/connectionFailed``.
    public var connectFailure: ConnectFailure? {
        code == .connectionFailed ? ConnectFailure(sqlState: sqlState, text: serverMessage ?? "") : nil
    }
}

extension PostgresConfiguration {
    /// libpq's message about an attempt to connect, on one line: the hosts' failures one after another, with `…` in place
    /// of each password.
    func logLine(_ message: String) -> String {
        let attempts = message.replacing("\n\t", with: " ").split(separator: "\n")
        let line = attempts.map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
            .joined(separator: "; ")
        return secrets.reduce(line) { $0.replacing($1, with: "…") }
    }
}
