import POIService
import PointsOfInterestAPI
import Postgres

extension PlaceSearch {
    /// As many of a search text's words are looked up; the others are compared with what those find.
    private static let leadingWordCount = 4

    /// The whole answer to a search for words.
    ///
    /// A word of few places leads to all of them. Where each word has many, most likely some are near, so the
    /// search goes through cubes; and where they are far after all, it reads more places of the only word.
    func byWords(_ words: [String]) async throws(PostgresError) -> [Candidate] {
        guard !words.isEmpty else { return [] }
        if let matches = try await matches(of: words, statements.few) { return matches }
        let nearby = try await throughCubes(readsAll: true, cubeLimit: statements.nearbyCubeLimit)
        if let nearby { return nearby }
        if words.count == 1, let matches = try await matches(of: words, statements.many) { return matches }
        return try await throughCubes() ?? []
    }

    /// All places that match; nil where each of the leading words has more places than the statement reads.
    private func matches(
        of words: [String], _ statement: WordStatements.Limited
    ) async throws(PostgresError) -> [Candidate]? {
        let leading = Array(words.prefix(Self.leadingWordCount))
        let rows = try await inquiry.rows(
            statement.prepared, [.textArray(leading)], lane: .exclusive, datasetColumn: 6)
        var found = Array(repeating: [Int64: Candidate](), count: leading.count)
        var counts = Array(repeating: 0, count: leading.count)
        for row in rows {
            let number = try row.decode(Int.self, at: 0) - 1
            guard found.indices.contains(number), let id = try row.decode(Int64?.self, at: 1) else {
                continue
            }
            counts[number] += 1
            guard filter.admits(category: try row.decode(at: 4), featured: try row.decode(at: 5)) else {
                continue
            }
            let candidate = Candidate(
                id: id, latitude: try row.decode(at: 2), longitude: try row.decode(at: 3))
            guard isInBox(candidate) else { continue }
            found[number][id] = candidate
        }
        let complete = leading.indices.filter { counts[$0] <= statement.limit }
        guard let first = complete.min(by: { found[$0].count < found[$1].count }) else { return nil }
        var candidates = Array(found[first].values)
        for other in complete where other != first { candidates.removeAll { found[other][$0.id] == nil } }
        let unchecked = words.indices.filter { !complete.contains($0) }.map { words[$0] }
        return try await named(unchecked, among: candidates)
    }

    /// Those whose names have words that begin so.
    private func named(
        _ words: [String], among candidates: [Candidate]
    ) async throws(PostgresError) -> [Candidate] {
        guard !words.isEmpty, !candidates.isEmpty else { return candidates }
        let rows = try await inquiry.rows(
            LocationStatements.matchingNames,
            [.int8Array(candidates.map(\.id)), PlaceFilter.patterns(words)], lane: .exclusive,
            datasetColumn: 1)
        var ids: Set<Int64> = []
        for row in rows { if let id = try row.decode(Int64?.self, at: 0) { ids.insert(id) } }
        return candidates.filter { ids.contains($0.id) }
    }
}
