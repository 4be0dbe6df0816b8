import EventLoop
import PlaceImport
import PointsOfInterestAPI
import PointsOfInterestServerAPI
import Postgres

/// Runs `poi duplicates`: the probable duplicates of two datasets, in memory. A role that may read is enough.
package struct DuplicateSearch: Sendable {
    package struct Counts: Sendable, Hashable {
        package var pairs = 0
        /// Places that had more than are written.
        package var crowded = 0
    }

    private let configuration: PostgresConfiguration
    private let first: String
    private let second: String

    /// The places of `second` would be merged into those of `first`; it may be the same dataset.
    package init(_ database: DatabaseConfiguration, _ first: String, _ second: String) {
        (configuration, self.first, self.second) = (database.postgresWithoutTimeout, first, second)
    }

    /// Passes a CSV to `write`, a line at a time. Blocks.
    package func run(write: @escaping @Sendable (String) throws -> Void) throws -> Counts {
        let (own, others) = try EventLoop.runToCompletion { loop in
            try await CommandError.withConnection(configuration, loop: loop) { connection in
                try await connection.withTransaction { connection in
                    _ = try await connection.query(
                        "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                    let own = try await Self.places(of: first, connection)
                    return (own, first == second ? own : try await Self.places(of: second, connection))
                }
            }
        }
        var search = DuplicatePairs()
        var counts = Counts()
        try write(MergeList.header + "\n")
        try search.find(among: own, and: others) { pair in
            // Within a dataset each pair is there twice.
            guard first != second || pair.place.id < pair.other.id else { return }
            counts.pairs += 1
            try write(
                MergeList.line(
                    id: pair.other.id, into: pair.place.id, names: [pair.other.name, pair.place.name],
                    meters: pair.meters, reason: pair.reason,
                    versions: [pair.other.version, pair.place.version]) + "\n")
        }
        counts.crowded = search.crowded
        return counts
    }

    private static func places(
        of dataset: String, _ connection: PostgresConnection
    ) async throws -> [DuplicatePairs.Place] {
        _ = try await DatasetSummary.named(dataset, connection)
        var folder = NameFolder()
        var places: [DuplicatePairs.Place] = []
        while true {
            let last = places.last?.id ?? 0
            let rows = try await connection.query(
                PostgresQuery(select, [.text(dataset), .int8(last), .int8(Int64(pageSize))]))
            for row in rows {
                let (latitude, longitude): (Double, Double) = (try row.decode(at: 3), try row.decode(at: 4))
                places.append(
                    DuplicatePairs.Place(
                        id: try row.decode(at: 0), version: try row.decode(at: 1),
                        name: try row.decode(at: 2),
                        position: Coordinate(validLatitude: latitude, validLongitude: longitude),
                        website: try row.decode(at: 5), &folder))
            }
            guard rows.count == pageSize else { return places }
        }
    }

    private static let pageSize = 10_000

    private static let select: SQL = """
        SELECT id, version, name, latitude, longitude, website FROM locations WHERE source_dataset = $1 AND id > $2 \
        AND operating_status IS DISTINCT FROM 'permanentlyClosed' ORDER BY id LIMIT $3
        """
}
