import EventLoop
import Places
import Postgres
import SpatialIndex
import Telemetry

/// Notices drift: the places in memory differ from those of the table though both are of one revision, because somebody has
/// written past the triggers that record changes.
extension IndexFollower {
    enum Verification {
        /// What differed, if anything, is mended.
        case done
        /// Places can be filtered by other properties than before, so all of them have to be read again.
        case filterablePropertiesDiffer
    }

    /// Compares a range of ids with the table if that is due, and takes what differs. Runs in the snapshot of a look, which
    /// has to show exactly the dataset that is in memory.
    ///
    /// Reads the rows as loading does, and compares all that memory has of each. So there is no second description of a place
    /// that could differ from the first.
    ///
    /// - Returns: what `follow` has to do about.
    /// - Throws: `PostgresError`; `IndexTooLarge` where the places don't fit; `PlacesReplaced` where they have to be read
    ///   again.
    func verify(
        _ connection: PostgresConnection, _ version: DatasetVersion, at time: Duration
    ) async throws -> Verification {
        guard machine.held == version, machine.isServing, let snapshot, let known = facts, let rounds,
            rounds.isDue(at: time, interval: configuration.index.verificationInterval)
        else { return .done }
        guard try await filterableProperties(connection) == snapshot.vocabulary.properties else {
            note(.factsDiffered, 1)
            _ = index.rename(version.datasetID)
            return .filterablePropertiesDiffer
        }
        let limit = configuration.index.verifiedCount
        var builder = IndexPartBuilder(expecting: limit, vocabulary: snapshot.vocabulary)
        var decoder = PlaceCopyDecoder()
        // A negative number without quotes would not be a bigint, and not be looked up by the index.
        func bigint(_ id: Int64) -> SQL { SQL(unsafeSQL: "'\(id)'::bigint") }
        let condition = " WHERE id >= " + bigint(rounds.next)
        // More than places, since they are small: a round mustn't take much longer where many were removed.
        let formerLimit = 20 * limit
        let former = try await formerIDs(
            connection,
            "SELECT * FROM (SELECT id, merged_into FROM removed_locations" + condition + " ORDER BY id LIMIT "
                + SQL(integer: formerLimit) + ") AS former")
        let lastFormer = former.ids.count < formerLimit ? .max : former.ids.last ?? .max
        let sql: SQL =
            "COPY (SELECT id, " + PlaceColumn.sql + " FROM locations" + condition + " AND id <= "
            + bigint(lastFormer) + " ORDER BY id LIMIT " + SQL(integer: limit) + ") TO STDOUT (FORMAT binary)"
        try await connection.copy(sql) { try decoder.decode($0, into: &builder) }
        let last = builder.placeCount < limit ? lastFormer : builder.lastID ?? .max
        var allFormer = known.former
        allFormer?.replace(rounds.next...last, with: former)
        let read = try await facts(of: version, allFormer, connection)
        let differences = snapshot.differences(in: rounds.next...last, from: builder)
        if differences.count > 0 {
            note(.differed(places: differences.count, ids: rounds.next...last), differences.count)
        }
        let areFactsSame = read.hasSameContent(as: known)
        if !areFactsSame { note(.factsDiffered, 1) }
        if differences.count > 0 || !areFactsSame {
            let mended = read.renamed(index.rename(version.datasetID))
            let next = snapshot.applying(
                removedIDs: differences.removedIDs,
                added: builder.placeCount > 0 ? builder.build() : nil, version: IndexVersion(mended))
            try await take(next, mended, at: time, connection)
        }
        self.rounds?.verified(through: last, at: time)
        return .done
    }

    private func note(_ observation: IndexObservation, _ count: Int) {
        record(.index(observation))
        index.update { $0.differenceCount += count }
    }

    // MARK: Triggers

    func areTriggersDue(at time: Duration) -> Bool {
        triggersCheckedAt.map { time - $0 >= configuration.index.triggerInterval } ?? true
    }

    func checkTriggers(_ connection: PostgresConnection, at time: Duration) async throws(PostgresError) {
        guard areTriggersDue(at: time) else { return }
        let row = try await connection.query(Self.inactiveTriggers, timeout: Self.lookTimeout).only()
        let names: [String] = try row.decode(at: 0)
        triggersCheckedAt = time
        guard names != inactiveTriggers else { return }
        inactiveTriggers = names
        index.update { $0.inactiveTriggerCount = names.count }
        record(.index(names.isEmpty ? .triggersActive : .triggersInactive(names: names)))
    }

    /// Reads how refreshes of datasets went, as often as triggers are checked. Places are served where that isn't allowed, too.
    func readRefreshes(_ connection: PostgresConnection) async throws(PostgresError) {
        let time = loop.now
        if let last = refreshesReadAt, time - last < configuration.index.triggerInterval { return }
        refreshesReadAt = time
        do throws(PostgresError) {
            let refreshes = try await connection.query(Self.refreshes, timeout: Self.lookTimeout).map {
                (row) throws(PostgresError) -> (dataset: String, succeededAt: Double?, failedAt: Double?) in
                (try row.decode(at: 0), try row.decode(at: 1), try row.decode(at: 2))
            }
            index.update { $0.refreshes = refreshes }
        } catch {
            guard error.code == .server else { throw error }
        }
    }

    private static let refreshes: PostgresQuery = """
        SELECT dataset, extract(epoch FROM succeeded_at)::double precision, extract(epoch FROM failed_at)::double precision
        FROM dataset_refreshes
        """

    /// The triggers that are missing, or don't run for ordinary writers (PostgreSQL manual, "pg_trigger", `tgenabled`), in
    /// the order of their names.
    static let inactiveTriggers: PostgresQuery = """
        SELECT ARRAY(
            SELECT name FROM (VALUES
                ('locations', 'locations_record_inserted'), ('locations', 'locations_record_updated'),
                ('locations', 'locations_record_renumbered'), ('locations', 'locations_record_deleted'),
                ('locations', 'locations_record_truncated'), ('categories', 'categories_mark_dataset_change'),
                ('datasets', 'datasets_mark_dataset_change'),
                ('filterable_properties', 'filterable_properties_record_change'),
                ('dataset_changes', 'dataset_changes_renew_dataset')
            ) AS expected (table_name, name)
            LEFT JOIN pg_trigger ON tgrelid = to_regclass(table_name) AND tgname = name
            WHERE tgenabled IS NULL OR tgenabled NOT IN ('O', 'A') ORDER BY name
        )
        """
}

/// Decides which ids are verified next, and knows since when all are verified. A value that is passed the time.
///
/// A round begins at any id, goes up to the last id, and on from the first one. So the servers of a fleet verify different
/// ids at a time.
struct VerificationRounds {
    /// Where the next range begins.
    private(set) var next: Int64
    /// Every place in memory was read or compared at this time or later.
    private(set) var verifiedAt: Duration
    private var start: Int64
    private var isPastEnd = false
    private var beganAt: Duration?
    private var rangeAt: Duration

    /// Begins after all places were read, by a look that began at `time`.
    ///
    /// - Parameter start: where the first round begins; any id will do.
    init(loadedAt time: Duration, start: Int64) {
        (next, self.start) = (start, start)
        (verifiedAt, rangeAt) = (time, time)
    }

    func isDue(at time: Duration, interval: Duration) -> Bool { time - rangeAt >= interval }

    /// Notes that the places from `next` on were compared.
    ///
    /// - Parameters:
    ///   - last: the last id of the range.
    ///   - time: when the look began whose snapshot they were compared with.
    mutating func verified(through last: Int64, at time: Duration) {
        rangeAt = time
        let began = beganAt ?? time
        beganAt = began
        let isEnd = last == .max
        next = isEnd ? .min : last + 1
        let isComplete = isPastEnd ? isEnd || next >= start : isEnd && start == .min
        isPastEnd = isPastEnd || isEnd
        guard isComplete else { return }
        (verifiedAt, beganAt) = (began, nil)
        (start, isPastEnd) = (next, false)
    }
}
