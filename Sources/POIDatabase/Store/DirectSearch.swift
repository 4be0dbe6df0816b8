import Geodesy
import Places
import PointsOfInterestAPI
import PointsOfInterestServerAPI
import Postgres

/// Finds the page of a request by asking PostgreSQL for the places nearest by the chord. `Ranking` makes the exact page of
/// them, and tells whether a place that wasn't proposed may belong to it.
///
/// Mostly a few candidates prove the page. If they don't, the search looks at many, and finally at all that can belong to it.
/// The cost isn't bounded: see `Documentation/queries.md`.
final class DirectSearch {
    /// Where a search looks for places. It begins with `near`, where PostgreSQL is quick in the order of the chord, whatever
    /// is beyond.
    private enum Extent {
        case near, everywhere
    }

    /// How far the first search goes, in metres. Seen from the other side of the Earth, all chords are nearly equally long,
    /// and a walk in their order would read the whole index.
    static let nearMeters = 5_000_000.0
    private static let nearChordMeters = Ranking.chordMeters(ofGeodesicBeyond: nearMeters)
    /// How many candidates are asked for if a few don't prove the page. Mostly these do.
    static let manyCandidates = 1024
    /// How many rows are read at a time when all places are read: other work of the loop waits for a few milliseconds at
    /// most.
    private static let batchSize = 512
    /// The minimum number of candidates beyond the number of places asked for, because places that are equally far come in
    /// any order.
    private static let spareCandidates = 3

    let request: NearbyPlacesRequest
    let ranking: Ranking
    /// Looks for the words of the search text, if there is one: PostgreSQL doesn't know them.
    private let names: NameMatcher?
    private let center: SIMD3<Double>
    /// Bounds that hold every place of the request's box.
    private let boxBounds: SurfaceBounds?
    /// The chord of every place after the previous page is at least this long. The value is capped, so that no places near
    /// the antipode are skipped: their chords don't tell which of them is farther.
    private let minimumChordMeters: Double

    init(_ request: NearbyPlacesRequest, _ ranking: Ranking) {
        self.request = request
        self.ranking = ranking
        names = request.filter.searchText.map(NameMatcher.init(searchText:))
        center = Ellipsoid.point(ranking.center)
        boxBounds = request.box.map(SurfaceBounds.init(of:))
        minimumChordMeters =
            ranking.after.map { Ranking.chordMeters(ofGeodesicAtMost: $0.distanceMeters) } ?? 0
    }

    /// Bounds that hold every place that may match within a distance.
    private func bounds(withinMeters meters: Double) -> SurfaceBounds? {
        let chord =
            meters == Self.nearMeters ? Self.nearChordMeters : Ranking.chordMeters(ofGeodesicBeyond: meters)
        guard chord < .infinity else { return boxBounds }
        let surroundings = SurfaceBounds(around: center, chordMeters: chord)
        return boxBounds?.intersection(surroundings) ?? surroundings
    }

    /// How far an extent reaches, in metres.
    private func reachMeters(of extent: Extent) -> Double {
        let radius = ranking.radiusMeters ?? .infinity
        return extent == .near ? min(radius, Self.nearMeters) : radius
    }

    private func query(_ columns: NearestQuery.Columns, in extent: Extent, limit: Int?) -> NearestQuery {
        var query = NearestQuery(request, ranking, columns: columns, limit: limit)
        query.minimumChordMeters = minimumChordMeters
        // The statement of a few candidates without a filter stays prepared.
        if columns == .record([]), query.isUnfiltered {
            query.half = SurfaceBounds.half(around: center)
            return query
        }
        query.bounds = bounds(withinMeters: reachMeters(of: extent))
        query.isSorted = limit != nil && extent == .everywhere && !query.isUnfiltered
        return query
    }

    /// Whether places after the previous page may be near.
    private var beginsNear: Bool { (ranking.after?.distanceMeters ?? 0) < Self.nearMeters }

    /// Whether these candidates of an extent prove that no other place belongs to the ranking.
    private func isComplete(_ placed: [Ranking.Placed], of extent: Extent, after fetch: Ranking.Fetch) -> Bool
    {
        guard ranking.isComplete(placed, after: fetch) else { return false }
        guard extent == .near else { return true }
        let farthest = placed.count == ranking.limit ? placed.last?.distanceMeters : nil
        return min(ranking.radiusMeters ?? .infinity, farthest ?? .infinity) <= Self.nearMeters
    }
}

// MARK: - By a few candidates

extension DirectSearch {
    /// The query whose few candidates mostly prove the page; nil if there is no point in running it.
    var firstQuery: NearestQuery? {
        guard names == nil, beginsNear,
            let limit = NearestQuery.candidateLimits.first(where: {
                $0 >= ranking.limit + Self.spareCandidates
            })
        else { return nil }
        return query(.record(extraTexts), in: .near, limit: limit)
    }

    private var extraTexts: PlaceStatements.ExtraTexts {
        var extras: PlaceStatements.ExtraTexts = []
        guard !request.content.isEmpty else { return extras }
        if !request.languages.isEmpty { extras.insert(.names) }
        if !request.properties.isEmpty { extras.insert(.properties) }
        return extras
    }

    /// The page, made from the proposed candidates; nil if they don't prove it.
    func page(in rows: PostgresRows, of query: NearestQuery) throws(PostgresError) -> RankedPage? {
        let rows = try PlaceRows(rows)
        var candidates: [Candidate] = []
        candidates.reserveCapacity(rows.places.count)
        // They come in the order of the chord, but nothing in SQL promises that beyond the subquery.
        var lastChord = 0.0
        for row in rows.places {
            let candidate = try rows.candidate(at: row)
            candidates.append(candidate)
            if let chord = candidate.chordMeters, chord > lastChord { lastChord = chord }
        }
        let placed = ranking.rank(candidates)
        let fetch = Ranking.Fetch(
            candidateLimit: query.limit ?? .max, candidateCount: candidates.count, lastChordMeters: lastChord)
        guard isComplete(placed, of: .near, after: fetch) else { return nil }
        let page = ranking.page(of: placed, from: candidates)
        let items = page.placed.map {
            item(row: rows.places.lowerBound + $0.index, of: candidates[$0.index], at: $0.distanceMeters)
        }
        return RankedPage(
            places: RankedRows(rows: rows, items: items), end: page.end, version: rows.version)
    }

    /// A distance is shown only if the request has a centre: a box without one is ordered around its middle.
    private func item(row: Int, of place: Candidate, at distanceMeters: Double) -> RankedRows.Item {
        RankedRows.Item(
            row: row, place: place, distanceMeters: request.center == nil ? nil : distanceMeters)
    }
}

// MARK: - By many candidates, or all

extension DirectSearch {
    /// The page, made from as many candidates as it takes, all read in one snapshot.
    func page(in snapshot: PostgresSnapshot) async throws(PostgresError) -> RankedPage {
        let candidates = try await candidates(in: snapshot)
        let page = ranking.page(of: ranking.rank(candidates), from: candidates)
        let rows = try PlaceRows(
            try await snapshot.query(
                PlaceStatements.byID(withNames: !request.languages.isEmpty),
                [.int8Array(page.placed.map(\.id))]))
        var rowOfID: [Int64: Int] = [:]
        for row in rows.places { rowOfID[try rows.candidate(at: row).id] = row }
        let items = page.placed.compactMap { placed in
            rowOfID[placed.id].map {
                item(row: $0, of: candidates[placed.index], at: placed.distanceMeters)
            }
        }
        return RankedPage(
            places: RankedRows(rows: rows, items: items), end: page.end, version: rows.version)
    }

    /// The places that the ranking needs, and maybe others.
    private func candidates(in snapshot: PostgresSnapshot) async throws(PostgresError) -> [Candidate] {
        guard names?.mayMatch != false else { return [] }
        let columns: NearestQuery.Columns = names == nil ? .position : .positionAndNames
        var names = names
        for extent in beginsNear ? [Extent.near, .everywhere] : [.everywhere] {
            let query = query(columns, in: extent, limit: Self.manyCandidates)
            let rows = try await snapshot.query(PostgresQuery(query.sql, query.parameters))
            let found = try Self.matches(in: rows, &names)
            let placed = ranking.rank(found.candidates)
            if isComplete(placed, of: extent, after: found.fetch) { return found.candidates }
            // If these are all places that are near, the rest of the page is farther away.
            if extent == .near, rows.count < Self.manyCandidates { continue }
            let isFull = placed.count == ranking.limit
            return try await all(
                columns, &names, in: snapshot, withinMeters: isFull ? placed.last?.distanceMeters : nil)
        }
        return []
    }

    /// The nearest of all places within `meters`. No place of the page is farther; nil if no such distance is known.
    private func all(
        _ columns: NearestQuery.Columns, _ names: inout NameMatcher?, in snapshot: PostgresSnapshot,
        withinMeters meters: Double?
    ) async throws(PostgresError) -> [Candidate] {
        var query = query(columns, in: .everywhere, limit: nil)
        if let meters { query.bounds = bounds(withinMeters: min(meters, reachMeters(of: .everywhere))) }
        var nearest = NearestCandidates(of: ranking)
        try await snapshot.query(
            PostgresQuery(query.sql, query.parameters), inBatchesOf: Self.batchSize
        ) { rows throws(PostgresError) in
            for candidate in try Self.matches(in: rows, &names).candidates { nearest.insert(candidate) }
        }
        return nearest.candidates
    }

    /// The places in rows that have a name with the words, and how far the rows reach.
    private static func matches(
        in rows: PostgresRows, _ names: inout NameMatcher?
    ) throws(PostgresError) -> (candidates: [Candidate], fetch: Ranking.Fetch) {
        var candidates: [Candidate] = []
        var lastChord: Double?
        for index in rows.indices {
            let candidate = try rows.candidate(row: index)
            lastChord = max(lastChord ?? 0, candidate.chordMeters ?? 0)
            if names != nil {
                let all = try rows.text(row: index, column: 2)
                guard let all, names?.matches(anyOf: all.assumingMemoryBound(to: UInt8.self)) == true
                else { continue }
            }
            candidates.append(candidate)
        }
        return (
            candidates,
            Ranking.Fetch(
                candidateLimit: manyCandidates, candidateCount: rows.count, lastChordMeters: lastChord)
        )
    }
}
