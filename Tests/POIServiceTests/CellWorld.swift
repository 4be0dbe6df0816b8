import PointsOfInterestAPI
import Randomness

@testable import POIService

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Places in memory that answer for cells as a database does, and for questions by measuring every place.
struct CellWorld {
    let places: [Candidate]
    private let points: [SIMD3<Double>]

    init(_ places: [Candidate]) {
        self.places = places
        points = places.map { Ellipsoid.point(latitude: $0.latitude, longitude: $0.longitude) }
    }

    /// What the answers to questions have cost.
    struct Cost {
        var cells = 0
        var wholeCells = 0
        var roundTrips = 0
    }

    /// Runs a search to its end.
    func search(_ ranking: Ranking, box: BoundingBox?, known: [Candidate], candidateLimit: Int) -> (
        answer: [Candidate], cost: Cost
    ) {
        var search = CellSearch(ranking, box: box, known: known, candidateLimit: candidateLimit)
        var cost = Cost()
        while case let cells = search.nextCells(atMost: 8), !cells.isEmpty {
            cost.roundTrips += 1
            for cell in cells {
                cost.cells += 1
                let limit = cell.candidateLimit ?? places.count
                let found = candidates(in: cell, box: box, atMost: limit + 1)
                if found.count <= limit { cost.wholeCells += 1 }
                search.take(Array(found.prefix(limit)), of: cell, isWhole: found.count <= limit)
            }
        }
        return (search.candidates, cost)
    }

    /// As PostGIS's n-D index does, this compares numbers that are rounded to floats, outwards.
    private func candidates(in cell: CellSearch.Cell, box: BoundingBox?, atMost limit: Int) -> [Candidate] {
        let lower = SIMD3(
            Double(Float(cell.minX).nextDown), Double(Float(cell.minY).nextDown),
            Double(Float(cell.minZ).nextDown))
        let upper = SIMD3(
            Double(Float(cell.maxX).nextUp), Double(Float(cell.maxY).nextUp), Double(Float(cell.maxZ).nextUp))
        var found: [Candidate] = []
        for (index, point) in points.enumerated() where found.count < limit {
            guard point.x >= lower.x, point.x <= upper.x, point.y >= lower.y, point.y <= upper.y,
                point.z >= lower.z, point.z <= upper.z
            else { continue }
            let place = places[index]
            if let box, !box.contains(latitude: place.latitude, longitude: place.longitude) { continue }
            found.append(place)
        }
        return found
    }

    /// The places nearest to a centre by the chord: what a store knows before it searches cells.
    func nearestByChord(_ count: Int, to center: Coordinate) -> [Candidate] {
        let origin = Ellipsoid.point(latitude: center.latitude, longitude: center.longitude)
        let squares = points.enumerated().map { index, point in
            (square: ((point - origin) * (point - origin)).sum(), index: index)
        }
        return squares.sorted { $0.square < $1.square }.prefix(count).map { places[$0.index] }
    }

    /// All places in a box in the order of distance, then id.
    func scan(from center: Coordinate, box: BoundingBox? = nil) -> [(meters: Double, candidate: Candidate)] {
        places
            .filter { box?.contains(latitude: $0.latitude, longitude: $0.longitude) ?? true }
            .map { (Geodesic.distanceMeters(from: center, to: $0), $0) }
            .sorted { ($0.0, $0.1.id) < ($1.0, $1.1.id) }
    }
}

extension Coordinate {
    /// A coordinate made of any finite numbers: what is beyond a pole stays there, what is beyond the
    /// antimeridian comes from the other side.
    init(wrapped latitude: Double, _ longitude: Double) throws {
        try self.init(
            latitude: max(-90, min(90, latitude)),
            longitude: abs(longitude) <= 180 ? longitude : remainder(longitude, 360))
    }

    /// The other end of the Earth.
    var antipode: Coordinate {
        get throws { try Coordinate(wrapped: -latitude, longitude > 0 ? longitude - 180 : longitude + 180) }
    }

    /// Anywhere, or where it is special: at a pole, on the equator, on a meridian that is a seam.
    static func random(using generator: inout SeededGenerator) throws -> Coordinate {
        let special: Double = [-90.0, 0, 90].randomElement(using: &generator) ?? 0
        let seam: Double = [-180.0, -90, -0.0, 0, 90, 180].randomElement(using: &generator) ?? 0
        func isSpecial() -> Bool { Int.random(in: 0..<4, using: &generator) == 0 }
        let latitude = isSpecial() ? special : Double.random(in: -90...90, using: &generator)
        let longitude = isSpecial() ? seam : Double.random(in: -180...180, using: &generator)
        return try Coordinate(latitude: latitude, longitude: longitude)
    }
}
