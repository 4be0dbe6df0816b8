import Foundation
import PointsOfInterestAPI
import PointsOfInterestServerAPI
import Randomness

/// Random properties of places, and what filters by them have to find.
enum TestProperties {
    static let filterable = FilterableProperties([
        ("open", .boolean), ("material", .text), ("caf\u{E9}", .text), ("rare", .text), ("", .text),
    ])

    /// Members, some of which can't be found: by their kind, by their text, or since nobody may filter by them.
    private static let members = [
        #""open":true"#, #""open":true"#, #""open":false"#, #""open":null"#, #""open":"true""#,
        #""open":[true]"#,
        #""material":"steel""#, #""material":"stone""#, #""material":["steel","stone"]"#,
        #""material":["stone","stone",1,null,["steel"]]"#, #""material":"steel, stone""#, #""material":true"#,
        #""material":[]"#, #""material":"""#, #""material":"\u00e9\u0301""#, #""material":"e\u0301\u0301""#,
        "\"material\":\"e\u{301}\u{301}\"", #""material":"true""#, #""material":{"steel":"stone"}"#,
        "\"caf\u{E9}\":\"steel\"", "\"cafe\u{301}\":\"stone\"", #""rare":"\"a\" \\ b""#,
        #""rare":"\#(String(repeating: "x", count: 200))""#,
        #""rare":"\#(String(repeating: "x", count: 201))""#,
        #""other":"steel""#, #""stee":"l""#, #""":"nameless""#,
    ]

    /// An object of some of the members; mostly none.
    static func random(using generator: inout SeededGenerator) -> String? {
        guard Int.random(in: 0..<3, using: &generator) > 0 else { return nil }
        var names: Set<Substring> = []
        let chosen = (0..<Int.random(in: 0..<6, using: &generator)).map { _ in
            members.pick(using: &generator)
        }
        .filter { names.insert($0.split(separator: ":")[0]).inserted }
        return "{\(chosen.joined(separator: ", "))}"
    }

    private static let filters: [PropertyFilter] = [
        PropertyFilter("open", is: true), PropertyFilter("open", is: false),
        PropertyFilter("open", anyOf: ["false", "true"]), PropertyFilter("material", anyOf: ["steel"]),
        PropertyFilter("material", anyOf: ["steel", "stone", "wood"]),
        PropertyFilter("material", anyOf: ["\u{E9}\u{301}"]), PropertyFilter("material", anyOf: ["wood"]),
        PropertyFilter("caf\u{E9}", anyOf: ["steel", "stone"]), PropertyFilter("rare", anyOf: [#""a" \ b"#]),
        PropertyFilter("rare", anyOf: [String(repeating: "x", count: 200)]),
        PropertyFilter("rare", anyOf: [String(repeating: "x", count: 201)]),
        PropertyFilter("other", anyOf: ["steel"]), PropertyFilter("", anyOf: ["nameless"]),
    ]

    /// Mostly none, seldom several.
    static func randomFilters(using generator: inout SeededGenerator) -> [PropertyFilter] {
        let count = [0, 0, 1, 1, 2, 5].pick(using: &generator)
        var names: Set<[UInt8]> = []
        return (0..<count).map { _ in filters.pick(using: &generator) }
            .filter { names.insert(Array($0.name.utf8)).inserted }
    }

    /// Whether a place with these properties has one of the values, read by Foundation.
    static func admits(_ filter: PropertyFilter, _ properties: String?) -> Bool {
        guard
            ["open", "material", "caf\u{E9}", "rare", ""].contains(where: {
                $0.utf8.elementsEqual(filter.name.utf8)
            }),
            let properties,
            let object = try? JSONDecoder().decode(JSONValue.Object.self, from: Data(properties.utf8))
        else { return false }
        let value = object.members.last { $0.name.utf8.elementsEqual(filter.name.utf8) }?.value
        let texts: [String]
        switch (filter.name, value) {
        case ("open", .boolean(let isOpen)?): texts = [isOpen ? "true" : "false"]
        case ("open", _): texts = []
        case (_, .string(let text)?): texts = [text]
        case (_, .array(let values)?):
            texts = values.compactMap { if case .string(let text) = $0 { text } else { nil } }
        default: texts = []
        }
        // Swift compares texts by canonical equivalence, which is comparing them in Normalization Form C.
        return texts.contains { text in
            (1...200).contains(text.unicodeScalars.count) && !text.contains(",")
                && filter.values.contains(text)
        }
    }
}
