import Foundation
import PointsOfInterestClient
import ServerProcess

/// The places of the seed files, read from their text: the truth that the service is compared with. They have no ids but
/// those in their datasets.
enum Seed {
    private static let license = "CC0-1.0"

    static func all() throws -> [PointOfInterest] {
        let texts = try texts()
        let descriptions = Dictionary(
            uniqueKeysWithValues: try texts.flatMap { try rows(in: $0, of: "described") }.map {
                ($0["slug"] ?? nil, $0)
            })
        return try texts.flatMap { text in
            guard let dataset = try /'(poi-seed-[a-z-]+)'/.firstMatch(in: text)?.output.1 else {
                return [PointOfInterest]()
            }
            return try rows(in: text, of: "place").compactMap { row in
                let description = descriptions[row["slug"] ?? nil] ?? [:]
                return place(row.merging(description) { $1 }, dataset: String(dataset))
            }
        }
    }

    private static func texts() throws -> [String] {
        let folder = PoiProgram.migrations.appending(path: "Seeds")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        return try files.filter { $0.pathExtension == "sql" }.map {
            try String(contentsOf: $0, encoding: .utf8)
        }
    }

    /// The names in languages of those that have any, by the ids in their datasets.
    static func names() throws -> [String: [String: String]] {
        var names: [String: [String: String]] = [:]
        for row in try texts().flatMap({ try rows(in: $0, of: "named") }) {
            guard let slug = row["slug"] ?? nil, let json = row["names"] ?? nil else { continue }
            names[slug] = try JSONDecoder().decode([String: String].self, from: Data(json.utf8))
        }
        return names
    }

    /// The ids in their datasets of all that have a distance, nearest first.
    static func ranked(from center: Coordinate) throws -> [(slug: String, meters: Double)] {
        try all().compactMap { place in
            let position = try Coordinate(latitude: place.latitude, longitude: place.longitude)
            return Vincenty.meters(from: center, to: position).map { (place.source?.id ?? "", $0) }
        }.sorted { $0.meters < $1.meters }
    }

    /// Reads lines such as `('slug', 'The Place''s Name', 'museum', 37.3316, -121.8901, true, …),`, whose last line names the
    /// columns: `) AS place (slug, name, …)`.
    private static func rows(in text: String, of alias: String) throws -> [[String: String?]] {
        let heading = try Regex("\\) AS \(alias) \\(([a-z, ]+)\\)", as: (Substring, Substring).self)
        guard let match = try heading.firstMatch(in: text) else { return [] }
        let names = match.output.1.split(separator: ", ").map(String.init)
        let before = text[..<match.range.lowerBound]
        let rows = before.ranges(of: "(VALUES").last.map { before[$0.upperBound...] } ?? before
        let literal = /'((?:[^']|'')*)'|[-0-9.]+|true|false|NULL/
        return rows.split(separator: "\n").filter { $0.hasPrefix("    ('") }.compactMap { line in
            // Texts without their quotes, NULL as nil.
            let values = line.matches(of: literal).map { match -> String? in
                if let text = match.output.1 { return String(text).replacing("''", with: "'") }
                return match.output.0 == "NULL" ? nil : String(match.output.0)
            }
            guard values.count == names.count else { return nil }
            return Dictionary(uniqueKeysWithValues: zip(names, values))
        }
    }

    private static func place(_ row: [String: String?], dataset: String) -> PointOfInterest? {
        func text(_ name: String) -> String? { row[name] ?? nil }
        guard let slug = text("slug"), let name = text("name"), let category = text("category"),
            let latitude = text("latitude").flatMap(Double.init),
            let longitude = text("longitude").flatMap(Double.init)
        else { return nil }
        return PointOfInterest(
            id: 0, name: name, category: category, latitude: latitude, longitude: longitude,
            featured: text("featured") == "true",
            // In San José the files have the street.
            address: text("address") ?? text("street").map { $0 + ", San José, CA" },
            website: text("website"),
            source: PointOfInterest.Source(dataset: dataset, id: slug, license: license),
            importance: text("importance").flatMap(Int.init) ?? 0,
            properties: text("properties").flatMap {
                try? JSONDecoder().decode(JSONValue.Object.self, from: Data($0.utf8))
            })
    }
}

/// Geodesic distances on the WGS 84 ellipsoid by Vincenty's inverse formula (Survey Review XXIII, 176, 1975),
/// which has nothing in common with the service's way, and is good to a millimetre.
enum Vincenty {
    private static let equatorialRadius = 6_378_137.0
    private static let flattening = 1 / 298.257223563

    /// The distance in metres; nil for nearly antipodal places, for which the formula doesn't converge.
    static func meters(from first: Coordinate, to second: Coordinate) -> Double? {
        let longitudeDifference = radians(second.longitude - first.longitude)
        let (sinFirst, cosFirst) = reduced(first.latitude)
        let (sinSecond, cosSecond) = reduced(second.latitude)
        var lambda = longitudeDifference
        for _ in 0..<1000 {
            let (sinLambda, cosLambda) = (sin(lambda), cos(lambda))
            let sinSigma = hypot(
                cosSecond * sinLambda, cosFirst * sinSecond - sinFirst * cosSecond * cosLambda)
            if sinSigma == 0 { return 0 }
            let cosSigma = sinFirst * sinSecond + cosFirst * cosSecond * cosLambda
            let sigma = atan2(sinSigma, cosSigma)
            let sinAlpha = cosFirst * cosSecond * sinLambda / sinSigma
            let cosSquaredAlpha = 1 - sinAlpha * sinAlpha
            let cosMiddle = cosSquaredAlpha == 0 ? 0 : cosSigma - 2 * sinFirst * sinSecond / cosSquaredAlpha
            let c = flattening / 16 * cosSquaredAlpha * (4 + flattening * (4 - 3 * cosSquaredAlpha))
            let middle = cosMiddle + c * cosSigma * (2 * cosMiddle * cosMiddle - 1)
            let previous = lambda
            lambda = longitudeDifference + (1 - c) * flattening * sinAlpha * (sigma + c * sinSigma * middle)
            if abs(lambda - previous) < 1e-12 {
                return length(cosSquaredAlpha, sigma, sinSigma, cosSigma, cosMiddle)
            }
        }
        return nil
    }

    private static func length(
        _ cosSquaredAlpha: Double, _ sigma: Double, _ sinSigma: Double, _ cosSigma: Double,
        _ cosMiddle: Double
    ) -> Double {
        let polarRadius = equatorialRadius * (1 - flattening)
        let uSquared = cosSquaredAlpha * (pow(equatorialRadius / polarRadius, 2) - 1)
        let a = 1 + uSquared / 16384 * (4096 + uSquared * (-768 + uSquared * (320 - 175 * uSquared)))
        let b = uSquared / 1024 * (256 + uSquared * (-128 + uSquared * (74 - 47 * uSquared)))
        let first = cosSigma * (2 * cosMiddle * cosMiddle - 1)
        let second = b / 6 * cosMiddle * (4 * sinSigma * sinSigma - 3) * (4 * cosMiddle * cosMiddle - 3)
        return polarRadius * a * (sigma - b * sinSigma * (cosMiddle + b / 4 * (first - second)))
    }

    /// Sine and cosine of the reduced latitude.
    private static func reduced(_ latitude: Double) -> (Double, Double) {
        let reduced = atan((1 - flattening) * tan(radians(latitude)))
        return (sin(reduced), cos(reduced))
    }

    private static func radians(_ degrees: Double) -> Double { degrees * .pi / 180 }
}
