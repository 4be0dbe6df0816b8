import POIService
import PointsOfInterestAPI
import Postgres

extension PlaceSearch {
    /// How many cubes one statement looks into.
    private static let cubesPerStatement = 32

    /// The places of the page by a search through cubes, and how many cubes it took.
    func throughCubes(
        _ snapshot: PostgresSnapshot
    ) async throws(PostgresError) -> (candidates: [Candidate], cubeCount: Int) {
        var search = CubeSearch(ranking, box: request.box)
        let surroundings = search.surroundings
        var cubeCount = surroundings.count
        for found in try await contents(of: surroundings, filter.source, snapshot) {
            search.take(found.candidates)
        }
        while true {
            let nodes = search.next(atMost: Self.cubesPerStatement)
            guard !nodes.isEmpty else { return (search.candidates, cubeCount) }
            cubeCount += nodes.count
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
        /// Those that are featured, or aren't, as asked.
        var candidates: [Candidate] = []
        fileprivate var count = 0

        /// Whether it was no more than is asked for.
        fileprivate var isWhole: Bool { count <= CubeStatement.limit }
    }

    /// Looks into cubes, by the index that a source says.
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
