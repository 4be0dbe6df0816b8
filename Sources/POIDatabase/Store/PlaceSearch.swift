import POIService
import PointsOfInterestAPI
import Postgres

/// The search for a request's places: the database proposes candidates, `Ranking` makes them the exact page.
struct PlaceSearch {
    let request: NearbyPlacesRequest
    let ranking: Ranking
    let filter: PlaceFilter
    let statements: WordStatements
    /// Whether a search by text looks at the nearest places before it reads all places of a word; and what takes how that
    /// went. To be set by a store that knows where many places are near.
    var looksNearby = false
    var noteWalk: (NearbyWalk) -> Void = { _ in }

    init(_ request: NearbyPlacesRequest, _ ranking: Ranking, statements: WordStatements) {
        self.request = request
        self.ranking = ranking
        self.statements = statements
        filter = PlaceFilter(request)
    }

    /// The places of a page, and where the next one begins.
    struct Answer {
        let places: RankedRows
        let next: PagePosition?
        /// The dataset that all of it was read from.
        let datasetID: DatasetID?
        /// How many cubes were looked into.
        var cubeCount = 0
    }

    /// The centre, as statements take it.
    var centerParameters: [PostgresValue] {
        [.float8(ranking.center.latitude.orZero), .float8(ranking.center.longitude.orZero)]
    }

    /// The places that rows bring; none where the only row brings nothing but the dataset.
    func candidates(in rows: PostgresRows) throws(PostgresError) -> [Candidate] {
        guard let first = rows.first, try PlaceRow(first).id() != nil else { return [] }
        var candidates: [Candidate] = []
        candidates.reserveCapacity(rows.count)
        for row in rows { candidates.append(try PlaceRow(row).candidate()) }
        return candidates
    }

    /// The page that a fetch of the places nearest by the chord proves, which come with all their columns; nil where it
    /// doesn't prove one, or no row tells the dataset.
    func page(
        of candidates: [Candidate], in rows: PostgresRows, after fetch: Ranking.Fetch
    ) throws(PostgresError) -> Answer? {
        guard let first = rows.first else { return nil }
        var candidates = candidates
        let rowIndices = request.box.map { box in
            candidates.indices.filter {
                box.contains(latitude: candidates[$0].latitude, longitude: candidates[$0].longitude)
            }
        }
        if let rowIndices { candidates = rowIndices.map { candidates[$0] } }
        let placed = ranking.rank(candidates)
        guard case .complete = ranking.verdict(on: placed, after: fetch) else { return nil }
        let page = ranking.page(of: placed, from: candidates)
        let items = page.placed.map {
            item(row: rowIndices?[$0.index] ?? $0.index, at: $0.distanceMeters)
        }
        return Answer(
            places: RankedRows(rows: rows, items: items),
            next: page.next, datasetID: try PlaceRow(first).datasetID())
    }

    /// The page by whichever way finds its places, in one snapshot; their columns are read at the end.
    func page(in snapshot: PostgresSnapshot) async throws(PostgresError) -> Answer {
        var cubeCount = 0
        let candidates: [Candidate]
        if let words = filter.words {
            switch try await byWords(words, snapshot) {
            case .page(let answer): return answer
            case .candidates(let found): candidates = found
            }
        } else {
            (candidates, cubeCount) = try await throughCubes(snapshot)
        }
        let page = ranking.page(of: ranking.rank(candidates), from: candidates)
        let rows = try await snapshot.query(
            PlaceStatements.byID, [.int8Array(page.placed.map(\.id))])
        var rowOfID: [Int64: Int] = [:]
        for (index, row) in rows.enumerated() {
            if let id = try PlaceRow(row).id() { rowOfID[id] = index }
        }
        let items = page.placed.compactMap { placed in
            rowOfID[placed.id].map { item(row: $0, at: placed.distanceMeters) }
        }
        return Answer(
            places: RankedRows(rows: rows, items: items), next: page.next,
            datasetID: try rows.first.map(PlaceRow.init)?.datasetID(),
            cubeCount: cubeCount)
    }

    /// A distance is told where the request has a centre, not where the order goes by a box's middle.
    private func item(row: Int, at distanceMeters: Double) -> RankedRows.Item {
        RankedRows.Item(row: row, distanceMeters: request.center == nil ? nil : distanceMeters)
    }
}

extension Double {
    /// The number, or 0 where it is too small for PostgreSQL, for which an underflow is an error: the candidates
    /// are the same, and their distances are measured from the centre itself.
    fileprivate var orZero: Double { magnitude < 1e-100 ? 0 : self }
}
