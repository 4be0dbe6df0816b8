import EventLoop
import Places
import PointsOfInterestServerAPI
import Postgres
import SpatialIndex
import Telemetry

extension IndexFollower {
    /// Looks at the database once, and reads what has changed, or everything.
    ///
    /// - Returns: false where another look should follow soon.
    /// - Throws: `PostgresError`; `IndexTooLarge` where the places don't fit; `PlacesReplaced` where they have to be read
    ///   again.
    func follow(_ connection: PostgresConnection) async throws -> Bool {
        let time = loop.now
        try await connection.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        let look = try await look(at: connection, machine.held)
        try await checkTriggers(connection, at: time)
        noteServer(isStandby: look.isStandby)
        let actions = machine.looked(look, at: time)
        perform(actions)
        if let version = look.version, actions.contains(.load),
            try await loadIfFitting(connection, version, at: time)
        {
            // Loading takes a while, so there may be changes by now.
            return false
        }
        if let version = look.version, actions.contains(.readChanges), try await hasRoom(connection) {
            try await readChanges(connection, to: version, at: time)
        }
        if let version = look.version, machine.held == version {
            try await learnFormerIDs(connection, at: time)
        }
        if let version = look.version {
            let differ = try await verify(connection, version, at: time) == .filterablePropertiesDiffer
            if differ, try await loadIfFitting(connection, version, at: time) { return false }
        }
        try await connection.run("COMMIT")
        if actions.contains(.askPrimary) { await askPrimary() }
        return true
    }

    /// What the database has now, compared with what is held.
    func look(
        at connection: PostgresConnection, _ held: DatasetVersion?
    ) async throws(PostgresError) -> IndexFollowStateMachine.Look {
        let query = PostgresQuery(Self.look, [.int8(held?.revision ?? -1)])
        let row = try await connection.query(query, timeout: Self.lookTimeout).only()
        let own = try row.decode(DatasetID?.self, at: 2)
        let isListed: Bool = try row.decode(at: 3)
        return IndexFollowStateMachine.Look(
            version: try row.decode(at: 0), isStandby: try row.decode(at: 1),
            own: own.map { $0 == held?.datasetID ? .same : .another } ?? .missing,
            changedCount: isListed ? try row.decode(at: 4) : nil)
    }

    /// The dataset's version; whether the server is a standby; the dataset id of the revision `$1`; and of the newer
    /// revisions whether all name their places, and how many places they name.
    private static let look: SQL = """
        SELECT (SELECT version FROM dataset), pg_is_in_recovery(), \
        (SELECT encode(substring(sha256(uuid_send(id) || (SELECT uuid_send(id) FROM dataset_incarnation)) FOR 16), \
        'hex')::uuid FROM dataset_log WHERE revision = $1), \
        coalesce(bool_and(place_ids IS NOT NULL), true), coalesce(sum(cardinality(place_ids)), 0)::bigint \
        FROM dataset_log WHERE $1 >= 0 AND revision > $1
        """

    // MARK: Changes

    private func readChanges(
        _ connection: PostgresConnection, to version: DatasetVersion, at time: Duration
    ) async throws {
        guard let snapshot, let held = machine.held else { return }
        var builder = IndexPartBuilder(expecting: 64, vocabulary: snapshot.vocabulary)
        var decoder = PlaceCopyDecoder()
        let sql: SQL =
            "COPY (SELECT changed.id, place.* FROM (SELECT DISTINCT unnest(place_ids) AS id FROM dataset_log "
            + "WHERE revision > " + SQL(integer: Int(held.revision))
            + ") AS changed LEFT JOIN LATERAL (SELECT "
            + PlaceColumn.sql
            + " FROM locations WHERE locations.id = changed.id OFFSET 0) AS place ON true) TO STDOUT (FORMAT binary)"
        try await connection.copy(sql) { try decoder.decode($0, into: &builder) }
        let former = try await changedFormerIDs(
            since: held.revision, removedIDs: decoder.removedIDs, placeIDs: builder.ids, connection)
        let facts = try await facts(of: version, former, connection)
        let count = builder.placeCount + decoder.removedIDs.count
        let next = snapshot.applying(
            removedIDs: decoder.removedIDs, added: builder.placeCount > 0 ? builder.build() : nil,
            version: IndexVersion(facts))
        try await take(next, facts, at: time, connection)
        index.update { $0.changeCount += count }
    }

    /// Serves these places from now on. They were read by a look that began at `time`.
    ///
    /// - Throws: `IndexTooLarge` where they don't fit; `PostgresError`.
    func take(
        _ next: IndexSnapshot, _ facts: ServedIndex.Facts, at time: Duration, _ connection: PostgresConnection
    ) async throws {
        let bytes = next.bytes + facts.formerBytes
        guard configuration.index.fits(bytes) else {
            throw tooLarge(next.placeCount, bytes, estimate: try await Self.estimatedCount(connection))
        }
        fit.begin()
        snapshot = next.labelled(facts.labels)
        self.facts = facts
        perform(machine.took(facts.version, placeCount: next.placeCount, at: time))
    }

    /// Reads what else is known of a dataset, after its places were read in the same snapshot. If the names of the categories
    /// are the same as before, the result has the same value of them.
    ///
    /// - Throws: `PlacesReplaced` where what was read isn't of that snapshot; `PostgresError`.
    func facts(
        of version: DatasetVersion, _ former: FormerIDs?, _ connection: PostgresConnection
    ) async throws -> ServedIndex.Facts {
        let row = try await connection.query(Self.categories, timeout: Self.lookTimeout).only()
        guard try row.decode(Bool.self, at: 1) else { throw PlacesReplaced() }
        let names = try row.decode([String].self, at: 0)
        let labels = try CategoryLabels(row, at: 2)
        var datasets: [ExactName: DatasetFacts] = [:]
        for row in try await connection.query(Self.datasets, timeout: Self.lookTimeout) {
            datasets[ExactName(try row.decode(at: 0))] = DatasetFacts(
                license: try row.decode(at: 1), credit: try row.decode(at: 2), url: try row.decode(at: 3))
        }
        let known = facts?.categories
        return ServedIndex.Facts(
            version: version, datasetID: index.servedID(of: version.datasetID),
            categories: known?.sortedNames == names
                ? known ?? NameVocabulary(names) : NameVocabulary(names),
            labels: labels, datasets: datasets, former: former)
    }

    /// The names of all categories, and the words for them; and whether the tables of places and removed places still have the files
    /// that they had when the snapshot began. TRUNCATE, and an ALTER TABLE that rewrites the rows, give a table another one, in which older snapshots
    /// see no row (PostgreSQL manual, "Concurrency Control", "Caveats").
    private static let categories: PostgresQuery = """
        SELECT ARRAY(SELECT name FROM categories ORDER BY name COLLATE "C"), \
        (SELECT bool_and(relfilenode = pg_relation_filenode(oid)) FROM pg_class \
        WHERE oid IN ('locations'::regclass, 'removed_locations'::regclass)), \
        (SELECT coalesce(jsonb_object_agg(name, labels) FILTER (WHERE labels <> '{}'), '{}')::text FROM categories)
        """

    private static let datasets: PostgresQuery = "SELECT name, license, credit, url FROM datasets"

    /// Reads which properties places can be filtered by.
    func filterableProperties(
        _ connection: PostgresConnection
    ) async throws(PostgresError) -> FilterableProperties {
        let query = PlaceStatements.filterableProperties
        return try FilterableProperties(
            try await connection.query(query, timeout: Self.lookTimeout).only(), at: 0)
    }

    // MARK: Removed places

    /// What is known of removed places after changes: of those that were named and are gone, and of those that came back. A merge
    /// of a place into which others were merged before changes these, too, and doesn't name them: they are found by what they
    /// are merged into now.
    private func changedFormerIDs(
        since revision: Int64, removedIDs: [Int64], placeIDs: [Int64], _ connection: PostgresConnection
    ) async throws -> FormerIDs {
        guard var former = facts?.former else { return try await formerIDs(connection) }
        let returned = former.isEmpty ? [] : placeIDs.filter(former.contains)
        var now = FormerIDs()
        if !removedIDs.isEmpty {
            now = try await formerIDs(
                connection,
                "WITH gone AS (SELECT former.* FROM (SELECT DISTINCT unnest(place_ids) AS id FROM dataset_log "
                    + "WHERE revision > " + SQL(integer: Int(revision))
                    + ") AS changed, LATERAL (SELECT id, merged_into FROM removed_locations "
                    + "WHERE removed_locations.id = changed.id OFFSET 0) AS former) "
                    + "SELECT * FROM gone UNION SELECT former.* FROM (SELECT DISTINCT merged_into FROM gone) AS survivor, "
                    + "LATERAL (SELECT id, merged_into FROM removed_locations "
                    + "WHERE removed_locations.merged_into = survivor.merged_into OFFSET 0) AS former")
        }
        former.replace(removedIDs + returned, with: now)
        return former
    }

    /// Reads the ids of removed places where a file of an earlier release hasn't told them, and serves the same places with them.
    private func learnFormerIDs(_ connection: PostgresConnection, at time: Duration) async throws {
        guard let snapshot, let known = facts, known.former == nil else { return }
        let learnt = try await facts(of: known.version, formerIDs(connection), connection)
        try await take(
            snapshot.applying(removedIDs: [], added: nil, version: IndexVersion(learnt)), learnt, at: time,
            connection)
    }

    /// Reads the ids of removed places, all by default, in the order of the ids.
    func formerIDs(
        _ connection: PostgresConnection, _ rows: SQL = "SELECT id, merged_into FROM removed_locations"
    ) async throws -> FormerIDs {
        var decoder = FormerIDDecoder()
        try await connection.copy("COPY (" + rows + " ORDER BY id) TO STDOUT (FORMAT binary)") {
            try decoder.decode($0)
        }
        return decoder.formerIDs
    }

    // MARK: Everything

    /// Reads all places and ends the transaction, unless there is no room for them.
    ///
    /// - Returns: whether they were read.
    private func loadIfFitting(
        _ connection: PostgresConnection, _ version: DatasetVersion, at time: Duration
    ) async throws -> Bool {
        guard let expected = try await fittingCount(connection) else { return false }
        try await load(connection, version, expecting: expected)
        rounds = VerificationRounds(loadedAt: time, start: snapshot?.randomID ?? .min)
        return true
    }

    /// Reads all places, and ends the transaction.
    private func load(
        _ connection: PostgresConnection, _ version: DatasetVersion, expecting expected: Int
    ) async throws {
        progress = IndexLoadProgress(start: loop.now)
        fit.begin()
        perform([])
        defer {
            progress = nil
            perform([])
        }
        let start = MonotonicClock.now
        try await connection.run("SET LOCAL statement_timeout = 0")
        let properties = try await filterableProperties(connection)
        var builder = IndexPartBuilder(
            expecting: expected, vocabulary: IndexVocabulary(properties: properties))
        var decoder = PlaceCopyDecoder()
        let sql: SQL =
            "COPY (SELECT id, " + PlaceColumn.sql + " FROM locations) TO STDOUT (FORMAT binary)"
        try await connection.copy(sql) { data in
            try decoder.decode(data, into: &builder)
            progress?.update(builder.placeCount, builder.bytes, at: loop.now)
            guard configuration.index.fits(builder.bytes) else {
                throw tooLarge(builder.placeCount, builder.bytes, estimate: expected)
            }
        }
        let facts = try await facts(of: version, formerIDs(connection), connection)
        // Packing them takes seconds, in which the transaction would hold back vacuums.
        try await connection.run("COMMIT")
        let loaded = IndexSnapshot(part: builder.build(), version: IndexVersion(facts))
        let bytes = loaded.bytes + facts.formerBytes
        guard configuration.index.fits(bytes) else {
            throw tooLarge(loaded.placeCount, bytes, estimate: expected)
        }
        let duration = MonotonicClock.now - start
        record(.index(.loaded(places: loaded.placeCount, bytes: bytes, duration: duration)))
        index.update { $0.loadCount += 1 }
        snapshot = loaded.labelled(facts.labels)
        self.facts = facts
        machine.loaded(version, placeCount: loaded.placeCount)
    }

    /// Whether there may be room for the places after they didn't fit.
    private func hasRoom(_ connection: PostgresConnection) async throws -> Bool {
        if !fit.isExceeded { return true }
        return try await fittingCount(connection) != nil
    }

    /// About how many places there are; nil if there is no room for so many.
    private func fittingCount(_ connection: PostgresConnection) async throws -> Int? {
        let count = try await Self.estimatedCount(connection)
        if fit.admits(count, at: loop.now) { return count }
        if !fit.isExceeded {
            _ = tooLarge(count, Int(Double(count) * MemoryFit.minimumBytesOfAPlace), estimate: count)
        }
        return nil
    }

    /// About how many places there are, as the planner estimates it.
    static func estimatedCount(_ connection: PostgresConnection) async throws(PostgresError) -> Int {
        let plan = try await connection.query(plan, timeout: lookTimeout)
        // The first line is about the whole plan, even if the plan has several lines.
        return plan.isEmpty ? 0 : rowCount(ofPlan: try plan[0].decode(at: 0))
    }

    /// The planner's estimate follows the size of the table's file, even if the table was never analysed.
    private static let plan: PostgresQuery = "EXPLAIN SELECT FROM locations"

    /// The number after `rows=` (PostgreSQL manual, "Using EXPLAIN"); 0 if there is none.
    static func rowCount(ofPlan plan: String) -> Int {
        let rows = plan.split(separator: " ").first { $0.hasPrefix("rows=") }
        return rows.flatMap { Int($0.dropFirst("rows=".count)) } ?? 0
    }

    /// Notes and logs that the places don't fit, and returns the error to throw.
    ///
    /// - Parameters:
    ///   - bytes: the memory that `places` of them take.
    ///   - estimate: about how many places there are.
    private func tooLarge(_ places: Int, _ bytes: Int, estimate: Int) -> IndexTooLarge {
        let (count, bytesOfAPlace) = (max(places, estimate), Double(bytes) / Double(max(1, places)))
        fit.exceeded(bytesOfAPlace: bytesOfAPlace, count: estimate, at: loop.now)
        // Logged first, since `perform` shows it in the status.
        record(
            .index(
                .tooLarge(
                    places: count,
                    needed: Int(bytesOfAPlace * Double(count) * IndexConfiguration.peakFactor),
                    maximum: configuration.index.maximumBytes, isServing: machine.isServing)))
        perform(machine.outgrown(at: loop.now))
        return IndexTooLarge()
    }
}

/// The table of places was rewritten or emptied between a snapshot's begin and the reading of places in it.
private struct PlacesReplaced: Error {}

extension PostgresConnection {
    /// Runs a statement that returns nothing.
    fileprivate func run(_ sql: SQL) async throws(PostgresError) {
        _ = try await query(PostgresQuery(sql), timeout: IndexFollower.lookTimeout)
    }
}

/// How far loading has come. Reports it to the log every few seconds.
struct IndexLoadProgress {
    private let start: Duration
    private var reportedAt: Duration
    private var changedAt: Duration
    private var (placeCount, bytes) = (0, 0)

    private static let interval = Duration.seconds(5)
    /// After this long without a row, the server counts as silent.
    private static let patience = Duration.seconds(60)

    /// Begins, at a time by the loop's clock.
    init(start: Duration) {
        self.start = start
        reportedAt = start
        changedAt = start
    }

    /// Notes that more was read.
    mutating func update(_ placeCount: Int, _ bytes: Int, at now: Duration) {
        (self.placeCount, self.bytes) = (placeCount, bytes)
        changedAt = now
    }

    /// Reports the progress if that is due. To be called again and again.
    mutating func tick(at now: Duration, _ record: (Observation) -> Void) {
        guard now - reportedAt >= Self.interval else { return }
        reportedAt = now
        record(.index(.loading(places: placeCount, bytes: bytes, duration: now - start)))
    }

    /// Whether nothing has come for a long time.
    func isStuck(at now: Duration) -> Bool { now - changedAt > Self.patience }
}
