import Foundation
import PointsOfInterestAPI
import Randomness
import Testing

@testable import PointsOfInterestServerAPI

@Suite("Cells of a map")
struct ClusterCellsTests {
    /// The tile by another way to write the projection, and not from the finest level.
    private static func tile(_ latitude: Double, _ longitude: Double, level: Int) -> (row: Int, column: Int) {
        let across = Double(1 << level)
        let y = (1 - asinh(tan(latitude * .pi / 180)) / .pi) / 2 * across
        let x = (longitude + 180) / 360 * across
        func clamped(_ number: Double) -> Int { Int(min(max(number, 0), across - 1)) }
        return (clamped(y), longitude == 180 ? 0 : clamped(x))
    }

    @Test("A quadkey begins with the tile of each level, and the edge rows reach the poles")
    func quadkeys() {
        var generator = SeededGenerator()
        for _ in 0..<1000 {
            let latitude = Double.random(in: -90...90, using: &generator)
            let longitude = Double.random(in: -180...180, using: &generator)
            let quadkey = Quadkey(latitude: latitude, longitude: longitude)
            for level in [0, 2, 9, 24] {
                #expect(
                    quadkey.tile(atLevel: level) == Self.tile(latitude, longitude, level: level),
                    "POI_TEST_SEED=\(generator.seed) \(latitude) \(longitude)")
            }
        }
        let last = 1 << 24 - 1
        for (latitude, row) in [(90.0, 0), (85.06, 0), (-85.06, last), (-90, last), (0, 1 << 23)] {
            #expect(Quadkey(latitude: latitude, longitude: 0).tile(atLevel: 24).row == row)
        }
        for (longitude, column) in [(-180.0, 0), (180, 0), (180.0.nextDown, last), (-0.0, 1 << 23)] {
            #expect(Quadkey(latitude: 0, longitude: longitude).tile(atLevel: 24).column == column)
        }
    }

    @Test(
        "The cells of a box are those that its places can be in, also across the antimeridian",
        arguments: [
            // West, south, east, north, and the number of cells at zoom 0: four by four.
            (-180.0, -90.0, 180.0, 90.0, 16), (0, 0.1, 1, 1, 1), (-1, -1, 1, 1, 4), (0, 0, 90, 0, 2),
            (170, 1, -170, 2, 2), (170, 1, 180, 2, 2), (180, 1, -180, 2, 1), (180, 1, 180, 2, 1),
            (-180, 1, -180, 2, 1), (-180, 1, -170, 2, 1), (180, 1, -170, 2, 1), (10.2, 1, 10.1, 2, 4),
            (0, 86, 1, 90, 1), (0, -90, 1, 90, 4),
        ])
    func boxes(west: Double, south: Double, east: Double, north: Double, count: Int) throws {
        let box = try #require(BoundingBox(west: west, south: south, east: east, north: north))
        let cells = ClusterCells(box, zoom: 0)
        #expect(cells.count == count)
        var generator = SeededGenerator()
        var numbers: Set<Int> = []
        for _ in 0..<2000 {
            let latitude = Double.random(in: -90...90, using: &generator)
            let longitude = Double.random(in: -180...180, using: &generator)
            let cell = cells.cell(of: Quadkey(latitude: latitude, longitude: longitude))
            if box.contains(latitude: latitude, longitude: longitude) { #expect(cell != nil) }
            if let cell { numbers.insert(cell) }
        }
        for longitude in [west, east] {
            #expect(cells.cell(of: Quadkey(latitude: north, longitude: longitude)) != nil)
        }
        // Cells are numbered, each by another number.
        #expect(numbers == Set(0..<count))
    }

    @Test("A mean is in the box of its places, and doesn't depend on their order")
    func sums() {
        var generator = SeededGenerator()
        for _ in 0..<100 {
            let places = (0..<Int.random(in: 1...20, using: &generator)).map { _ in
                (
                    Double.random(in: -90...90, using: &generator),
                    [180, -180, -0.0, 0, .random(in: -180...180, using: &generator)].randomElement(
                        using: &generator) ?? 0
                )
            }
            func sum(_ places: some Sequence<(Double, Double)>) -> ClusterSum {
                places.reduce(into: ClusterSum()) { $0.add(latitude: $1.0, longitude: $1.1) }
            }
            let all = sum(places)
            var parts = sum(places.suffix(places.count / 3))
            parts.add(sum(places.dropLast(places.count / 3).shuffled(using: &generator)))
            #expect(all == parts, "POI_TEST_SEED=\(generator.seed)")
            #expect(all.box?.contains(latitude: all.mean.latitude, longitude: all.mean.longitude) == true)
            let mean = places.map(\.0).reduce(0, +) / Double(places.count)
            #expect(abs(all.mean.latitude - mean) < 1e-7)
        }
        var single = ClusterSum()
        single.add(latitude: 1.23456789, longitude: 180)
        #expect(single.mean == (1.23456789, -180))
        #expect(single.box == BoundingBox(west: -180, south: 1.23456789, east: -180, north: 1.23456789))
    }
}

@Suite("Requests for clusters")
struct ClustersRequestTests {
    private func decode(_ query: String) throws -> ClustersRequest {
        try Array(query.utf8).withUnsafeBufferPointer {
            try ClustersRequest.decode(query: $0, ignoring: [], vocabulary: nil)
        }
    }

    @Test("A request for clusters is decoded as it was encoded")
    func roundTrips() throws {
        let box = try #require(BoundingBox(west: 170, south: -1.5, east: -170, north: 0))
        for request in [
            ClustersRequest(box: box, zoom: 0),
            ClustersRequest(
                box: box, zoom: 4, categories: ["cafe", "park"], searchText: "a é", featured: false),
            ClustersRequest(
                box: box, zoom: 4, filter: PlaceFilter(),
                content: PlaceContent(properties: ["a", "b"], languages: ["zh-hant", "en"])),
        ] {
            #expect(try decode(request.encodedQuery) == request)
        }
    }

    @Test(
        "A faulty request for clusters is refused with all of its faults",
        arguments: [
            ("", [("zoom", ProblemCode.missingParameter), ("bbox", .missingParameter)]),
            ("zoom=1", [("bbox", .missingParameter)]),
            ("zoom=23&bbox=0,0,1,1", [("zoom", .outOfRange)]),
            ("zoom=-1&bbox=0,0,1,1", [("zoom", .outOfRange)]),
            ("zoom=1.5&bbox=0,0,1", [("zoom", .notAnInteger), ("bbox", .malformedBox)]),
            ("zoom=4&bbox=-180,-90,180,90", [("zoom", .outOfRange)]),
            ("zoom=1&bbox=0,0,1,1&limit=5", [("limit", .unknownParameter)]),
        ])
    func faults(query: String, expected: [(String, ProblemCode)]) {
        let error = #expect(throws: ParameterError.self) { try decode(query) }
        #expect(error?.faults.map(\.parameter) == expected.map(\.0))
        #expect(error?.faults.map(\.code) == expected.map(\.1))
    }

    @Test("A request for clusters may touch 1,024 cells")
    func cells() throws {
        // The whole Earth has 32 by 32 cells at zoom 3.
        #expect(try decode("zoom=3&bbox=-180,-90,180,90").zoom == 3)
        let error = #expect(throws: ParameterError.self) { try decode("zoom=22&bbox=-180,-90,180,90") }
        #expect(error?.faults.first?.detail.contains("281474976710656 cells") == true)
    }
}

@Suite("A cluster")
struct PlaceClusterTests {
    @Test("A cluster is decoded as it was encoded, with its place")
    func roundTrips() throws {
        let box = try #require(BoundingBox(west: 1, south: 2, east: 3, north: 4))
        let place = PointOfInterest(id: 1, name: "A", category: "park", latitude: 2, longitude: 1)
        let clusters = PlaceClusters(
            zoom: 3,
            clusters: [
                PlaceCluster(count: 2, latitude: 3, longitude: 2, box: box),
                PlaceCluster(count: 1, latitude: 2, longitude: 1, box: box, place: place),
            ])
        let json = try JSONEncoder().encode(clusters)
        #expect(try JSONDecoder().decode(PlaceClusters.self, from: json) == clusters)
        for edges in ["[1,2,3]", "[1,4,3,2]", "[1,2,3,91]"] {
            let text = #"{"count":2,"latitude":3,"longitude":2,"bbox":\#(edges)}"#
            #expect(throws: DecodingError.self) {
                try JSONDecoder().decode(PlaceCluster.self, from: Data(text.utf8))
            }
        }
    }
}

@Suite("The zoom of a map")
struct MapZoomTests {
    @Test(
        "The zoom of a map is the last one at which its box is no wider than its view",
        arguments: [
            // West, east, width in points, zoom.
            (-180.0, 180.0, 256.0, 0), (-180, 180, 511, 0), (-180, 180, 512, 1), (0, 90, 256, 2),
            // Across the antimeridian.
            (135, -135, 256, 2), (0, 360.0 / 16_384, 256, 14), (0, 1e-9, 256, 22), (0, 0, 256, 22),
            // Nothing is shown, or no width is known.
            (0, 90, 0, 0), (0, 90, -1, 0), (0, 90, .nan, 0), (0, 0, 0, 0),
        ])
    func fits(west: Double, east: Double, width: Double, zoom: Int) throws {
        let box = try #require(BoundingBox(west: west, south: 0, east: east, north: 0))
        #expect(ClustersRequest.zoom(showing: box, width: width) == zoom)
    }

    @Test("The zoom of a map is one that the service accepts, for any box and view")
    func isAccepted() throws {
        for (south, north) in [(-90.0, 90.0), (-90, -80), (37, 38), (60, 89), (0, 0)] {
            for width in [0.001, 1, 45, 180, 359.9, 360] {
                for points in [100.0, 390, 1440, 5000, 1e9] {
                    let west = -180 + (360 - width) / 2
                    let box = try #require(
                        BoundingBox(west: west, south: south, east: west + width, north: north))
                    let zoom = ClustersRequest.zoom(showing: box, width: points)
                    #expect(ClusterCells(box, zoom: zoom).count <= ClustersRequest.maximumCellCount)
                }
            }
        }
    }
}
