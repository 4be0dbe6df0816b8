import POIService
import PointsOfInterestAPI
import Postgres

/// When the walk to the nearest places is taken, and what walks and searches teach about that.
extension PostgresPlaceStore {
    /// The page by the walk to the nearest places; nil where that may be expensive, or proves nothing.
    func nearby(_ search: PlaceSearch, _ deadline: Duration) async throws(PostgresError) -> RankedPage? {
        let center = search.ranking.center
        guard let nearest = search.nearest,
            dataset.regions.hasPlaces(nearest.candidateLimit, near: center),
            !dataset.crowds.contains(center, limit: nearest.maximumLimit)
        else { return nil }
        walkCount += 1
        let rows = try await read(nearest.statement, search.centerParameters, deadline)
        let walked = try search.candidates(in: rows)
        let page = try search.page(
            of: walked, in: rows,
            after: Ranking.Fetch(
                candidateLimit: nearest.candidateLimit, candidateCount: rows.count,
                lastChordMeters: walked.last?.chordMeters))
        await learn(
            from: NearbyWalk(walked, limit: nearest.candidateLimit, pageLimit: nearest.maximumLimit),
            around: center, deadline)
        return page
    }

    /// The page by a search in one snapshot. Where it isn't known how many places are near, the search ranks as many as the
    /// walk proposes, so that the next page may come by the walk.
    func anywhere(_ search: PlaceSearch, _ deadline: Duration) async throws(PostgresError) -> RankedPage {
        let center = search.ranking.center
        guard search.filter.words == nil else { return try await byText(search, deadline) }
        var search = search
        if search.ranking.after == nil, let nearest = search.nearest,
            !dataset.regions.hasPlaces(nearest.candidateLimit, near: center)
        {
            search.minimumCount = nearest.candidateLimit
        }
        let (page, findings) = try await run(search, .exclusive, deadline)
        learn(findings.distances, from: center)
        return page
    }

    /// The page by a search for words, some of which take long: they have connections of their own.
    private func byText(_ search: PlaceSearch, _ deadline: Duration) async throws(PostgresError) -> RankedPage
    {
        let center = search.ranking.center
        let limit = search.statements.nearbyLimit
        var search = search
        search.looksNearby =
            dataset.regions.hasPlaces(limit, near: center) && !dataset.crowds.contains(center, limit: limit)
        let (page, findings) = try await run(search, .text, deadline)
        if let walk = findings.walk { await learn(from: walk, around: center, deadline) }
        return page
    }

    private func run(
        _ search: PlaceSearch, _ lane: PoolLaneName, _ deadline: Duration
    ) async throws(PostgresError) -> (RankedPage, PlaceSearch.Findings) {
        var findings = PlaceSearch.Findings()
        let page = try await pool.withSnapshot(lane: lane, deadline: deadline) {
            snapshot throws(PostgresError) in
            try await search.page(in: snapshot, &findings)
        }
        return (page, findings)
    }

    /// Learns from the distances of the places nearest to a centre, the nearest first.
    func learn(_ distances: [Double], from center: Coordinate) {
        for count in walkLimits where count <= distances.count {
            dataset.regions.learn(count, within: distances[count - 1], of: center)
        }
    }

    /// How many places the walks propose, the fewest first.
    var walkLimits: [Int] { PlaceStatements.nearest.map(\.candidateLimit) + [wordStatements.nearbyLimit] }

    /// Forgets what a walk has shown to be wrong, and remembers a crowd that it met.
    private func learn(from walk: NearbyWalk, around center: Coordinate, _ deadline: Duration) async {
        guard walk.isWhole, let last = walk.last, let chord = last.chordMeters,
            Ranking.minimumGeodesicMeters(chordMeters: chord) < InhabitedRegions.maximumDistanceMeters
        else { return dataset.regions.forget(walk.limit, near: center) }
        guard walk.endsInTies, await isCrowded(last, deadline) else { return }
        dataset.crowds.insert(center, limit: walk.pageLimit, crowdDistanceMeters: chord)
    }

    /// Whether there are so many places where this one is that a walk past them costs more than a search. If this can't be
    /// read in time, the next walk tries again: the page doesn't depend on it.
    private func isCrowded(_ place: Candidate, _ deadline: Duration) async -> Bool {
        let count = try? await pool.query(
            PlaceStatements.crowd, [.float8(place.latitude), .float8(place.longitude)], lane: .fast,
            deadline: deadline, isIdempotent: true
        ).only().decode(Int.self, at: 0)
        return count == PlaceStatements.crowdCount
    }
}

/// What a walk to the nearest places found.
struct NearbyWalk {
    /// How many places it was to propose, and the maximum number on a page that it serves.
    let limit, pageLimit: Int
    /// Whether it proposed so many.
    let isWhole: Bool
    /// The last one; nil where there is none.
    let last: Candidate?
    /// Whether the last few are equally far.
    let endsInTies: Bool
}

extension NearbyWalk {
    /// A walk that has proposed these, in the order of the chord.
    fileprivate init(_ walked: [Candidate], limit: Int, pageLimit: Int) {
        // More candidates than places are asked for, and all of those are equally far.
        let first = walked.count == limit ? walked[pageLimit].chordMeters : nil
        self.init(
            limit: limit, pageLimit: pageLimit, isWhole: walked.count == limit, last: walked.last,
            endsInTies: (walked.last?.chordMeters ?? .infinity) - (first ?? 0) <= Ranking.roundingMarginMeters
        )
    }
}

extension PlaceSearch {
    /// The walk's statement that serves the page; nil where none does, or the request has a filter or a box.
    fileprivate var nearest: PlaceStatements.Nearest? {
        // Behind a cursor, the walk has to pass the places before it.
        let (depth, overflow) = (ranking.after?.count ?? 0).addingReportingOverflow(ranking.limit - 1)
        guard filter.isEmpty, request.box == nil, !overflow else { return nil }
        return PlaceStatements.nearest(limit: depth)
    }
}
