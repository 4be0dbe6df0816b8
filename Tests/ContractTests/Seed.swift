import Foundation
import PointsOfInterestClient
import ServerProcess

/// The places of the seed files, read from their text: the truth that the service is compared with.
struct Seed {
    /// The place's id in its dataset.
    let slug: String
    let position: Coordinate

    /// All of them.
    static func all() throws -> [Seed] {
        let folder = PoiProgram.migrations.appending(path: "Seeds")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        return try files.filter { $0.pathExtension == "sql" }.flatMap { file in
            try String(contentsOf: file, encoding: .utf8).split(separator: "\n").compactMap(seed(in:))
        }
    }

    /// All of them with their distances, nearest first.
    static func ranked(from center: Coordinate) throws -> [(slug: String, meters: Double)] {
        try all().compactMap { seed in
            Vincenty.meters(from: center, to: seed.position).map { (seed.slug, $0) }
        }
        .sorted { $0.meters < $1.meters }
    }

    /// Reads a line such as `('slug', 'The Place''s Name', 'museum', 37.3316, -121.8901, true, …),`.
    private static func seed(in line: Substring) throws -> Seed? {
        let pattern = /\s*\('([a-z0-9-]+)',\s*'(?:[^']|'')*',\s*'[a-z_]+',\s*(-?[0-9.]+),\s*(-?[0-9.]+),.*/
        guard let match = try pattern.wholeMatch(in: line),
            let latitude = Double(match.output.2), let longitude = Double(match.output.3)
        else { return nil }
        return Seed(
            slug: String(match.output.1),
            position: try Coordinate(latitude: latitude, longitude: longitude))
    }
}
