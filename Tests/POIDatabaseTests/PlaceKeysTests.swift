import PointsOfInterestAPI
import Randomness
import Testing

@testable import POIDatabase

@Suite("Places by their cubes")
struct PlaceKeysTests {
    @Test(
        "Every cube has the places whose keys are in its range, however many there are",
        arguments: [0, 1, 50, 5000])
    func cubes(count: Int) {
        var generator = SeededGenerator()
        let places = (0..<count).map { (id: Int) -> (key: Int64, id: Int64) in
            // Some on one point, some beside each other, some anywhere.
            let key =
                id.isMultiple(of: 3)
                ? 7 : Int64.random(in: 0..<(1 << [20, 40, 62][id % 7 % 3]), using: &generator)
            return (key: key, id: Int64(id))
        }
        let keys = PlaceKeys(keys: places.map(\.key), ids: places.map(\.id))
        var cubes = [SpaceCube.root]
        for _ in 0..<2000 {
            guard let cube = cubes.popLast() else { break }
            let expected = places.filter { cube.keys.contains($0.key) }.map(\.id)
            #expect(keys.ids(in: cube).sorted() == expected)
            #expect(keys.count(in: cube) == expected.count)
            cubes += cube.children.shuffled(using: &generator).prefix(3)
        }
    }
}
