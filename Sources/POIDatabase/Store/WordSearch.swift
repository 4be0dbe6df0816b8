import POIService
import PointsOfInterestAPI
import Postgres

/// The search for places by the words of their names.
extension PlaceSearch {
    /// How many of a search text's words are counted to find the rarest: the longest ones.
    private static let probedWordCount = 8

    /// The page of the places whose names have words that begin with `words`.
    ///
    /// If a word has few places, all of them are read. Otherwise some of the many are most likely near, and looking at the
    /// nearest places is cheapest. Where those don't prove the page, all places of the rarest word are read after all, from
    /// an index and without their positions. That is the most that a search costs.
    func page(
        byWords words: [String], _ snapshot: PostgresSnapshot, _ findings: inout Findings
    ) async throws(PostgresError) -> RankedPage {
        guard !words.isEmpty else { return try await page(of: [], from: [], snapshot) }
        var places = try await keys(of: words, statements.few, snapshot, limit: statements.fewLimit)
        if places == nil, looksNearby, (ranking.after?.count ?? 0) < statements.nearbyLimit,
            let page = try await nearby(words, snapshot, &findings)
        {
            return page
        }
        if places == nil { places = try await keys(of: words, statements.every, snapshot, limit: .max) }
        let candidates = try await nearest(of: places ?? PlaceKeys(), snapshot)
        return try await page(of: ranking.rank(candidates), from: candidates, snapshot)
    }

    /// The page, if the places nearest to the centre prove it.
    private func nearby(
        _ words: [String], _ snapshot: PostgresSnapshot, _ findings: inout Findings
    ) async throws(PostgresError) -> RankedPage? {
        let rows = try await snapshot.query(
            statements.nearby, centerParameters + filter.matchParameters(words))
        guard let row = rows.first else { return nil }
        let column = PlaceRow.columnCount
        let count: Int = try row.decode(at: column)
        let lastChord: Double? = try row.decode(at: column + 1)
        findings.walk = NearbyWalk(
            limit: statements.nearbyLimit, pageLimit: statements.nearbyLimit,
            isWhole: count == statements.nearbyLimit,
            last: try lastChord.map { chord throws(PostgresError) in
                Candidate(
                    id: 0, latitude: try row.decode(at: column + 2),
                    longitude: try row.decode(at: column + 3),
                    chordMeters: chord)
            },
            endsInTies: try row.decode(Int.self, at: column + 4) > 4)
        return try page(
            of: try candidates(in: rows), in: rows,
            after: Ranking.Fetch(
                candidateLimit: statements.nearbyLimit, candidateCount: count, lastChordMeters: lastChord))
    }

    /// Where all places that match are; nil where the rarest word has more than `limit`.
    private func keys(
        of words: [String], _ statement: PreparedStatement, _ snapshot: PostgresSnapshot, limit: Int
    ) async throws(PostgresError) -> PlaceKeys? {
        let probed = Array(words.prefix(Self.probedWordCount))
        // A single word needs no comparison with names: its entries are those that match.
        let row = try await snapshot.query(
            statement, [.textArray(probed)] + filter.matchParameters(words.count > 1 ? words : [])
        ).only()
        guard try row.decode(Int.self, at: 0) <= limit else { return nil }
        return PlaceKeys(
            keys: try row.decode([Int64]?.self, at: 2) ?? [], ids: try row.decode([Int64]?.self, at: 1) ?? [])
    }

    /// Those of the places that may be on the page, by a search through cubes that reads only positions from the database.
    private func nearest(
        of places: PlaceKeys, _ snapshot: PostgresSnapshot
    ) async throws(PostgresError) -> [Candidate] {
        var search = CubeSearch(ranking, box: request.box) { places.count(in: $0) > 0 }
        while true {
            var ids: [Int64] = []
            var crowded: [SpaceCube] = []
            // As many as make up the page if all of them belong to it.
            while ids.count < ranking.limit, crowded.isEmpty, let cube = search.next(atMost: 1).first?.cube {
                let count = places.count(in: cube)
                if count > 4, cube.level < SpaceCube.lastLevel {
                    search.split(cube)
                } else if count <= CubeStatement.limit {
                    ids += places.ids(in: cube)
                } else {
                    crowded.append(cube)
                }
            }
            guard !ids.isEmpty || !crowded.isEmpty else { return search.candidates }
            search.take(try await positions(of: ids, snapshot))
            for (cube, content) in zip(
                crowded, try await contents(of: crowded, .all, snapshot, isLimited: false))
            {
                let ids = Set(places.ids(in: cube))
                search.take(content.candidates.filter { ids.contains($0.id) })
            }
        }
    }

    private func positions(
        of ids: [Int64], _ snapshot: PostgresSnapshot
    ) async throws(PostgresError) -> [Candidate] {
        guard !ids.isEmpty else { return [] }
        let rows = try await snapshot.query(PlaceStatements.positions, [.int8Array(ids)])
        var candidates: [Candidate] = []
        for row in rows {
            candidates.append(
                Candidate(
                    id: try row.decode(at: 0), latitude: try row.decode(at: 1),
                    longitude: try row.decode(at: 2)))
        }
        return candidates
    }
}

/// Places by the cubes that they are in: what an index has of them without their positions.
struct PlaceKeys: Sendable {
    private struct Entry {
        let key: Int64
        let id: Int64
    }

    /// In the order of the keys.
    private var entries: [Entry]

    /// Takes the `space_key` and the id of each place, in any order; a place may be there twice.
    init(keys: [Int64] = [], ids: [Int64] = []) {
        entries = zip(keys, ids).map { Entry(key: $0, id: $1) }
        sort()
    }

    /// How many entries a cube has.
    func count(in cube: SpaceCube) -> Int { range(of: cube).count }

    /// The ids in a cube.
    func ids(in cube: SpaceCube) -> [Int64] { entries[range(of: cube)].map(\.id) }

    private func range(of cube: SpaceCube) -> Range<Int> {
        let keys = cube.keys
        let start = entries.firstIndex(behind: { $0.key < keys.lowerBound })
        return start..<max(start, entries.firstIndex(behind: { $0.key <= keys.upperBound }))
    }

    /// A radix sort: 2 ms for 250,000 entries, a tenth of what comparing takes. Other requests of the loop wait meanwhile.
    private mutating func sort() {
        guard entries.count > 2000 else { return entries.sort { $0.key < $1.key } }
        let digitBits: Int64 = 11
        var other = entries
        for shift in stride(from: 0, to: Int64(3 * SpaceCube.lastLevel), by: Int(digitBits)) {
            let digit = { (entry: Entry) in Int(entry.key >> shift & (1 << digitBits - 1)) }
            var next = [Int](repeating: 0, count: 1 << digitBits)
            for entry in entries { next[digit(entry)] += 1 }
            var sum = 0
            for index in next.indices { (next[index], sum) = (sum, sum + next[index]) }
            for entry in entries {
                other[next[digit(entry)]] = entry
                next[digit(entry)] += 1
            }
            swap(&entries, &other)
        }
    }
}
