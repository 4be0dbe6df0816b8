import EventLoop
import Foundation
import Migrator
import Places
import Postgres

/// Looks at what a fleet of servers needs of its databases, before it serves: `poi doctor`. It changes nothing.
public struct Doctor: Sendable {
    /// The servers that there will be.
    public struct Fleet: Hashable, Sendable {
        /// How many servers there are.
        public let servers: Int
        /// How many loops each has.
        public let loops: Int

        /// Describes a fleet.
        public init(servers: Int, loops: Int) {
            (self.servers, self.loops) = (servers, loops)
        }
    }

    private let database: DatabaseConfiguration
    private let events: EventDatabaseConfiguration
    private let migrations: MigrationDirectory
    private let fleet: Fleet

    /// Looks at the databases of a configuration.
    ///
    /// - Parameter migrations: those that this program relies on.
    public init(
        _ database: DatabaseConfiguration, events: EventDatabaseConfiguration,
        migrations: MigrationDirectory, fleet: Fleet
    ) {
        self.database = database
        self.events = events
        self.migrations = migrations
        self.fleet = fleet
    }

    /// Asks the databases, and returns what was found. A database that can't be asked is a finding. Blocks.
    ///
    /// - Throws: `EventLoopError` where no loop can be started.
    public func run() throws -> [Finding] {
        try EventLoop.runToCompletion { loop in
            var findings = await asking("database", database.postgres, loop) { connection in
                try await places(connection)
            }
            findings += await asking("events", events.postgres, loop) { connection in
                let facts = try await EventDatabaseFacts(connection)
                return facts.findings
                    + (events.isSeparate ? [try await clock("events' clock", connection)] : [])
            }
            return findings + (await replicas(loop))
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
        let connections =
            fleet.loops * (database.pool.connections + (events.isSeparate ? 0 : events.pool.connections)) + 2
        findings.append(facts.connections(each: connections, servers: fleet.servers))
        if facts.hasPlaces {
            findings.append(
                database.index.finding(placeCount: try await IndexFollower.estimatedCount(connection)))
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

    private func replicas(_ loop: EventLoop) async -> [Finding] {
        guard let route = ReadRoute(database) else { return [] }
        let primary = await Self.state(database.postgres, loop)
        var findings: [Finding] = []
        for endpoint in route.endpoints {
            let subject = "reads from \(endpoint)"
            switch (await Self.state(route.probe(endpoint), loop), primary) {
            case (.failure(let error), _):
                findings.append(
                    Finding(
                        subject, .warning, "can't be asked: \(error)".onOneLine,
                        advice:
                            "reads go to the other servers; start it, or take it out of POI_READ_DATABASE_URL"
                    ))
            case (.success(let state), .success(let primary)):
                let behind = primary.progress.replayed - state.progress.replayed
                findings.append(
                    Finding(
                        subject, isStandby: state.isStandby, bytesBehind: behind,
                        sinceLastTransaction: state.progress.sinceLastTransaction,
                        maximumLag: database.maxReplicaLag))
            case (.success, .failure):
                // The database's own finding says it.
                continue
            }
        }
        return findings
    }

    private static func state(
        _ configuration: PostgresConfiguration, _ loop: EventLoop
    ) async -> Result<ReplicaProbe.ServerState, PostgresError> {
        let probe = ReplicaProbe(configuration, loop: loop)
        let result: Result<ReplicaProbe.ServerState, PostgresError>
        do throws(PostgresError) { result = .success(try await probe.run()) } catch {
            result = .failure(error)
        }
        await probe.close()
        return result
    }
}
