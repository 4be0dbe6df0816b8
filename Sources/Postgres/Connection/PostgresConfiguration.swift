#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Where the database is and how its sessions are set up.
///
/// Its description holds neither the password nor anything else that libpq treats as secret.
package struct PostgresConfiguration: Sendable {
    package struct Setting: Sendable, Hashable {
        /// The parameter's name, for example `statement_timeout`.
        package var name: String
        /// Its value in PostgreSQL's own notation, for example `2s`.
        package var value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The conninfo string or URI, handed to libpq as it is; nil leaves everything to the `PG*` variables.
    package let conninfo: String?
    /// Seconds per host, at least 2 (libpq rounds up); the conninfo and `PGCONNECT_TIMEOUT` override it.
    package var connectTimeoutSeconds = 5
    /// The name in `pg_stat_activity`, unless the conninfo or `PGAPPNAME` says another.
    package var applicationName = "points-of-interest"
    /// The session's settings, sent as the start-up parameter `options`. Options in the conninfo or in `PGOPTIONS`
    /// override them; those of a service file don't. A pooler that refuses the parameter gets a second attempt without
    /// it: there, set them by `ALTER ROLE … SET`.
    package var settings: [Setting] = [
        Setting("jit", "off"),
        Setting("max_parallel_workers_per_gather", "0"),
    ]
    /// How long a statement may take before the server itself ends it; nil leaves it to the server's configuration.
    package var statementTimeout: Duration? = .seconds(2)
    /// Whether statements are kept on the server.
    package var preparedStatements = PreparedStatementUse.auto
    /// How long past its deadline a query may keep its connection before that is closed.
    package var overrunGrace: Duration = .seconds(5)

    /// Checks the conninfo's syntax and values, not whether a server is there.
    ///
    /// - Throws: ``PostgresError/Code/invalidConfiguration``, which quotes nothing: libpq's own message might
    ///   hold a part of the password.
    package init(conninfo: String? = nil) throws(PostgresError) {
        self.conninfo = conninfo.flatMap { $0.isEmpty ? nil : $0 }
        if let conninfo = self.conninfo {
            guard let options = ConnectionOptions(parsing: conninfo) else {
                throw PostgresError(
                    .invalidConfiguration,
                    clientMessage: "expected a connection string or URI of libpq, a password in which is "
                        + "percent-encoded (@ as %40, / as %2F)")
            }
            if let keyword = options.refusedKeyword(of: conninfo) {
                let what = keyword.isEmpty ? "what it says" : "its \(keyword)"
                throw PostgresError(.invalidConfiguration, clientMessage: "libpq doesn't take \(what)")
            }
        }
    }
}

extension PostgresConfiguration: CustomStringConvertible, CustomReflectable {
    /// The target without secrets: `host=… dbname=…`.
    package var description: String {
        let options = conninfo.flatMap { ConnectionOptions(parsing: $0) }
        let shown = (options?.shown ?? []).map { "\($0.keyword)=\($0.value)" }
        return "PostgreSQL(\(shown.isEmpty ? "PG* variables" : shown.joined(separator: " ")))"
    }

    /// Where libpq's defaults and the `PG*` variables lead, without secrets: `host=… port=… user=…`; nil where there is a
    /// conninfo.
    package var targetByDefault: String? {
        guard conninfo == nil else { return nil }
        let keywords = ["service", "host", "hostaddr", "port", "dbname", "user"]
        let shown = ConnectionOptions.defaults.shown.filter {
            keywords.contains($0.keyword) && !$0.value.isEmpty
        }
        return shown.map { "\($0.keyword)=\($0.value)" }.joined(separator: " ")
    }

    /// Hides the conninfo from `dump` too.
    package var customMirror: Mirror {
        Mirror(self, children: ["target": description])
    }
}

/// Whether statements are kept on the server between queries.
package enum PreparedStatementUse: String, Sendable, CaseIterable {
    /// Only where no pooler is noticed: behind one in transaction mode the next query may run in another backend.
    case auto
    /// Always: for a pooler that keeps track of prepared statements (PgBouncer from 1.21 on, with `max_prepared_statements`).
    case on
    /// Never: each query is parsed anew. This implies a pooler.
    case off
}

// MARK: - What libpq is given

extension PostgresConfiguration {
    /// What `PQconnectdbParams` is given: where a keyword comes twice, the later one counts.
    func connectionParameters() throws(PostgresError) -> [(keyword: String, value: String)] {
        let user = conninfo.flatMap { ConnectionOptions(parsing: $0) }
        var parameters: [(keyword: String, value: String)] = []
        if let conninfo { parameters.append(("dbname", conninfo)) }
        parameters.append(("fallback_application_name", applicationName))
        // Text is decoded as UTF-8, whatever the environment says.
        parameters.append(("client_encoding", "UTF8"))
        if user?["connect_timeout"] == nil && Self.environment("PGCONNECT_TIMEOUT") == nil {
            parameters.append(("connect_timeout", String(connectTimeoutSeconds)))
        }
        let ours = try startupOptions()
        if !ours.isEmpty {
            let theirs = user?["options"] ?? Self.environment("PGOPTIONS") ?? ""
            // The server takes options in order, so that the user's override ours.
            parameters.append(("options", theirs.isEmpty ? ours : ours + " " + theirs))
        }
        for (_, value) in parameters where value.utf8.contains(0) {
            throw PostgresError(.invalidConfiguration, clientMessage: "null byte in a connection parameter")
        }
        return parameters
    }

    /// The settings as the backend's command line takes them (`-c name=value`); empty if none are sent.
    private func startupOptions() throws(PostgresError) -> String {
        var all = settings
        if let statementTimeout {
            all.append(Setting("statement_timeout", "\(statementTimeout.millisecondsRoundedUp)ms"))
        }
        var options: [String] = []
        for setting in all {
            guard Self.isSettingName(setting.name) else {
                throw PostgresError(
                    .invalidConfiguration, clientMessage: "not a setting's name: \(setting.name)")
            }
            options.append("-c \(setting.name)=\(Self.escaped(setting.value))")
        }
        return options.joined(separator: " ")
    }

    private static func isSettingName(_ name: String) -> Bool {
        !name.isEmpty
            && name.utf8.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }

    /// Spaces and backslashes take a backslash (PostgreSQL manual, libpq's `options`).
    private static func escaped(_ value: String) -> String {
        var escaped = ""
        for scalar in value.unicodeScalars {
            if scalar == "\\" || scalar.properties.isWhitespace { escaped += "\\" }
            escaped.unicodeScalars.append(scalar)
        }
        return escaped
    }

    /// The passwords that libpq is given.
    var secrets: [String] {
        let options = conninfo.flatMap { ConnectionOptions(parsing: $0) }
        return (options?.secrets ?? []) + [Self.environment("PGPASSWORD")].compactMap(\.self)
    }

    /// The values of all other options, as the conninfo, the environment or libpq sets them.
    var shownValues: [String] {
        let options = conninfo.flatMap { ConnectionOptions(parsing: $0) }
        return ((options?.shown ?? []) + ConnectionOptions.defaults.shown).map(\.value)
    }

    private static func environment(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}

extension Duration {
    /// Whole milliseconds, rounded up, at least 1: for PostgreSQL, 0 means no limit.
    fileprivate var millisecondsRoundedUp: Int64 {
        let (seconds, attoseconds) = components
        let (milliseconds, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        // PostgreSQL counts its time-outs in an int4.
        guard !overflow else { return seconds > 0 ? Int64(Int32.max) : 1 }
        let fraction = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return min(max(milliseconds + fraction, 1), Int64(Int32.max))
    }
}
