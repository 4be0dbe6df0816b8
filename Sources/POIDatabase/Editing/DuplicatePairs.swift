import Foundation
import Geodesy
import PointsOfInterestAPI
import PointsOfInterestServerAPI

/// Finds probable duplicates among places: near each other, with names of which one has all words of the other, or with the
/// same website and a word in common. The work grows with the number of places, however many are at one point.
struct DuplicatePairs {
    struct Place {
        let id, version: Int64
        let name: String
        let position: Coordinate
        let words: NameWords
        let website: [UInt8]?

        init(
            id: Int64, version: Int64, name: String, position: Coordinate, website: String?,
            _ folder: inout NameFolder
        ) {
            (self.id, self.version, self.name, self.position) = (id, version, name, position)
            words = NameWords(name, &folder)
            self.website = website.map(Self.key)
        }

        /// A URL without its scheme, `www.` and the slash at its end, in lower case. A word has no such bytes.
        private static func key(_ website: String) -> [UInt8] {
            var text = website.utf8.asciiLowercased[...]
            for start in ["https://", "http://", "www."] where text.starts(with: start.utf8) {
                text.removeFirst(start.utf8.count)
            }
            while text.last == UInt8(ascii: "/") { text.removeLast() }
            return [UInt8(ascii: "/")] + text
        }
    }

    /// A place, and one that it is probably the same as.
    struct Pair {
        let place, other: Place
        let meters: Double
        let reason: String
    }

    static let maximumMeters = 75.0
    /// How many duplicates a place may have; the nearest are taken.
    static let maximumCount = 20
    /// How many places that have a word in common, and are near, are looked at for one.
    private static let maximumCandidates = 1000

    /// How many places had more.
    private(set) var crowded = 0

    /// Passes the pairs to `body`, those of one place after the other.
    mutating func find<Failure: Error>(
        among places: [Place], and others: [Place], _ body: (Pair) throws(Failure) -> Void
    ) throws(Failure) {
        let index = WordGrid(others)
        let reverse = WordGrid(places)
        // What is found from the other side, by the number of the place.
        var found: [Int32: [Int32]] = [:]
        for (number, other) in others.enumerated() {
            for place in nearest(of: other, in: reverse, by: Self.isWithin) {
                found[place, default: []].append(Int32(number))
            }
        }
        for (number, place) in places.enumerated() {
            let own = nearest(of: place, in: index) { Self.isWithin($0, $1) || Self.sharesWebsite($0, $1) }
            let all = Set(own + found[Int32(number), default: []]).map { others[Int($0)] }
            let pairs = all.filter { $0.id != place.id }.map { Self.pair(place, $0) }
            for pair in pairs.sorted(by: { ($0.meters, $0.other.id) < ($1.meters, $1.other.id) }) {
                try body(pair)
            }
        }
    }

    private static func isWithin(_ place: Place, _ other: Place) -> Bool {
        place.words.areAll(in: other.words)
    }

    private static func sharesWebsite(_ place: Place, _ other: Place) -> Bool {
        place.website != nil && place.website == other.website
            && !place.words.forms.isDisjoint(with: other.words.forms)
    }

    private static func distance(_ place: Place, _ other: Place) -> Double {
        Geodesic.distanceMeters(from: place.position, to: other.position)
    }

    private static func pair(_ place: Place, _ other: Place) -> Pair {
        let (isWithin, has) = (isWithin(place, other), isWithin(other, place))
        var reasons: [String] = []
        if isWithin || has {
            let isSame = place.words.isSame(as: other.words)
            reasons.append(isSame ? "same words" : isWithin ? "more words" : "fewer words")
        }
        if sharesWebsite(place, other) { reasons.append("same website") }
        return Pair(
            place: place, other: other, meters: distance(place, other),
            reason: reasons.joined(separator: ", "))
    }

    /// The numbers of the nearest of others that `isAlike` takes.
    private mutating func nearest(
        of place: Place, in grid: WordGrid, by isAlike: (Place, Place) -> Bool
    ) -> [Int32] {
        let (candidates, hasMore) = grid.candidates(for: place, atMost: Self.maximumCandidates)
        var found: [(meters: Double, number: Int32)] = []
        for number in candidates {
            let other = grid.places[Int(number)]
            guard other.id != place.id, isAlike(place, other) else { continue }
            let meters = Self.distance(place, other)
            if meters <= Self.maximumMeters { found.append((meters, number)) }
        }
        if hasMore || found.count > Self.maximumCount { crowded += 1 }
        return found.sorted { ($0.meters, $0.number) < ($1.meters, $1.number) }.prefix(Self.maximumCount)
            .map(\.number)
    }
}

/// Places by their words and websites, in cells of at least the largest distance.
private struct WordGrid {
    private struct Cell: Hashable {
        let row, column: Int32
        let word: [UInt8]
    }

    let places: [DuplicatePairs.Place]
    private var lists: [Cell: [Int32]] = [:]

    /// In degrees of latitude, of which none is shorter than 110 km; nor is one of longitude than 111 km by the cosine.
    private static let height = DuplicatePairs.maximumMeters / 110_000

    init(_ places: [DuplicatePairs.Place]) {
        self.places = places
        for (number, place) in places.enumerated() {
            let row = Self.row(of: place.position.latitude)
            let column = Int32((place.position.longitude / Self.width(ofRow: row)).rounded(.down))
            for word in place.words.forms.union(place.website.map { [$0] } ?? []) {
                lists[Cell(row: row, column: column, word: word), default: []].append(Int32(number))
            }
        }
    }

    private static func row(of latitude: Double) -> Int32 { Int32((latitude / height).rounded(.down)) }

    /// How many degrees of longitude are as long, at least, as a degree's part of latitude is high.
    private static func width(atLatitude latitude: Double) -> Double {
        min(height / max(cos(min(abs(latitude), 90) * .pi / 180), 1e-9), 360)
    }

    private static func width(ofRow row: Int32) -> Double {
        width(atLatitude: max(abs(Double(row)), abs(Double(row + 1))) * height)
    }

    /// The numbers of places near one that have its rarest word there, or its website, and whether there are more.
    func candidates(for place: DuplicatePairs.Place, atMost limit: Int) -> ([Int32], hasMore: Bool) {
        let cells = cells(around: place.position)
        func found(_ word: [UInt8]) -> [[Int32]] {
            cells.compactMap { lists[Cell(row: $0.row, column: $0.column, word: word)] }
        }
        let byWord = place.words.words.map(found)
        let rarest = byWord.min { $0.reduce(0) { $0 + $1.count } < $1.reduce(0) { $0 + $1.count } } ?? []
        var candidates: [Int32] = []
        for list in rarest + (place.website.map(found) ?? []) {
            candidates += list.prefix(limit + 1 - candidates.count)
            guard candidates.count <= limit else { return (candidates.dropLast(), true) }
        }
        return (Array(Set(candidates)), false)
    }

    private func cells(around position: Coordinate) -> [(row: Int32, column: Int32)] {
        let row = Self.row(of: position.latitude)
        // Those at this distance are at most a row further from the equator.
        let reach = Self.width(atLatitude: abs(position.latitude) + Self.height)
        var cells: [(Int32, Int32)] = []
        for row in row - 1...row + 1 {
            let width = Self.width(ofRow: row)
            var columns: Set<Int32> = []
            for turn in [-360.0, 0, 360] {
                let longitude = position.longitude + turn
                let (west, east) = (max(longitude - reach, -180), min(longitude + reach, 180))
                guard west <= east else { continue }
                columns.formUnion(
                    Int32((west / width).rounded(.down))...Int32((east / width).rounded(.down)))
            }
            cells += columns.map { (row, $0) }
        }
        return cells
    }
}
