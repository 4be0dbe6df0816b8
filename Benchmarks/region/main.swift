import Foundation
import PointsOfInterestHTTP
import PointsOfInterestOffline
import Randomness

// What a region on the device costs: its bytes, and the processor time of opening it and of its answers.
//
//     measure-region URL FOLDER WEST,SOUTH,EAST,NORTH [KEY]
//
// Downloads the region of a box into a folder, or compares it where it is there, and then asks it.

let arguments = CommandLine.arguments
let edges = arguments.count > 3 ? arguments[3].split(separator: ",").compactMap { Double($0) } : []
guard edges.count == 4, let url = URL(string: arguments[1]),
    let box = BoundingBox(west: edges[0], south: edges[1], east: edges[2], north: edges[3]),
    let id = UUID(uuidString: "00000000-0000-0000-0000-000000000001")
else {
    FileHandle.standardError.write(
        Data("usage: measure-region URL FOLDER WEST,SOUTH,EAST,NORTH [KEY]\n".utf8))
    exit(64)
}
let key = arguments.count > 4 ? arguments[4] : nil
let service = PointsOfInterestService(baseURL: url, responseStore: nil) { _ in
    key.map { ["Authorization": "Bearer \($0)"] } ?? [:]
}
let folder = URL(fileURLWithPath: arguments[2])

/// The processor time of one call, in milliseconds, of the fastest of several rounds.
func measure(_ what: String, count: Int, _ body: (Int) async throws -> Void) async throws {
    var fastest = Double.infinity
    for _ in 0..<5 {
        let start = clock()
        for index in 0..<count { try await body(index) }
        fastest = min(fastest, Double(clock() - start) / Double(CLOCKS_PER_SEC) * 1000 / Double(count))
    }
    print("\(what): \(String(format: "%.4f", fastest)) ms")
}

let regions = try OfflineRegions(directory: folder)
if regions.list().isEmpty {
    try regions.add(OfflineRegion(id: id, name: "measured", box: box, languages: ["en"]))
}
let state = try await regions.update(id, from: service)
print("\(state.placeCount) places, \(state.byteCount) bytes on disk")

let finder = OfflinePlaceFinder(regions: regions)
try await measure("open", count: 10) { _ in
    let opened = OfflinePlaceFinder(regions: try OfflineRegions(directory: folder))
    _ = try await opened.nearbyPlaces(NearbyPlacesRequest(box: box, limit: 1))
}
var generator = SeededGenerator(seed: 1)
let centers = try (0..<500).map { _ in
    try Coordinate(
        latitude: .random(in: box.south...box.north, using: &generator),
        longitude: .random(in: box.west...box.east, using: &generator))
}
try await measure("nearest 20", count: centers.count) { index in
    _ = try await finder.nearbyPlaces(NearbyPlacesRequest(center: centers[index]))
}
// As somebody types the names of places that are there, to their ends, and with an error.
let names = try await finder.nearbyPlaces(NearbyPlacesRequest(center: centers[0], limit: 100)).places.map(
    \.name)
let texts = names.flatMap { name in
    [
        String(name.prefix(3)), String(name.prefix(6)), name,
        name.replacing("a", with: "e", maxReplacements: 1),
    ]
}
try await measure("words, 20 places", count: texts.count) { index in
    var request = NearbyPlacesRequest(center: centers[index % centers.count])
    request.searchText = texts[index]
    _ = try await finder.nearbyPlaces(request)
}
try await measure("relevance, 20 places", count: texts.count) { index in
    _ = try await finder.nearbyPlaces(
        NearbyPlacesRequest(searchText: texts[index], center: centers[index % centers.count]))
}
