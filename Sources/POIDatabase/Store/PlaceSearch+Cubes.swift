import POIService
import PointsOfInterestAPI
import Postgres

extension PlaceSearch {
    /// How many cubes one statement looks into.
    private static let cubesPerStatement = 32

    /// The whole answer by a search through cubes.
    ///
    /// - Parameters:
    ///   - readsAll: whether to read all kinds of places in a cube, of which those of a category are not the
    ///     few: they lie side by side in the table, which counts where their names are to be looked at.
    ///   - cubeLimit: after how many cubes to give up; nil goes on to the end.
    /// - Returns: nil where it gave up.
    func throughCubes(
        readsAll: Bool = false, cubeLimit: Int? = nil
    ) async throws(PostgresError) -> [Candidate]? {
        let look = Look(filter: filter, readsAll: readsAll)
        var search = CubeSearch(ranking, box: request.box)
        var asked = 0
        for found in try await contents(of: search.surroundings, look) { search.take(found.candidates) }
        while true {
            let nodes = search.next(atMost: Self.cubesPerStatement)
            guard !nodes.isEmpty else { return search.candidates }
            asked += nodes.count
            if let cubeLimit, asked > cubeLimit { return nil }
            let lastLevel = nodes.filter { $0.cube.level == SpaceCube.lastLevel }.map(\.cube)
            let cubes = nodes.filter { $0.cube.level < SpaceCube.lastLevel }.map(\.cube)
            for (cube, found) in zip(cubes, try await contents(of: cubes, look)) {
                search.take(found.candidates)
                if !found.isWhole { search.split(cube) }
            }
            for found in try await contents(of: lastLevel, look, isLimited: false) {
                search.take(found.candidates)
            }
        }
    }

    /// Which statement looks into cubes, and with which parameters behind the cubes' keys.
    private struct Look {
        let filter: PlaceFilter
        let readsAll: Bool

        func statement(isLimited: Bool) -> PreparedStatement? {
            filter.cubeStatement(readsAll: readsAll, isLimited: isLimited).prepared
        }

        var parameters: [PostgresValue] { filter.cubeParameters(readsAll: readsAll) }
    }

    /// What a cube was found to hold.
    private struct Content {
        var candidates: [Candidate] = []
        var count = 0

        /// Whether it was no more than is asked for.
        var isWhole: Bool { count <= CubeStatement.limit }
    }

    private func contents(
        of cubes: [SpaceCube], _ look: Look, isLimited: Bool = true
    ) async throws(PostgresError) -> [Content] {
        guard !cubes.isEmpty, let statement = look.statement(isLimited: isLimited) else { return [] }
        let keys = cubes.map(\.keys)
        let rows = try await inquiry.rows(
            statement,
            [.int8Array(keys.map(\.lowerBound)), .int8Array(keys.map(\.upperBound))] + look.parameters,
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
