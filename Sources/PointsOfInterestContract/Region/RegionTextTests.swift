import Foundation
import PointsOfInterestClient
import Testing

@Suite("Searching for words of names in a region", .timeLimit(.minutes(2)))
struct RegionTextTests {
    /// Searches the region for texts and compares what comes with brute force.
    private func compare(
        sourceLocation: SourceLocation = #_sourceLocation, _ texts: (Region) throws -> [String]
    ) async throws {
        try await Region.compare(sourceLocation: sourceLocation) { region, differences in
            for text in try texts(region) {
                try await region.compare(
                    NearbyPlacesRequest(box: region.box, limit: 50, searchText: text), into: &differences)
            }
        }
    }

    @Test(
        "A word, or the beginning of one, finds the places that have a word beginning with it, and no others",
        .contract(
            .invariant, in: .locations, otherwise: "A search field would not find what was typed."),
        .needs(.word))
    func word() async throws {
        try await compare { region in
            let word = try region.needed(\.word, .word)
            return [word, String(word.prefix(3))] + [region.words.fork, region.words.run].compactMap(\.self)
        }
    }

    @Test(
        "Two words find the places with both, not those with one of them",
        .contract(
            .invariant, in: .locations,
            otherwise: "A search for a full name would list everything that shares a word with it."),
        .needs(.sharedWord))
    func twoWords() async throws {
        try await compare { region in
            let pair = try region.needed(\.pair, .sharedWord)
            return ["\(pair.first) \(pair.second)", "\(pair.second) \(pair.first)"]
        }
    }

    @Test(
        "The end of a word doesn't find its place, unless that has another name",
        .contract(
            .invariant, in: .locations,
            otherwise: "A search for a short word would list all places with it anywhere in their names."),
        .needs(.word))
    func ends() async throws {
        try await Region.compare { region, differences in
            var (triedCount, found) = (0, [String]())
            for known in region.places where triedCount < 8 {
                guard let word = known.name.plainWords.first(where: { $0.utf8.count >= 6 }),
                    case let end = String(word.suffix(4)), !known.name.match(end)
                else { continue }
                triedCount += 1
                if try await known.place.isFound(by: end) { found.append("\(known.place.name) by \(end)") }
            }
            // A few may have such names, but not most.
            differences.expect(2 * found.count <= triedCount, "found: \(found)")
        }
    }

    @Test(
        "Case and added accents don't matter",
        .contract(
            .invariant, in: .locations,
            otherwise: "A phone that begins a text with a capital letter would find nothing."),
        .needs(.word))
    func capitals() async throws {
        try await compare { region in
            let word = try region.needed(\.word, .word)
            return [word.uppercased(), RegionWords.withAccent(word) ?? word]
        }
    }

    @Test(
        "A name with accents is found with them and without",
        .contract(
            .invariant, in: .locations,
            otherwise: "People without these letters on their keyboards would not find the place."),
        .needs(.accentedWord))
    func accents() async throws {
        try await compare { region in
            let word = try region.needed(\.accented, .accentedWord)
            return [word, word.decomposedStringWithCanonicalMapping] + NameWords(word).plainWords
        }
    }
}

extension Region {
    /// Something to search for, which was there when the test began.
    func needed<Value>(_ path: KeyPath<RegionWords, Value?>, _ fact: Fact) throws -> Value {
        guard let value = words[keyPath: path] else { throw NotShown(fact: fact) }
        return value
    }
}
