#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

extension PostgresConfiguration {
    /// What `PQconnectdbParams` is given: where a keyword comes twice, the later one counts.
    func connectionParameters() throws(PostgresError) -> [(keyword: String, value: String)] {
        let user = conninfo.flatMap { ConnectionOptions(parsing: $0) }
        var parameters: [(keyword: String, value: String)] = []
        if let conninfo { parameters.append(("dbname", conninfo)) }
        parameters += overrides
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
        guard sendsSettings else { return "" }
        var all = settings
        if let statementTimeout {
            all.append(Setting("statement_timeout", "\(statementTimeout.wholeMilliseconds)ms"))
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

    private static func environment(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}

extension Duration {
    /// Whole milliseconds, rounded up, at least 1: for PostgreSQL, 0 means no limit.
    fileprivate var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (milliseconds, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        // PostgreSQL counts its time-outs in an int4.
        guard !overflow else { return seconds > 0 ? Int64(Int32.max) : 1 }
        let fraction = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return min(max(milliseconds + fraction, 1), Int64(Int32.max))
    }
}
