import POIService
import PointsOfInterestAPI
import Postgres

/// One attempt at answering a request for places.
///
/// The database proposes candidates, `Ranking` makes them the exact answer. Confined to the pool's loop.
final class PlaceSearch {
    let request: LocationsRequest
    let ranking: Ranking
    let filter: PlaceFilter
    let inquiry: Inquiry
    let statements: WordStatements
    /// How many cubes were looked into.
    var cubeCount = 0

    init(
        _ request: LocationsRequest, _ ranking: Ranking, _ inquiry: Inquiry, statements: WordStatements
    ) {
        self.statements = statements
        self.request = request
        self.ranking = ranking
        self.inquiry = inquiry
        filter = PlaceFilter(request)
    }

    /// The places of a page, and where the next one begins.
    struct Answer {
        let places: RankedRows
        let next: PagePosition?
    }

    /// The answer by the places nearest by the chord, which come with all their columns; nil where those don't
    /// prove it.
    func nearby(_ nearest: LocationStatements.Nearest) async throws(PostgresError) -> Answer? {
        let rows = try await inquiry.rows(
            nearest.statement,
            [.float8(ranking.center.latitude.orZero), .float8(ranking.center.longitude.orZero)],
            lane: .fast, datasetColumn: LocationRow.datasetColumn)
        var candidates: [Candidate] = []
        candidates.reserveCapacity(rows.count)
        for row in rows { candidates.append(try LocationRow(row).candidate()) }
        // Of an empty table no row brings the dataset's id.
        guard let last = candidates.last else { return nil }
        let placed = ranking.rank(candidates)
        let fetch = Ranking.Fetch(
            candidateLimit: nearest.candidateLimit, candidateCount: rows.count,
            lastChordMeters: last.chordMeters)
        guard case .complete = ranking.verdict(on: placed, after: fetch) else { return nil }
        let page = ranking.page(of: placed, from: candidates)
        return Answer(
            places: RankedRows(
                rows: rows, items: page.placed.map { item(row: $0.index, at: $0.distanceMeters) }),
            next: page.next)
    }

    /// The answer by whichever way finds its places; their columns are read at the end.
    func anywhere() async throws(PostgresError) -> Answer {
        var candidates: [Candidate] = []
        if let words = filter.words {
            candidates = try await byWords(words)
        } else {
            candidates = try await throughCubes() ?? []
        }
        let page = ranking.page(of: ranking.rank(candidates), from: candidates)
        let rows = try await inquiry.rows(
            LocationStatements.byID, [.int8Array(page.placed.map(\.id))], lane: .fast,
            datasetColumn: LocationRow.datasetColumn)
        var rowOfID: [Int64: Int] = [:]
        for (index, row) in rows.enumerated() {
            if let id = try LocationRow(row).id() { rowOfID[id] = index }
        }
        if rowOfID.count < page.placed.count { inquiry.tear() }
        let items = page.placed.compactMap { placed in
            rowOfID[placed.id].map { item(row: $0, at: placed.distanceMeters) }
        }
        return Answer(places: RankedRows(rows: rows, items: items), next: page.next)
    }

    /// Whether a place is in the box that is asked for, if one is.
    func isInBox(_ candidate: Candidate) -> Bool {
        request.box?.contains(latitude: candidate.latitude, longitude: candidate.longitude) ?? true
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
