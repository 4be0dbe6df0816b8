import POIService
import PointsOfInterestAPI
import Postgres

/// Finds the page that a request asks for: the database proposes candidates, `Ranking` makes them the exact page.
struct PlaceSearch {
    let request: NearbyPlacesRequest
    let ranking: Ranking
    let filter: PlaceFilter
    let statements: WordStatements
    /// How many places a search through cubes ranks at least, even if the page shows fewer: so the store learns how many
    /// places are near.
    var minimumCount = 0
    /// Whether a search by text may look at the nearest places before it reads all places of a word: worthwhile where many
    /// places are known to be near.
    var looksNearby = false

    /// What the store can learn from a search, besides the page.
    struct Findings {
        /// Where `minimumCount` is set, the distances of the ranked places, the nearest first, in metres.
        var distances: [Double] = []
        /// The walk to the nearest places that a search by text took; nil where it took none.
        var walk: NearbyWalk?
    }

    init(_ request: NearbyPlacesRequest, _ ranking: Ranking, statements: WordStatements) {
        self.request = request
        self.ranking = ranking
        self.statements = statements
        filter = PlaceFilter(request)
    }

    /// The page by whichever way finds its places, in one snapshot; their columns are read at the end.
    func page(
        in snapshot: PostgresSnapshot, _ findings: inout Findings
    ) async throws(PostgresError) -> RankedPage {
        if let words = filter.words { return try await page(byWords: words, snapshot, &findings) }
        let ranking = ranking.ranking(atLeast: minimumCount)
        let candidates = try await throughCubes(ranking, snapshot)
        let placed = ranking.rank(candidates)
        if minimumCount > 0 { findings.distances = placed.map(\.distanceMeters) }
        return try await page(of: placed, from: candidates, snapshot)
    }

    /// Cuts the page out of a complete ranking, and reads the columns of its places.
    func page(
        of placed: [Ranking.Placed], from candidates: [Candidate], _ snapshot: PostgresSnapshot
    ) async throws(PostgresError) -> RankedPage {
        let page = ranking.page(of: placed, from: candidates)
        let rows = try await snapshot.query(PlaceStatements.byID, [.int8Array(page.placed.map(\.id))])
        let places = try self.candidates(in: rows)
        let rowOfID = Dictionary(
            places.indices.map { (places[$0].id, $0) }, uniquingKeysWith: { first, _ in first })
        let items = page.placed.compactMap { placed in
            rowOfID[placed.id].map { item(row: $0, of: places[$0], at: placed.distanceMeters) }
        }
        let shown = try RankedRows(rows: rows, items: items)
        return RankedPage(places: shown, end: page.end, datasetID: shown.version?.datasetID)
    }

    /// A page whose places were read with all their columns, in the order of the chord; nil where `fetch` doesn't prove that
    /// it is complete, or no row has the dataset's version.
    func page(
        of candidates: [Candidate], in rows: PostgresRows, after fetch: Ranking.Fetch
    ) throws(PostgresError) -> RankedPage? {
        guard !rows.isEmpty else { return nil }
        var candidates = candidates
        let rowIndices = request.box.map { box in
            candidates.indices.filter {
                box.contains(latitude: candidates[$0].latitude, longitude: candidates[$0].longitude)
            }
        }
        if let rowIndices { candidates = rowIndices.map { candidates[$0] } }
        let placed = ranking.rank(candidates)
        guard ranking.isComplete(placed, after: fetch) else { return nil }
        let page = ranking.page(of: placed, from: candidates)
        let items = page.placed.map {
            item(row: rowIndices?[$0.index] ?? $0.index, of: candidates[$0.index], at: $0.distanceMeters)
        }
        let shown = try RankedRows(rows: rows, items: items)
        return RankedPage(places: shown, end: page.end, datasetID: shown.version?.datasetID)
    }

    /// The places in rows; none where the only row has nothing but the dataset's version.
    func candidates(in rows: PostgresRows) throws(PostgresError) -> [Candidate] {
        var candidates: [Candidate] = []
        candidates.reserveCapacity(rows.count)
        for index in rows.indices {
            guard let candidate = try PlaceRow(rows, index).candidate() else { break }
            candidates.append(candidate)
        }
        return candidates
    }

    /// The centre, as statements take it.
    var centerParameters: [PostgresValue] {
        [.float8(ranking.center.latitude.orZero), .float8(ranking.center.longitude.orZero)]
    }

    /// A distance is shown only if the request has a centre: a box without one is ordered around its middle.
    private func item(row: Int, of place: Candidate, at distanceMeters: Double) -> RankedRows.Item {
        RankedRows.Item(
            row: row, place: place, distanceMeters: request.center == nil ? nil : distanceMeters)
    }
}

extension Ranking {
    /// The same ranking of at least so many places.
    fileprivate func ranking(atLeast count: Int) -> Ranking {
        Ranking(center: center, radiusMeters: radiusMeters, limit: max(limit, count), after: after)
    }
}

extension Double {
    /// The number, or 0 where it is too small for PostgreSQL, for which an underflow is an error: the candidates
    /// are the same, and their distances are measured from the centre itself.
    fileprivate var orZero: Double { magnitude < 1e-100 ? 0 : self }
}

// MARK: - Through cubes

extension PlaceSearch {
    /// How many cubes one statement looks into.
    private static let cubesPerStatement = 32

    /// The places of a ranking by a search through cubes.
    func throughCubes(
        _ ranking: Ranking, _ snapshot: PostgresSnapshot
    ) async throws(PostgresError) -> [Candidate] {
        var search = CubeSearch(ranking, box: request.box)
        for found in try await contents(of: search.surroundings, filter.source, snapshot) {
            search.take(found.candidates)
        }
        while true {
            let nodes = search.next(atMost: Self.cubesPerStatement)
            guard !nodes.isEmpty else { return search.candidates }
            let lastLevel = nodes.filter { $0.cube.level == SpaceCube.lastLevel }.map(\.cube)
            let cubes = nodes.filter { $0.cube.level < SpaceCube.lastLevel }.map(\.cube)
            for (cube, found) in zip(cubes, try await contents(of: cubes, filter.source, snapshot)) {
                search.take(found.candidates)
                if !found.isWhole { search.split(cube) }
            }
            for found in try await contents(of: lastLevel, filter.source, snapshot, isLimited: false) {
                search.take(found.candidates)
            }
        }
    }

    /// What a cube was found to hold.
    struct Content {
        /// Those of its places that match `filter.featured`.
        var candidates: [Candidate] = []
        fileprivate var count = 0

        /// Whether these are all places of the cube.
        fileprivate var isWhole: Bool { count <= CubeStatement.limit }
    }

    /// Looks into cubes, by the index of a source.
    func contents(
        of cubes: [SpaceCube], _ source: CubeStatement.Source, _ snapshot: PostgresSnapshot,
        isLimited: Bool = true
    ) async throws(PostgresError) -> [Content] {
        guard !cubes.isEmpty, let statement = CubeStatement(source: source, isLimited: isLimited).prepared
        else {
            return []
        }
        let keys = cubes.map(\.keys)
        let rows = try await snapshot.query(
            statement,
            [.int8Array(keys.map(\.lowerBound)), .int8Array(keys.map(\.upperBound))]
                + (source == .categories ? filter.cubeParameters : []))
        var contents = Array(repeating: Content(), count: cubes.count)
        for row in rows {
            let number = try row.decode(Int.self, at: 0) - 1
            guard contents.indices.contains(number) else { continue }
            contents[number].count += 1
            guard filter.admits(featured: try row.decode(at: 4)) else { continue }
            contents[number].candidates.append(
                Candidate(
                    id: try row.decode(at: 1), latitude: try row.decode(at: 2),
                    longitude: try row.decode(at: 3)))
        }
        return contents
    }
}

// MARK: - Filter

/// What a request asks of its places, apart from where they are.
struct PlaceFilter: Sendable {
    /// The categories, each once; empty means all.
    let categories: [String]
    let featured: Bool?
    /// The words of the search text, the longest first, which are most likely the rarest; nil without one.
    ///
    /// A word that another begins with is left out: whatever matches the longer one matches both.
    let words: [String]?

    init(_ request: NearbyPlacesRequest) {
        categories = request.categories.uniqueInByteOrder
        featured = request.featured
        words = request.searchText.map { text in
            let words = SearchWords.words(ofQuery: text).sorted { ($1.utf8.count, $0) < ($0.utf8.count, $1) }
            return words.indices.filter { index in
                !words[..<index].contains { $0.utf8.starts(with: words[index].utf8) }
            }.map { words[$0] }
        }
    }

    /// Whether every place matches.
    var isEmpty: Bool { categories.isEmpty && featured == nil && words == nil }

    /// Whether a place that is featured, or isn't, may match.
    func admits(featured: Bool) -> Bool { (self.featured ?? featured) == featured }

    /// The index that has the matching places.
    var source: CubeStatement.Source {
        if !categories.isEmpty { return .categories }
        return featured == true ? .featured : .all
    }

    /// The parameters of a `CubeStatement` for that source behind the cubes' keys.
    var cubeParameters: [PostgresValue] {
        guard source == .categories else { return [] }
        let kinds = categories.flatMap { category in
            [false, true].filter(admits).map { (category, $0) }
        }
        return [.textArray(kinds.map(\.0)), .int8Array(kinds.map { $0.1 ? 1 : 0 })]
    }

    /// The parameters of `WordStatements` that say what matches: patterns for the folded name (text[]), the value of
    /// featured and the categories, both null where they don't matter (boolean and text[]).
    ///
    /// Words have no wildcard: all punctuation of ASCII separates them.
    func matchParameters(_ words: [String]) -> [PostgresValue] {
        [
            .textArray(words.map { "% \($0)%" }), featured.map(PostgresValue.bool) ?? .null(.bool),
            categories.isEmpty ? .null(.textArray) : .textArray(categories),
        ]
    }
}
