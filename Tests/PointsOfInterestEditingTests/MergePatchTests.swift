import EditingAPI
import Foundation
@testable import PointsOfInterestEditing
import Randomness
import Testing

@Suite("Merge patches of drafts", .timeLimit(.minutes(1)))
struct MergePatchTests {
    @Test("A patch that is applied as RFC 7396 says makes the new draft of the old one")
    func makesTheDraft() throws {
        var random = SeededGenerator()
        for _ in 0..<2_000 {
            let old = PlaceDraft.random(using: &random)
            let new = Bool.random(using: &random) ? .random(using: &random) : old.changed(using: &random)
            let patch = new.patch(of: old)
            let json = try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(old))
            let patched = json.merged(with: .object(patch))
            let made = try JSONDecoder().decode(PlaceDraft.self, from: JSONEncoder().encode(patched))
            #expect(made.values == new.values)
            #expect((patch == [:]) == (old.values == new.values))
        }
    }

    @Test("Only what was changed is sent, and null for what was taken away")
    func sendsTheDifference() {
        let old = PlaceDraft.test()
        var new = old
        new.latitude = 52.6
        new.address = nil
        new.website = "https://cafe.example"
        new.names["fr"] = nil
        new.names["en"] = "Coffee"
        new.properties["phone"] = "2"
        new.properties["levels"] = ["ground": 1, "first": ["a": 3, "b": 4]]
        #expect(
            new.patch(of: old) == [
                "latitude": 52.6, "address": .null, "website": "https://cafe.example",
                "names": ["fr": .null, "en": "Coffee"],
                "properties": ["phone": "2", "levels": ["first": ["a": 3, "b": 4]]],
            ])
    }

    @Test("Other names are sent as a whole list, an empty one, too")
    func sendsOtherNames() {
        let old = PlaceDraft.test()
        var new = old
        new.otherNames.append("Bar")
        #expect(new.patch(of: old) == ["otherNames": ["Old cafe", "Bar"]])
        new.otherNames = []
        #expect(new.patch(of: old) == ["otherNames": []])
    }

    @Test("A new place is sent without members that have no value")
    func sendsContent() {
        let draft = PlaceDraft(
            name: "A", category: "cafe", latitude: 1, longitude: 2, names: ["de": "Ä"],
            properties: ["a.b": "c", "gone": .null])
        #expect(
            draft.content(in: nil) == [
                "name": "A", "category": "cafe", "latitude": 1.0, "longitude": 2.0, "featured": false,
                "importance": 0, "names": ["de": "Ä"], "properties": ["a.b": "c"],
            ])
    }

    @Test("Members of another draft can be taken one by one")
    func takesMembers() {
        var random = SeededGenerator()
        for _ in 0..<200 {
            let other = PlaceDraft.random(using: &random)
            var draft = PlaceDraft.random(using: &random)
            for member in draft.members(differingFrom: other) { draft.take(member, from: other) }
            #expect(draft.values == other.values)
        }
    }
}

extension PlaceDraft {
    fileprivate static func random(using random: inout SeededGenerator) -> PlaceDraft {
        func text(_ random: inout SeededGenerator) -> String { "\(Int.random(in: 0...3, using: &random))" }
        func maybe<Value>(_ value: Value, _ random: inout SeededGenerator) -> Value? {
            Bool.random(using: &random) ? value : nil
        }
        var draft = PlaceDraft(
            name: text(&random), category: text(&random), latitude: .random(in: -90...90, using: &random),
            longitude: .random(in: -180...180, using: &random))
        draft.address = maybe(text(&random), &random)
        draft.website = maybe(text(&random), &random)
        draft.operatingStatus = maybe(.temporarilyClosed, &random)
        draft.featured = .random(using: &random)
        draft.importance = .random(in: 0...2, using: &random)
        for language in ["de", "en", "zh-Hant"] { draft.names[language] = maybe(text(&random), &random) }
        draft.otherNames = (0..<Int.random(in: 0...2, using: &random)).map { _ in text(&random) }
        for name in ["phone", "a.b", "levels", ""] {
            draft.properties[name] = maybe(.random(depth: 2, using: &random), &random)
        }
        return draft
    }

    fileprivate func changed(using random: inout SeededGenerator) -> PlaceDraft {
        let other = PlaceDraft.random(using: &random)
        var draft = self
        for member in draft.members(differingFrom: other) where Int.random(in: 0...3, using: &random) == 0 {
            draft.take(member, from: other)
        }
        return draft
    }
}

extension JSONValue {
    fileprivate static func random(depth: Int, using random: inout SeededGenerator) -> JSONValue {
        switch Int.random(in: 0...(depth > 0 ? 6 : 4), using: &random) {
        case 0: .string("\(Int.random(in: 0...2, using: &random))")
        case 1: .integer(.random(in: 0...2, using: &random))
        case 2: .boolean(.random(using: &random))
        case 3: .null
        case 4: .number(0.5)
        case 5: .array((0..<2).map { _ in .random(depth: depth - 1, using: &random) })
        default:
            .object(
                Object(
                    ["a", "b"].reduce(into: [:]) { members, name in
                        if Bool.random(using: &random) {
                            members[name] = .random(depth: depth - 1, using: &random)
                        }
                    }))
        }
    }
}
