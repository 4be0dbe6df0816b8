import EventLoop
import Foundation
import Migrator
import Places
import Postgres

/// Looks at what a fleet of servers needs of its databases, before it serves: `poi doctor`. It changes nothing.
package struct Doctor: Sendable {
    package struct Fleet: Hashable, Sendable {
        package let servers: Int
        /// How many loops each has.
        package let loops: Int

        package init(servers: Int, loops: Int) {
            (self.servers, self.loops) = (servers, loops)
        }
    }

    private let database: DatabaseConfiguration
    private let events: EventDatabaseConfiguration
    private let reports: EditDatabaseConfiguration?
    private let migrations: MigrationDirectory
    private let fleet: Fleet

    /// Looks at the databases of a configuration.
    ///
    /// - Parameter reports: where reports are written to; nil where people report nothing.
    package init(
        _ database: DatabaseConfiguration, events: EventDatabaseConfiguration,
        reports: EditDatabaseConfiguration? = nil, migrations: MigrationDirectory, fleet: Fleet
    ) {
        self.database = database
        self.events = events
        self.reports = reports
        self.migrations = migrations
        self.fleet = fleet
    }

    /// Asks the databases, and returns what was found. A database that can't be asked is a finding. Blocks.
    package func run() throws -> [Finding] {
        try EventLoop.runToCompletion { loop in
            var findings = await asking("database", database.postgres, loop) { connection in
                try await places(connection)
            }
            findings += await asking("events", events.postgres, loop) { connection in
                let facts = try await EventDatabaseFacts(connection)
                return facts.findings
                    + (events.isSeparate ? [try await clock("events' clock", connection)] : [])
            }
            if let reports {
                findings += await asking("reports", reports.postgres, loop) { connection in
                    [try await ReportFacts(connection).finding]
                }
            }
            if let target = database.postgres.targetByDefault {
                let text = "DATABASE_URL is not set: libpq's defaults and PG* variables lead to \(target)"
                findings.insert(Finding("address", good: text), at: 0)
            }
            if let reads = database.reads { findings.append(await standby(reads, loop)) }
            return findings
        }
    }

    private func asking(
        _ subject: String, _ configuration: PostgresConfiguration, _ loop: EventLoop,
        _ body: (PostgresConnection) async throws -> [Finding]
    ) async -> [Finding] {
        do {
            return try await CommandError.withConnection(configuration, loop: loop, body)
        } catch {
            let advice = "check its address, its role and password, pg_hba.conf and the network between"
            return [Finding(subject, .fault, "can't be asked: \(error)".onOneLine, advice: advice)]
        }
    }

    private func places(_ connection: PostgresConnection) async throws -> [Finding] {
        let facts = try await DatabaseFacts(connection)
        var findings = [facts.program, facts.role, facts.privileges]
        let health = await SchemaCheck(migrations: migrations).run { (statement) throws(PostgresError) in
            try await connection.query(statement)
        }
        findings.append(Finding(migrations: health))
        findings.append(facts.triggers)
        let readers = database.index.use == .on ? 0 : database.pool.connections
        let connections = fleet.loops * (readers + (events.isSeparate ? 0 : events.pool.connections)) + 3
        findings.append(facts.connections(each: connections, servers: fleet.servers))
        if facts.hasPlaces {
            let placeCount = try await IndexFollower.estimatedCount(connection)
            findings.append(database.index.finding(placeCount: placeCount))
            if database.index.use == .on {
                findings.append(database.index.fileFinding(placeCount: placeCount))
            }
        }
        findings.append(facts.archive)
        return findings + [try await clock("clock", connection)]
    }

    /// Compares a database's clock with this machine's: half of the way there and back is what it may be off at least.
    private func clock(_ subject: String, _ connection: PostgresConnection) async throws -> Finding {
        let before = Date().timeIntervalSince1970
        let theirs: Double = try await connection.query(
            "SELECT extract(epoch FROM clock_timestamp())::double precision"
        ).only().decode(at: 0)
        let after = Date().timeIntervalSince1970
        return Finding(subject, clockOffset: theirs - (before + after) / 2, within: (after - before) / 2)
    }

    /// The server that `POI_READ_DATABASE_URL` leads to.
    private func standby(_ reads: PostgresConfiguration, _ loop: EventLoop) async -> Finding {
        do {
            return try await CommandError.withConnection(reads, loop: loop) { connection in
                let row = try await connection.query(Self.replay).only()
                return Finding(
                    "reads from \(connection.server)", isStandby: try row.decode(at: 0),
                    bytesBehind: try row.decode(at: 1),
                    sinceLastTransaction: try row.decode(Double?.self, at: 2).map { .seconds($0) },
                    maximumLag: database.maxReplicaLag)
            }
        } catch {
            return Finding(
                "reads", .warning, "can't be asked: \(error)".onOneLine,
                advice:
                    "places are read from DATABASE_URL meanwhile; see to the hosts of POI_READ_DATABASE_URL")
        }
    }

    /// Whether a server is a standby, how much it has received and not replayed, and how old its last transaction is.
    private static let replay: PostgresQuery = """
        SELECT pg_is_in_recovery(), coalesce(pg_last_wal_receive_lsn() - pg_last_wal_replay_lsn(), 0)::bigint, \
        extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp())::double precision
        """
}
