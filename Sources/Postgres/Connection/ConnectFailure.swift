/// Why a connection could not be made: few kinds, so that a metric can count each.
///
/// libpq has no code for it, only text (PostgreSQL manual, `PQerrorMessage`). Its own text is English here, and so is
/// the server's unless `lc_messages` says otherwise. A text that isn't recognised is ``other``.
package enum ConnectFailure: String, Sendable, Hashable, CaseIterable {
    /// The password, the role or `pg_hba.conf` doesn't allow it.
    case authentication
    /// There is no such database, or it takes no connections.
    case missingDatabase = "missing-database"
    /// The server, the database or the role has all the connections that it may have.
    case tooManyConnections = "too-many-connections"
    /// TLS could not be agreed on: a certificate that can't be verified, a missing CA, a server without TLS.
    case tls
    case starting
    /// No server is of the kind that `target_session_attrs` asks for.
    case wrongServer = "wrong-server"
    /// A host's name could not be looked up.
    case unknownHost = "unknown-host"
    case unreachable
    /// The host didn't respond within `connect_timeout`.
    case timeout
    /// No server listens there, or it closed the connection at once.
    case refused
    /// Anything else.
    case other

    /// If several hosts failed in different ways, it is the first of their kinds in the order of the cases: earlier
    /// cases need an operator, later ones may pass.
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
        let text = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        self = Self.allCases.first { kind in kind.signs.contains { text.contains($0) } } ?? .other
    }

    /// The texts of libpq, PostgreSQL and PgBouncer by which a kind is recognised.
    fileprivate var signs: [String] {
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

extension PostgresConfiguration {
    /// libpq's message about an attempt to connect, on one line: the hosts' failures one after another, with `…` in place
    /// of each password.
    ///
    /// libpq and PostgreSQL quote no password; this is for other programs that may respond. A password that is an
    /// ordinary word is removed from connection strings only: a gap in a well-known message would reveal it.
    func logLine(_ message: String) -> String {
        let attempts = message.split(whereSeparator: \.isNewline).reduce(into: [String]()) { attempts, line in
            let words = line.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            if line.first == "\t", let last = attempts.popLast() {
                attempts.append("\(last) \(words)")
            } else {
                attempts.append(words)
            }
        }
        var line = Array(attempts.joined(separator: "; ").utf8)
        for secret in secrets {
            line.replace(Array("password=\(secret)".utf8), with: Array("password=…".utf8))
            line.replace(Array(":\(secret)@".utf8), with: Array(":…@".utf8))
            if !isOrdinary(secret) { line.replace(Array(secret.utf8), with: Array("…".utf8)) }
        }
        return String(decoding: line, as: UTF8.self)
    }

    /// Whether a text may be in a message for another reason: it is short, has only words or only digits and signs, or is
    /// in a value that messages show, such as the user, or in a text of libpq.
    private func isOrdinary(_ secret: String) -> Bool {
        let scalars = secret.unicodeScalars
        let letters = scalars.count { $0.properties.isAlphabetic }
        let spaces = scalars.count { $0 == " " }
        if scalars.count < 8 || letters == 0 || letters + spaces == scalars.count { return true }
        let texts = shownValues + ConnectFailure.allCases.flatMap(\.signs)
        return texts.contains { $0.utf8.contains(secret.utf8) }
    }
}
