import Places
import Postgres
import Program

/// What the places' database says of itself and of the role that asks.
struct DatabaseFacts: Hashable, Sendable {
    /// PostgreSQL's version, and PostGIS's; nil where PostGIS isn't installed.
    var postgresVersion = ""
    var postgisVersion: String?
    /// The role, and whether nothing is refused to it.
    var roleName = ""
    var isSuperuser = false
    /// How many connections the role, the database and the server allow; below 0 is no limit.
    var connectionLimits: [Int] = []
    /// Tables that there are and that the role may not read.
    var unreadableTables: [String] = []
    /// Whether there are places, and whether the role may change them.
    var hasPlaces = true
    var mayChangePlaces = false
    /// The triggers that record changes, and don't run.
    var inactiveTriggers: [String] = []
    /// PostgreSQL's `archive_mode`, and how many seconds ago a segment of the log was last archived, or couldn't be.
    var archiveMode = "on"
    var archivedAgo: Double?
    var archiveFailedAgo: Double?

    init() {}
}

extension DatabaseFacts {
    /// Asks for them.
    init(_ connection: PostgresConnection) async throws(PostgresError) {
        let row = try await connection.query(Self.query).only()
        postgresVersion = try row.decode(at: 0)
        postgisVersion = try row.decode(at: 1)
        roleName = try row.decode(at: 2)
        isSuperuser = try row.decode(at: 3)
        connectionLimits = [try row.decode(at: 4), try row.decode(at: 5), try row.decode(at: 6)]
        unreadableTables = try row.decode(at: 7)
        hasPlaces = try row.decode(at: 8)
        mayChangePlaces = try row.decode(Bool?.self, at: 9) ?? false
        archiveMode = try row.decode(at: 10)
        archivedAgo = try row.decode(at: 11)
        archiveFailedAgo = try row.decode(at: 12)
        inactiveTriggers = try await connection.query(IndexFollower.inactiveTriggers).only().decode(at: 0)
    }

    private static let query: PostgresQuery = """
        SELECT current_setting('server_version'), (SELECT extversion FROM pg_extension WHERE extname = 'postgis'),
            rolname::text, rolsuper, rolconnlimit::bigint, datconnlimit::bigint,
            current_setting('max_connections')::bigint - current_setting('superuser_reserved_connections')::bigint,
            ARRAY(
                SELECT name FROM unnest(ARRAY['categories', 'dataset', 'dataset_log', 'datasets', 'filterable_properties',
                    'locations', 'schema_migrations']) AS name
                WHERE NOT has_table_privilege(to_regclass(name), 'SELECT')
            ),
            to_regclass('locations') IS NOT NULL,
            has_table_privilege(to_regclass('locations'), 'INSERT, UPDATE, DELETE, TRUNCATE'),
            current_setting('archive_mode'), extract(epoch FROM clock_timestamp() - last_archived_time)::double precision,
            extract(epoch FROM clock_timestamp() - last_failed_time)::double precision
        FROM pg_roles, pg_database, pg_stat_archiver
        WHERE rolname = current_user AND datname = current_database()
        """
}

// MARK: - What they mean

extension DatabaseFacts {
    var program: Finding {
        guard let postgisVersion else {
            return Finding(
                "database", .fault, "PostgreSQL \(postgresVersion) without PostGIS",
                advice: "have a DBA run deploy/postgres/roles.sql, which makes the extension")
        }
        return Finding("database", good: "PostgreSQL \(postgresVersion) with PostGIS \(postgisVersion)")
    }

    var role: Finding {
        guard isSuperuser || mayChangePlaces else {
            return Finding("role", good: "\(roleName) may read places, and not change them")
        }
        return Finding(
            "role", .warning, "\(roleName) is \(isSuperuser ? "a superuser" : "allowed to change places")",
            advice: "serve as poi_serve, which deploy/postgres/roles.sql makes")
    }

    var privileges: Finding {
        guard !unreadableTables.isEmpty else { return Finding("privileges", good: "every table can be read") }
        return Finding(
            "privileges", .fault, "\(roleName) may not read \(unreadableTables.joined(separator: ", "))",
            advice: "run deploy/postgres/roles.sql again, or GRANT SELECT to \(roleName)")
    }

    var triggers: Finding {
        guard hasPlaces, !inactiveTriggers.isEmpty else {
            return Finding(
                "triggers",
                good: hasPlaces ? "changes of places are recorded" : "there is no table of places yet")
        }
        return Finding(
            "triggers", .fault, "not active: \(inactiveTriggers.joined(separator: ", "))",
            advice:
                "ALTER TABLE … ENABLE TRIGGER, then poi reindex: servers don't notice what is written meanwhile"
        )
    }

    /// - Parameters:
    ///   - each: the connections of a busy server.
    ///   - servers: how many servers there are; while one is replaced there is one more.
    func connections(each: Int, servers: Int) -> Finding {
        let allowed = connectionLimits.filter { $0 >= 0 }.min() ?? .max
        let (needed, most) = (each * servers, each * (servers + 1))
        let text =
            "\(servers) of \(each) each need \(needed), \(most) during a deployment; \(allowed) are allowed"
        guard most > allowed else { return Finding("connections", good: text) }
        return Finding(
            "connections", needed > allowed ? .fault : .warning, text,
            advice: "lower POI_LOOPS, raise max_connections, or use a pooler"
        )
    }

    var archive: Finding {
        let advice = "set up archiving and backups by Documentation/backups.md"
        guard archiveMode != "off" else {
            return Finding(
                "archive", .warning, "PostgreSQL archives nothing: a lost disk loses all events",
                advice: advice)
        }
        if let archiveFailedAgo, archiveFailedAgo < archivedAgo ?? .infinity {
            return Finding(
                "archive", .fault,
                "the last attempt failed \(Duration.seconds(archiveFailedAgo.rounded())) ago",
                advice: "read PostgreSQL's log for why archive_command fails; its disk fills meanwhile")
        }
        guard let archivedAgo else {
            return Finding("archive", .warning, "nothing was archived so far", advice: advice)
        }
        return Finding("archive", good: "last archived \(Duration.seconds(archivedAgo.rounded())) ago")
    }
}

/// What the events' database says of the role that asks.
struct EventDatabaseFacts: Hashable, Sendable {
    var roleName = ""
    /// Nil where there is no table of events.
    var mayAddEvents: Bool?
    var mayReadEvents = false

    init() {}

    init(_ connection: PostgresConnection) async throws(PostgresError) {
        let row = try await connection.query(
            """
            SELECT current_user::text, has_table_privilege(to_regclass('events'), 'INSERT'),
                coalesce(has_column_privilege(to_regclass('events'), 'value', 'SELECT'), false)
            """
        ).only()
        roleName = try row.decode(at: 0)
        mayAddEvents = try row.decode(at: 1)
        mayReadEvents = try row.decode(at: 2)
    }

    var findings: [Finding] {
        switch mayAddEvents {
        case nil: [Finding("events", .fault, "there is no table of events", advice: "run poi migrate up")]
        case false?:
            [
                Finding(
                    "events", .fault, "\(roleName) may not add events",
                    advice:
                        "write as poi_events (POI_EVENTS_DATABASE_URL), which deploy/postgres/roles.sql makes"
                )
            ]
        case true?:
            mayReadEvents
                ? [
                    Finding(
                        "events", .warning, "\(roleName) may read what people did, which servers need not",
                        advice: "write as poi_events (POI_EVENTS_DATABASE_URL), which may only add events")
                ] : [Finding("events", good: "\(roleName) may add events, and not read them")]
        }
    }
}

extension Finding {
    /// What the applied migrations mean for this program.
    init(migrations health: StoreHealth) {
        let (text, advice) =
            switch health {
            case .reachable(let missing) where !missing.isEmpty:
                ("not applied: \(missing.joined(separator: ", "))", "run poi migrate up")
            case .unreachable(let reason): ("can't be read: \(reason)", "GRANT SELECT ON schema_migrations")
            default: ("", "")
            }
        if text.isEmpty {
            self.init("migrations", good: "all are applied")
        } else {
            self.init("migrations", .fault, text, advice: advice)
        }
    }
}

extension IndexConfiguration {
    /// Whether so many places are likely to fit into the memory that they may take.
    func finding(placeCount: Int) -> Finding {
        guard use != .off else {
            return Finding("memory", good: "places aren't kept in memory (POI_INDEX=off)")
        }
        let needed = Int(Double(placeCount) * MemoryFit.usualBytesOfAPlace * Self.peakFactor)
        let text =
            "about \(placeCount) places need some \(max(1, needed >> 20)) MiB, with room to read them again; "
            + "\(maximumBytes >> 20) MiB are allowed (\(maximumOrigin))"
        guard Double(needed) > 0.8 * Double(maximumBytes) else { return Finding("memory", good: text) }
        let enough = Int(Double(needed) * 1.25) >> 20 + 1
        let advice = "allow the process more memory, or set POI_INDEX_MAX_MEMORY to \(enough)MiB or more"
        let isTooLarge = needed > maximumBytes
        return Finding(
            "memory", isTooLarge ? .fault : .warning,
            text + (isTooLarge ? ": servers don't become ready" : ""),
            advice: advice)
    }
}

extension IndexConfiguration {
    /// Whether the files of so many places fit into their folder.
    func fileFinding(placeCount: Int) -> Finding {
        guard let directory else {
            return Finding("kept places", good: "a start needs the database (POI_INDEX_DIR isn't set)")
        }
        let needed = Int(Double(placeCount) * MemoryFit.usualBytesOfAPlace) * IndexDirectory.mostFiles
        let advice = "see Documentation/operations.md#places-on-disk"
        do throws(IndexDirectory.Fault) {
            let room = try directory.room()
            let text =
                "\(directory.path) has room for \(room >> 20) MiB; about \(placeCount) places need some "
                + "\(max(1, needed >> 20)) MiB"
            guard needed > room else { return Finding("kept places", good: text) }
            return Finding("kept places", .warning, text, advice: advice)
        } catch {
            return Finding("kept places", .warning, "\(error)", advice: advice)
        }
    }
}

extension Finding {
    /// A database's clock is so many seconds ahead of this machine's, or less by what the question took.
    init(_ subject: String, clockOffset offset: Double, within error: Double) {
        let seconds = max(0, abs(offset) - error)
        guard seconds > 1 else {
            self.init(subject, good: "within a second of this machine's")
            return
        }
        self.init(
            subject, seconds > 60 ? .fault : .warning,
            "\(Duration.seconds(seconds.rounded())) \(offset > 0 ? "ahead of" : "behind") this machine's",
            advice: "run NTP on both: times of events, ages of responses and replicas' lag depend on clocks")
    }

    /// A server for reads.
    init(
        _ subject: String, isStandby: Bool, bytesBehind: Int64, sinceLastTransaction: Duration?,
        maximumLag: Duration
    ) {
        guard bytesBehind > 0, isStandby else {
            self.init(subject, good: isStandby ? "a standby that has replayed all" : "a primary")
            return
        }
        let text = "\(bytesBehind >> 10) KiB received and not replayed"
        guard let sinceLastTransaction, sinceLastTransaction > maximumLag else {
            self.init(subject, good: text)
            return
        }
        self.init(
            subject, .warning, text + ", its last transaction is \(sinceLastTransaction) old",
            advice:
                "places are read from the primary while it is behind for more than \(maximumLag): see PoiNoStandby in Documentation/operations.md"
        )
    }
}
