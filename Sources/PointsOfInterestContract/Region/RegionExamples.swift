import Foundation
import PointsOfInterestClient

/// Examples that tests need of a region.
extension Region {
    /// Its categories, the most frequent one first.
    var categories: [String] {
        Dictionary(grouping: places, by: \.place.category)
            .sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }.map(\.key)
    }

    /// The first of its places that fulfils a condition.
    func first(where holds: (PointOfInterest) -> Bool) -> PointOfInterest? {
        places.first { holds($0.place) }?.place
    }

    /// The positions of more than one place, with these places.
    var crowds: [[PointOfInterest]] {
        Dictionary(grouping: places.map(\.place)) { [$0.latitude, $0.longitude] }.values
            .filter { $0.count > 1 }
            .sorted { ($1.count, $0[0].id) < ($0.count, $1[0].id) }
    }

    /// The place around which the largest disc is in the region, and that disc's radius in metres at most.
    var disc: (center: RegionPlace, radius: Double)? {
        if isWholeEarth {
            let sorted = places.sorted { $0.place.latitude < $1.place.latitude }
            return (sorted[sorted.count / 2], NearbyPlacesRequest.maximumRadiusMeters)
        }
        return places.map { ($0, safeRadius(around: $0.place)) }.max { $0.1 < $1.1 }
    }

    /// A radius within which no position is outside the box; measured on spheres within the ellipsoid.
    private func safeRadius(around place: PointOfInterest) -> Double {
        func toMeridian(_ degrees: Double) -> Double {
            degrees >= 90
                ? .infinity : asin(cos(place.latitude * .pi / 180) * sin(degrees * .pi / 180)) * 6_335_000
        }
        func toParallel(_ degrees: Double) -> Double { degrees * .pi / 180 * 6_335_000 }
        let distances = [
            toMeridian(place.longitude - box.west), toMeridian(box.east - place.longitude),
            toParallel(place.latitude - box.south), toParallel(box.north - place.latitude),
        ]
        return 0.99 * (distances.min() ?? 0)
    }

    /// A quarter of the box, around the places' middle.
    var quarter: BoundingBox? {
        let latitudes = places.map(\.place.latitude).sorted()
        let longitudes = places.map(\.place.longitude).sorted()
        func inner(_ sorted: [Double]) -> (Double, Double) {
            (sorted[sorted.count / 4], sorted[sorted.count * 3 / 4])
        }
        let ((south, north), (west, east)) = (inner(latitudes), inner(longitudes))
        return BoundingBox(west: west, south: south, east: east, north: north)
    }
}

extension Region {
    /// A small box with a place at one of its corners and another at the opposite one.
    func corners(at place: PointOfInterest) -> BoundingBox? {
        func span(_ other: PointOfInterest) -> Double {
            max(abs(other.latitude - place.latitude), abs(other.longitude - place.longitude))
        }
        let others = places.lazy.map(\.place).filter {
            $0.latitude != place.latitude && $0.longitude != place.longitude
        }
        guard let other = others.min(by: { span($0) < span($1) }) else { return nil }
        return BoundingBox(
            west: min(place.longitude, other.longitude), south: min(place.latitude, other.latitude),
            east: max(place.longitude, other.longitude), north: max(place.latitude, other.latitude))
    }
}

/// Words of a region's names that tests search for.
struct RegionWords: Sendable {
    /// A word of letters A to Z, one of them a vowel, and of no more; the most frequent one of several letters.
    let word: String?
    /// A word with accents, as its name has it.
    let accented: String?
    /// Two words of one name, of which another name has only the first.
    let pair: (first: String, second: String)?
    /// A run without its first character.
    let run: String?
    /// The longest beginning of a word that, without its last letter, begins another word, too.
    let fork: String?

    init(_ all: [RegionPlace]) {
        var places: [String: [RegionPlace]] = [:]
        for place in all {
            for word in place.name.plainWords { places[word, default: []].append(place) }
        }
        word =
            places.filter { $0.key.utf8.count >= 4 && Self.withAccent($0.key) != nil }
            .max { ($0.value.count, $1.key) < ($1.value.count, $0.key) }?.key
        accented = all.lazy.flatMap { $0.place.name.split(separator: " ") }.map(String.init)
            .first { word in
                let scalars = word.decomposedStringWithCanonicalMapping.unicodeScalars
                return scalars.contains(where: Self.isAccent)
                    && scalars.allSatisfy { Self.isAccent($0) || $0.isASCII && $0.properties.isAlphabetic }
            }
        run = all.lazy.compactMap(\.name.partOfRun).first
        fork = Self.fork(places.keys.sorted())
        // Each name once: the places of a chain are many.
        let names = Dictionary(all.map { ($0.place.name, $0) }, uniquingKeysWith: { first, _ in first })
        pair =
            names.values.sorted { $0.place.id < $1.place.id }
            .lazy.compactMap { Self.pair(in: $0, places) }.first
    }

    private static func fork(_ sorted: [String]) -> String? {
        // In this order the words that share the longest beginning are neighbours.
        zip(sorted, sorted.dropFirst()).compactMap { one, other -> String? in
            let shared = one.commonPrefix(with: other)
            return shared.count < one.count ? String(other.prefix(shared.count + 1)) : nil
        }
        .max { $0.count < $1.count }
    }

    private static func pair(
        in place: RegionPlace, _ places: [String: [RegionPlace]]
    ) -> (first: String, second: String)? {
        for first in place.name.plainWords {
            for second in place.name.plainWords where second != first {
                if places[first, default: []].contains(where: { !$0.name.match(second) }) {
                    return (first, second)
                }
            }
        }
        return nil
    }

    private static func isAccent(_ scalar: Unicode.Scalar) -> Bool {
        ("\u{300}"..."\u{36F}").contains(scalar)
    }

    /// A word with an acute accent on its first vowel; nil where it has none.
    static func withAccent(_ word: String) -> String? {
        guard let index = word.firstIndex(where: { "aeiou".contains($0) }) else { return nil }
        return (word[...index] + "\u{301}" + word[word.index(after: index)...])
            .precomposedStringWithCanonicalMapping
    }
}

extension NameWords {
    /// The words that consist of nothing but letters a to z and digits, sorted.
    var plainWords: [String] {
        words.map { String(String.UnicodeScalarView($0)) }
            .filter { $0.utf8.allSatisfy { $0 < 128 } }.sorted()
    }

    /// The longest word that another one ends with.
    var partOfRun: String? {
        words.filter { word in words.contains { $0.dropFirst().elementsEqual(word) } }
            .max { ($0.count, $1[0].value) < ($1.count, $0[0].value) }
            .map { String(String.UnicodeScalarView($0)) }
    }
}
