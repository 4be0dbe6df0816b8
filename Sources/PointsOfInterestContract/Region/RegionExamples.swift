import Foundation
import PointsOfInterestClient

extension Region {
    /// Its categories, the most frequent one first.
    var categories: [String] {
        Dictionary(grouping: places, by: \.place.category)
            .sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }.map(\.key)
    }

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
    var disc: (center: PointOfInterest, radius: Double) {
        let discs = places.map { ($0.place, safeRadius(around: $0.place)) }
        return discs.max { $0.1 < $1.1 } ?? (places[0].place, 0)
    }

    /// A radius within which no position is outside the box; measured on spheres within the ellipsoid.
    private func safeRadius(around place: PointOfInterest) -> Double {
        if isWholeEarth { return NearbyPlacesRequest.maximumRadiusMeters }
        func radians(_ degrees: Double) -> Double { min(degrees, 90) * .pi / 180 }
        let eastward = radians(min(place.longitude - box.west, box.east - place.longitude))
        let northward = radians(min(place.latitude - box.south, box.north - place.latitude))
        return 0.99 * 6_335_000 * min(northward, asin(cos(radians(place.latitude)) * sin(eastward)))
    }

    /// A quarter of the box, around the places' middle.
    var quarter: BoundingBox {
        get throws {
            let latitudes = places.map(\.place.latitude).sorted()
            let longitudes = places.map(\.place.longitude).sorted()
            let (low, high) = (places.count / 4, places.count * 3 / 4)
            return try .edges(longitudes[low], latitudes[low], longitudes[high], latitudes[high])
        }
    }
}

struct RegionWords: Sendable {
    /// A word of letters A to Z, one of them a vowel, and of no more; the most frequent one of several letters.
    let word: String?
    /// A word with accents, as its name has it.
    let accented: String?
    /// Two words of one name, of which another name has only the first.
    let pair: (first: String, second: String)?
    /// A run without its first character.
    let run: String?

    init(_ places: [RegionPlace]) {
        // Each name once: the places of a chain are many.
        let names = Dictionary(places.map { ($0.place.name, $0) }) { first, _ in first }.values
            .sorted { $0.place.id < $1.place.id }
        var byWord: [String: [RegionPlace]] = [:]
        for name in names {
            for word in name.name.plainWords { byWord[word, default: []].append(name) }
        }
        word =
            byWord.filter { $0.key.utf8.count >= 4 && Self.withAccent($0.key) != nil }
            .max { ($0.value.count, $1.key) < ($1.value.count, $0.key) }?.key
        accented = names.lazy.flatMap { $0.place.name.split(separator: " ") }.map(String.init)
            .first { word in
                let scalars = word.decomposedStringWithCanonicalMapping.unicodeScalars
                return scalars.contains(where: Self.isAccent)
                    && scalars.allSatisfy { Self.isAccent($0) || $0.isASCII && $0.properties.isAlphabetic }
            }
        run = names.lazy.compactMap(\.name.partOfRun).first
        pair =
            names.lazy.compactMap { name in
                let words = name.name.plainWords
                let pairs = words.lazy.flatMap { first in words.lazy.map { (first: first, second: $0) } }
                return pairs.first { first, second in
                    first != second && byWord[first, default: []].contains { !$0.name.match(second) }
                }
            }.first
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
    fileprivate var partOfRun: String? {
        words.filter { word in words.contains { $0.dropFirst().elementsEqual(word) } }
            .max { ($0.count, $1[0].value) < ($1.count, $0[0].value) }
            .map { String(String.UnicodeScalarView($0)) }
    }
}
