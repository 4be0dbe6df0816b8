import Foundation
import Geodesy
import PointsOfInterestAPI
import PointsOfInterestServerAPI
import Randomness
import SpatialIndex

// What the index costs: the time to pack it, its memory, the searches, and the counts of clusters. Instructions are counted by running it under
// `valgrind --tool=callgrind --toggle-collect='*searchOften*'`.
//
//     swift run -c release measure-index [PLACES] [SEARCHES] [random|towns] [FILTER]

let arguments = CommandLine.arguments.dropFirst() + []
func argument(_ index: Int) -> String? { arguments.indices.contains(index + 1) ? arguments[index + 1] : nil }
let placeCount = argument(0).flatMap { Int($0) } ?? 1_000_000
let searchCount = argument(1).flatMap { Int($0) } ?? 10_000
let isRandom = argument(2) == "random"
let filter = argument(3) ?? "none"

/// Places like cities: around some thousand towns, most of them near their middles.
struct Geography {
    var generator = SeededGenerator(seed: 42)
    private var towns: [(Double, Double, Double)] = []

    init() {
        for _ in 0..<2000 {
            towns.append((asin(uniform(-1, 1)) * 40, uniform(-180, 180), 0.005 + 0.05 * uniform(0, 1)))
        }
    }

    mutating func uniform(_ lower: Double, _ upper: Double) -> Double {
        Double.random(in: lower...upper, using: &generator)
    }

    mutating func place() -> (latitude: Double, longitude: Double) {
        if isRandom { return (asin(uniform(-1, 1)) * 180 / .pi, uniform(-180, 180)) }
        let town = towns[Int(1999 * uniform(0, 1) * uniform(0, 1))]
        let (reach, angle) = (town.2 * -log(uniform(1e-12, 1)), uniform(0, 2 * .pi))
        let longitude = town.1 + reach * cos(angle) / max(0.01, cos(town.0 * .pi / 180))
        return (town.0 + reach * sin(angle), max(-180, min(180, longitude)))
    }
}

extension Geography {
    /// About two and a half words: a few frequent ones, and as many different ones as real names have.
    mutating func name() -> [UInt8] {
        var name = " place\(generator.next() % 50) w\(generator.next() % 300_000)"
        if generator.next().isMultiple(of: 2) { name += " of\(generator.next() % 2000)" }
        return Array(name.utf8)
    }
}

/// The processor's time that this process took so far, in seconds: other processes don't count.
func processorTime() -> Double { Double(clock()) / Double(CLOCKS_PER_SEC) }

func seconds(_ body: () -> Void) -> Double {
    let start = processorTime()
    body()
    return processorTime() - start
}

/// Returns the part, and the seconds that adding and packing took.
func packedPart(_ geography: inout Geography) -> (part: IndexPart, adding: Double, building: Double) {
    var builder = IndexPartBuilder(expecting: placeCount)
    var categories: [UInt16] = []
    for number in 0..<60 {
        if let category = builder.category(named: "category_\(number)") { categories.append(category) }
    }
    let record = [UInt8](repeating: 0x20, count: 300)
    let start = processorTime()
    for id in 0..<placeCount {
        let place = geography.place()
        let category = categories[Int(60 * geography.uniform(0, 0.999) * geography.uniform(0, 0.999))]
        geography.name().withUnsafeBufferPointer { name in
            record.withUnsafeBytes { record in
                builder.add(
                    IndexEntry(
                        id: Int64(id), latitude: place.latitude, longitude: place.longitude,
                        category: category, isFeatured: id.isMultiple(of: 50), foldedName: name,
                        record: record))
            }
        }
    }
    let packing = processorTime()
    let part = builder.build()
    return (part, packing - start, processorTime() - packing)
}

var geography = Geography()
let (part, adding, building) = packedPart(&geography)
let snapshot = IndexSnapshot(
    part: part, version: IndexVersion(revision: 1, datasetIDHigh: 0, datasetIDLow: 0))

var queries: [IndexQuery] = []
for _ in 0..<searchCount {
    let place = geography.place()
    guard let center = try? Coordinate(latitude: place.latitude, longitude: place.longitude) else { continue }
    var query = IndexQuery(ranking: Ranking(center: center, radiusMeters: nil, limit: 21))
    switch filter {
    case "category": query.filter.categories = [5]
    case "rare": query.filter.categories = [58, 59]
    case "featured": query.filter.isFeatured = true
    case "unfeatured": query.filter.isFeatured = false
    case "word": query.filter.words = [Array("place7".utf8)]
    case "words": query.filter.words = [Array("place7".utf8), Array("of1".utf8)]
    case "rareword": query.filter.words = [Array("w1234".utf8)]
    case "box":
        query.box = BoundingBox(
            west: max(-180, center.longitude - 0.05), south: max(-90, center.latitude - 0.05),
            east: min(180, center.longitude + 0.05), north: min(90, center.latitude + 0.05))
    default: break
    }
    queries.append(query)
}

/// Returns how many searches a loop would have left to a helper thread.
@inline(never) func searchOften(_ queries: [IndexQuery], _ snapshot: IndexSnapshot) -> (
    late: Int, places: Int
) {
    var (late, places) = (0, 0)
    var page = IndexPage()
    for query in queries {
        if snapshot.searchAtOnce(query, into: &page) { places += page.placed.count } else { late += 1 }
    }
    return (late, places)
}

var found = (late: 0, places: 0)
let searching = seconds { found = searchOften(queries, snapshot) }
print(
    "\(placeCount) places, \(isRandom ? "random" : "towns"), filter \(filter):",
    "add \(adding) s, build \(building) s,",
    "\(part.bytes - part.recordBytes) bytes without records, \(Double(part.bytes - part.recordBytes) / Double(placeCount)) a place,",
    "\(searching / Double(queries.count) * 1e6) us a search, \(found.late) late, \(found.places) places found"
)

// Clusters: of the whole Earth, and of boxes of every size around places, each at the largest zoom that it may have.

/// The cells of a box at the largest zoom at which it touches no more than are counted.
func cells(of box: BoundingBox) -> ClusterCells {
    let zooms = ClustersRequest.zooms.reversed()
    let allowed = zooms.map { ClusterCells(box, zoom: $0) }.first {
        $0.count <= ClustersRequest.maximumCellCount
    }
    return allowed ?? ClusterCells(box, zoom: 0)
}

var areas: [ClusterCells] = []
if let earth = BoundingBox(west: -180, south: -90, east: 180, north: 90) { areas.append(cells(of: earth)) }
for number in 0..<200 {
    let (center, reach) = (geography.place(), 80 * pow(0.9, Double(number % 100)))
    let box = BoundingBox(
        west: max(-180, center.longitude - reach), south: max(-90, center.latitude - reach),
        east: min(180, center.longitude + reach), north: min(90, center.latitude + reach))
    if let box { areas.append(cells(of: box)) }
}
let clusterFilter = queries.first?.filter ?? IndexFilter()
let repetitions = 20
let times = areas.map { area in
    seconds { for _ in 0..<repetitions { _ = snapshot.clusters(in: area, clusterFilter) } }
        / Double(repetitions)
}
let lateCount = areas.count { snapshot.clustersAtOnce(in: $0, clusterFilter) == nil }
print(
    "clusters, filter \(filter):", "the Earth \((times.first ?? 0) * 1e6) us,",
    "boxes \(times.reduce(0, +) / Double(times.count) * 1e6) us, at most \((times.max() ?? 0) * 1e6) us,",
    "\(lateCount) of \(areas.count) late")
