import Foundation
import Geodesy
import PointsOfInterestAPI
import PointsOfInterestServerAPI
import Randomness
import SpatialIndex

// What the index costs: the time to pack it, its memory, the searches, and the counts of clusters. Instructions are counted by running it under
// `valgrind --tool=callgrind --toggle-collect='*searchOften*'`.
//
// With several numbers of places, `10000,1000000,5000000`, searches take turns among them: instructions hardly grow with the
// number, what grows is how long memory is waited for.
//
//     swift run -c release measure-index [PLACES,…] [SEARCHES] [random|towns] [FILTER] [NAMES] [searches]

let arguments = CommandLine.arguments.dropFirst() + []
func argument(_ index: Int) -> String? { arguments.indices.contains(index + 1) ? arguments[index + 1] : nil }
let sizes = argument(0)?.split(separator: ",").compactMap { Int($0) } ?? [1_000_000]
let searchCount = argument(1).flatMap { Int($0) } ?? 10_000
let isRandom = argument(2) == "random"
let filter = argument(3) ?? "none"
let nameCount = argument(4).flatMap { Int($0) } ?? 1

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

/// Packs so many places, and prints what that took.
func packed(_ placeCount: Int, _ geography: inout Geography) -> IndexSnapshot {
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
        let names = (0..<nameCount).map { _ in geography.name() }
        names.joined(separator: "\n".utf8).map(\.self).withUnsafeBufferPointer { name in
            record.withUnsafeBytes { record in
                builder.add(
                    IndexEntry(
                        id: Int64(id), latitude: place.latitude, longitude: place.longitude,
                        category: category, isFeatured: id.isMultiple(of: 50), foldedNames: name,
                        record: record))
            }
        }
    }
    let packing = processorTime()
    let part = builder.build()
    print(
        "\(placeCount) places, \(isRandom ? "random" : "towns"):",
        "add \(packing - start) s, build \(processorTime() - packing) s,",
        "\(part.bytes - part.recordBytes) bytes without records, \(Double(part.bytes - part.recordBytes) / Double(placeCount)) a place"
    )
    return IndexSnapshot(part: part, version: IndexVersion(revision: 1, datasetIDHigh: 0, datasetIDLow: 0))
}

var geography = Geography()
let snapshots = sizes.map { packed($0, &geography) }

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
    case "word": query.filter.words = [.word(Array("place7".utf8))]
    case "words": query.filter.words = [.word(Array("place7".utf8)), .word(Array("of1".utf8))]
    case "rareword": query.filter.words = [.word(Array("w1234".utf8))]
    case "box":
        query.box = BoundingBox(
            west: max(-180, center.longitude - 0.05), south: max(-90, center.latitude - 0.05),
            east: min(180, center.longitude + 0.05), north: min(90, center.latitude + 0.05))
    default: break
    }
    queries.append(query)
}

/// Searches and copies the records, as a response does. Returns how many searches a loop leaves to a helper thread.
@inline(never) func searchOften(_ queries: some Sequence<IndexQuery>, _ snapshot: IndexSnapshot) -> (
    late: Int, places: Int
) {
    var (late, places) = (0, 0)
    var page = IndexPage()
    var response: [UInt8] = []
    for query in queries {
        if !snapshot.searchAtOnce(query, into: &page) {
            late += 1
            page = snapshot.search(query) ?? page
        }
        places += page.placed.count
        response.removeAll(keepingCapacity: true)
        for place in page.placed { response += snapshot.records[place.reference].bytes }
    }
    return (late, places)
}

let batchSize = min(200, queries.count)
var found = sizes.map { _ in (late: 0, places: 0) }
var microseconds = sizes.map { _ in [Double]() }
for start in stride(from: 0, through: queries.count - batchSize, by: batchSize) {
    for (size, snapshot) in snapshots.enumerated() {
        var batch = (late: 0, places: 0)
        let taken = seconds { batch = searchOften(queries[start..<start + batchSize], snapshot) }
        microseconds[size].append(taken / Double(batchSize) * 1e6)
        found[size] = (found[size].late + batch.late, found[size].places + batch.places)
    }
}
let medians = microseconds.map { $0.sorted()[$0.count / 2] }
for (size, median) in zip(sizes.indices, medians) {
    print(
        "\(sizes[size]) places, filter \(filter): \(median) us a search, \(median / medians[0]) times the first,",
        "\(found[size].late) late, \(found[size].places) places found")
}

// Clusters: of the whole Earth, and of boxes of every size around places, each at the largest zoom that it may have.

/// The cells of a box at the largest zoom at which it touches no more than are counted.
func cells(of box: BoundingBox) -> ClusterCells {
    let zooms = ClustersRequest.zooms.reversed()
    let allowed = zooms.map { ClusterCells(box, zoom: $0) }.first {
        $0.count <= ClustersRequest.maximumCellCount
    }
    return allowed ?? ClusterCells(box, zoom: 0)
}

// Counting instructions isn't to wait for them.
guard argument(5) != "searches" else { exit(0) }
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
    seconds { for _ in 0..<repetitions { _ = snapshots[0].clusters(in: area, clusterFilter) } }
        / Double(repetitions)
}
let lateCount = areas.count { snapshots[0].clustersAtOnce(in: $0, clusterFilter) == nil }
print(
    "clusters, filter \(filter):", "the Earth \((times.first ?? 0) * 1e6) us,",
    "boxes \(times.reduce(0, +) / Double(times.count) * 1e6) us, at most \((times.max() ?? 0) * 1e6) us,",
    "\(lateCount) of \(areas.count) late")
