import POIService
import PointsOfInterestAPI
import Postgres

/// When the walk to the nearest places is taken, and what walks and searches teach of that.
extension PostgresPlaceStore {
    /// The page by the walk to the nearest places; nil where that may be expensive, or proves nothing.
    func nearby(
        _ search: PlaceSearch, _ deadline: Duration
    ) async throws(PostgresError) -> PlaceSearch.Answer? {
        let center = search.ranking.center
        guard let nearest = search.nearest,
            dataset.regions.hasPlaces(nearest.candidateLimit, near: center),
            !dataset.crowds.contains(center, limit: nearest.maximumLimit)
        else { return nil }
        walkCount += 1
        let rows = try await read(nearest.statement, search.centerParameters, deadline)
        let walked = try search.candidates(in: rows)
        let answer = try search.page(
            of: walked, in: rows,
            after: Ranking.Fetch(
                candidateLimit: nearest.candidateLimit, candidateCount: rows.count,
                lastChordMeters: walked.last?.chordMeters))
        await judge(
            NearbyWalk(walked, limit: nearest.candidateLimit, pageLimit: nearest.maximumLimit),
            around: center)
        return answer
    }

    /// The page by a search in one snapshot. Where that is for want of knowledge, it looks for as many places as the walk
    /// proposes, so that the next page may come by the walk.
    func anywhere(
        _ search: PlaceSearch, _ deadline: Duration
    ) async throws(PostgresError) -> PlaceSearch.Answer {
        let ranking = search.ranking
        guard search.filter.words == nil else { return try await byText(search, deadline) }
        guard ranking.after == nil, let nearest = search.nearest,
            !dataset.regions.hasPlaces(nearest.candidateLimit, near: ranking.center)
        else { return try await page(of: search, .exclusive, deadline) }
        let wide = search.asking(for: nearest.candidateLimit)
        let answer = try await page(of: wide, .exclusive, deadline)
        learn(answer.places.items.compactMap(\.distanceMeters), from: ranking.center)
        return try answer.page(of: ranking.limit - 1)
    }

    /// The page by a search for words, some of which take long: they have connections of their own.
    private func byText(
        _ search: PlaceSearch, _ deadline: Duration
    ) async throws(PostgresError) -> PlaceSearch.Answer {
        let center = search.ranking.center
        let limit = search.statements.nearbyLimit
        var search = search
        search.looksNearby =
            dataset.regions.hasPlaces(limit, near: center) && !dataset.crowds.contains(center, limit: limit)
        var walk: NearbyWalk?
        search.noteWalk = { walk = $0 }
        let answer = try await page(of: search, .text, deadline)
        if let walk { await judge(walk, around: center) }
        return answer
    }

    private func page(
        of search: PlaceSearch, _ lane: PoolLaneName, _ deadline: Duration
    ) async throws(PostgresError) -> PlaceSearch.Answer {
        let answer = try await pool.withSnapshot(lane: lane, deadline: deadline) {
            snapshot throws(PostgresError) in
            try await search.page(in: snapshot)
        }
        cubeCount += answer.cubeCount
        return answer
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
    private func judge(_ walk: NearbyWalk, around center: Coordinate) async {
        guard walk.isWhole, let last = walk.last, let chord = last.chordMeters,
            Ranking.leastGeodesicMeters(chordMeters: chord) < InhabitedRegions.maximumDistanceMeters
        else { return dataset.regions.forget(walk.limit, near: center) }
        guard walk.endsInTies, await isCrowded(last) else { return }
        dataset.crowds.insert(center, limit: walk.pageLimit, crowdDistanceMeters: chord)
    }

    /// Whether so many places are where this one is that a walk past them costs more than a search. A failure
    /// leaves it to the next walk: the page doesn't depend on it.
    private func isCrowded(_ place: Candidate) async -> Bool {
        let count = try? await pool.query(
            PlaceStatements.crowd, [.float8(place.latitude), .float8(place.longitude)], lane: .fast,
            isIdempotent: true
        ).only().decode(Int.self, at: 0)
        return count == PlaceStatements.crowdCount
    }
}

/// How a walk to the nearest places has gone.
struct NearbyWalk {
    /// How many places it was to propose, and how many a page that it serves has at most.
    let limit, pageLimit: Int
    /// Whether it has proposed so many.
    let isWhole: Bool
    /// The last one; nil where there is none.
    let last: Candidate?
    /// Whether the last few are equally far.
    let endsInTies: Bool

    init(limit: Int, pageLimit: Int, isWhole: Bool, last: Candidate?, endsInTies: Bool) {
        self.limit = limit
        self.pageLimit = pageLimit
        self.isWhole = isWhole
        self.last = last
        self.endsInTies = endsInTies
    }

    /// A walk that has proposed these, in the order of the chord.
    init(_ walked: [Candidate], limit: Int, pageLimit: Int) {
        // More candidates than places are asked for, and all of those are equally far.
        let first = walked.count == limit ? walked[pageLimit].chordMeters : nil
        self.init(
            limit: limit, pageLimit: pageLimit, isWhole: walked.count == limit, last: walked.last,
            endsInTies: (walked.last?.chordMeters ?? .infinity) - (first ?? 0) <= Ranking.roundingMarginMeters
        )
    }
}

extension PlaceStatements {
    /// So many places in 8 m are a crowd.
    static let crowdCount = 256

    /// How many places are in the smallest cube around latitude `$1` and longitude `$2`, float8, degrees; at most
    /// `crowdCount`. The key is a scalar subselect: a planner that knew that it is frequent would read the table.
    static let crowd = PreparedStatement(
        "SELECT count(*) FROM (SELECT FROM locations WHERE space_key = (SELECT space_key($1, $2)) LIMIT "
            + SQL(integer: crowdCount) + ") AS place",
        parameters: [.float8, .float8])
}

extension PlaceSearch {
    /// The walk's statement that serves the page; nil where none does, or not all places are asked for.
    fileprivate var nearest: PlaceStatements.Nearest? {
        // Behind a cursor, the places before it have to be walked past.
        let (depth, overflow) = (ranking.after?.count ?? 0).addingReportingOverflow(ranking.limit - 1)
        guard filter.isEmpty, request.box == nil, !overflow else { return nil }
        return PlaceStatements.nearest(limit: depth)
    }

    /// The same search for a longer page.
    fileprivate func asking(for count: Int) -> PlaceSearch {
        let ranking = Ranking(
            center: ranking.center, radiusMeters: ranking.radiusMeters, limit: count + 1)
        return PlaceSearch(request, ranking, statements: statements)
    }
}

extension PlaceSearch.Answer {
    /// The first page of so many places, out of a longer one that a search has found.
    fileprivate func page(of count: Int) throws(PostgresError) -> PlaceSearch.Answer {
        guard places.count > count, let last = places.items.prefix(count).last,
            let id = try PlaceRow(places.rows[last.row]).id(), let meters = last.distanceMeters
        else { return self }
        // A search measures every distance, so this is what the next page's places are compared with.
        return PlaceSearch.Answer(
            places: RankedRows(rows: places.rows, items: Array(places.items.prefix(count))),
            next: PagePosition(distanceMeters: meters, id: id, count: count), datasetID: datasetID)
    }
}
