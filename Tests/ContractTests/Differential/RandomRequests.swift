import Foundation
import Randomness

/// Requests over everything that the contract speaks of, most of them nearly right: the same seed, the same requests.
struct RandomRequests {
    private var generator: SeededGenerator
    private let words: QueryWords

    /// - Parameter words: what is there to ask for.
    init(_ generator: SeededGenerator, words: QueryWords) {
        self.generator = generator
        self.words = words
    }

    mutating func next() -> WireRequest {
        var request = WireRequest(target: target())
        if chance(0.15) {
            request.method = pick(["HEAD", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "BREW"])
        }
        for (name, values) in QueryWords.headers where chance(0.2) {
            request = request.adding(name, pick(values))
        }
        return request
    }

    private mutating func target() -> String {
        switch Double.random(in: 0..<1, using: &generator) {
        case ..<0.7: "/locations?" + query()
        case ..<0.8: "/locations/\(pick(words.ids))" + (chance(0.5) ? "?" + query(ofPlace: true) : "")
        case ..<0.85: "/categories" + (chance(0.2) ? "?" + query() : "")
        default: pick(QueryWords.paths)
        }
    }

    /// Parameters of which most are right, with one more wrong one now and then.
    private mutating func query(ofPlace: Bool = false) -> String {
        var items: [String] = []
        if chance(0.9) { items += center() }
        if !ofPlace {
            for (name, values) in words.parameters where chance(0.25) {
                items.append("\(name)=\(pick(values))")
            }
        }
        if chance(0.15) { items.append(pick(QueryWords.faults)) }
        if chance(0.05), let item = items.randomElement(using: &generator) { items.append(item) }
        if chance(0.3) { items.shuffle(using: &generator) }
        return items.joined(separator: "&")
    }

    private mutating func center() -> [String] {
        switch Double.random(in: 0..<1, using: &generator) {
        case ..<0.5: ["lat=\(random(37.2...37.5))", "long=\(random(-122...(-121.7)))"]
        case ..<0.8: ["lat=\(random(-90...90))", "long=\(random(-180...180))"]
        default: ["lat=\(pick(QueryWords.latitudes))", "long=\(pick(QueryWords.longitudes))"]
        }
    }

    private mutating func random(_ range: ClosedRange<Double>) -> Double {
        .random(in: range, using: &generator)
    }

    private mutating func chance(_ share: Double) -> Bool { random(0...1) < share }

    private mutating func pick(_ values: [String]) -> String { values.randomElement(using: &generator) ?? "" }
}
