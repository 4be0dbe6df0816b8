import POIService
import PointsOfInterestAPI
import Postgres

extension PlaceSearch {
    /// How many cubes one statement looks into.
    private static let cubesPerStatement = 32

    /// The whole answer by a search through cubes.
    ///
    /// - Parameter cubeLimit: after how many cubes to give up; nil goes on to the end.
    /// - Returns: nil where it gave up.
    func throughCubes(cubeLimit: Int? = nil) async throws(PostgresError) -> [Candidate]? {
        var search = CubeSearch(ranking, box: request.box)
        var asked = 0
        for found in try await look(into: search.surroundings) { search.take(found.candidates) }
        while true {
            let nodes = search.next(atMost: Self.cubesPerStatement)
            guard !nodes.isEmpty else { return search.candidates }
            asked += nodes.count
            if let cubeLimit, asked > cubeLimit { return nil }
            let (last, others) = (
                nodes.map(\.cube).filter { $0.level == SpaceCube.lastLevel },
                nodes.map(\.cube).filter { $0.level < SpaceCube.lastLevel }
            )
            for (cube, found) in zip(others, try await look(into: others)) {
                search.take(found.candidates)
                if !found.isWhole { search.split(cube) }
            }
            for found in try await look(into: last, isLimited: false) { search.take(found.candidates) }
        }
    }

    /// What a cube was found to hold.
    private struct Content {
        var candidates: [Candidate] = []
        var count = 0

        /// Whether it was no more than is asked for.
        var isWhole: Bool { count <= CubeStatement.limit }
    }

    private func look(
        into cubes: [SpaceCube], isLimited: Bool = true
    ) async throws(PostgresError) -> [Content] {
        guard !cubes.isEmpty, let statement = filter.cubeStatement(isLimited: isLimited).prepared else {
            return []
        }
        let keys = cubes.map(\.keys)
        let rows = try await inquiry.rows(
            statement,
            [.int8Array(keys.map(\.lowerBound)), .int8Array(keys.map(\.upperBound))] + filter.cubeParameters,
            lane: .exclusive, datasetColumn: 5)
        cubeCount += cubes.count
        var contents = Array(repeating: Content(), count: cubes.count)
        for row in rows {
            let number = try row.decode(Int.self, at: 0) - 1
            guard contents.indices.contains(number), let id = try row.decode(Int64?.self, at: 1) else {
                continue
            }
            contents[number].count += 1
            guard try row.decode(Bool.self, at: 4) else { continue }
            contents[number].candidates.append(
                Candidate(
                    id: id, latitude: try row.decode(at: 2), longitude: try row.decode(at: 3)))
        }
        return contents
    }
}
