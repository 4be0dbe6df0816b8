import POIService
import PointsOfInterestAPI
import Postgres

extension PlaceSearch {
    /// So many of a search text's words are counted, the longest, to find the rarest.
    private static let probedWordCount = 8

    /// What a search for words has found.
    enum Found {
        /// The whole page.
        case page(Answer)
        /// All places that may be on it.
        case candidates([Candidate])
    }

    /// The places whose names have words that begin so.
    ///
    /// A word of few places leads to all of them. Where each word has many, some are most likely near, and looking at the
    /// nearest places is cheapest. Where those don't have the page, all places of the rarest word are read after all, from
    /// an index and without their positions: that is what a search costs at most.
    func byWords(_ words: [String], _ snapshot: PostgresSnapshot) async throws(PostgresError) -> Found {
        guard !words.isEmpty else { return .candidates([]) }
        if let few = try await keys(of: words, statements.few, snapshot, limit: statements.fewLimit) {
            return .candidates(try await nearest(of: few, snapshot))
        }
        if looksNearby, (ranking.after?.count ?? 0) < statements.nearbyLimit,
            let page = try await nearby(words, snapshot)
        {
            return .page(page)
        }
        let every = try await keys(of: words, statements.every, snapshot, limit: .max) ?? PlaceKeys()
        return .candidates(try await nearest(of: every, snapshot))
    }

    /// The page, if it lies among the nearest of all places.
    private func nearby(
        _ words: [String], _ snapshot: PostgresSnapshot
    ) async throws(PostgresError) -> Answer? {
        let rows = try await snapshot.query(
            statements.nearby, centerParameters + filter.matchParameters(words))
        guard let row = rows.first else { return nil }
        let column = PlaceRow.columnCount
        let count: Int = try row.decode(at: column)
        let lastChord: Double? = try row.decode(at: column + 1)
        noteWalk(
            NearbyWalk(
                limit: statements.nearbyLimit, pageLimit: statements.nearbyLimit,
                isWhole: count == statements.nearbyLimit,
                last: try lastChord.map { chord throws(PostgresError) in
                    Candidate(
                        id: 0, latitude: try row.decode(at: column + 2),
                        longitude: try row.decode(at: column + 3),
                        chordMeters: chord)
                },
                endsInTies: try row.decode(Int.self, at: column + 4) > 4))
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

    /// Those of the places that may be on the page, by a search through cubes that asks the database for positions only.
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
