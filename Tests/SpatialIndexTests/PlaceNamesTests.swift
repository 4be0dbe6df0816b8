import Places
import PointsOfInterestAPI
import PointsOfInterestServerAPI
import Testing

@testable import SpatialIndex

@Suite("A place's names in languages")
struct PlaceNamesTests {
    @Test(
        "A tag has letters first, subtags of letters and digits, and at most 35 characters",
        arguments: [
            ("en", true), ("zh-Hant-TW", true), ("de-1996", true), ("sl-rozaj-biske-1994", true),
            ("en-x-a", true),
            ("abcdefgh-12345678", true), ("ab-1234567-1234567-1234567-12345678", true), ("", false),
            ("e", false),
            ("x-a", false), ("1a", false), ("en-", false), ("-en", false), ("en--us", false),
            ("en_US", false),
            ("en us", false), ("*", false), ("en-*", false), ("abcdefghi", false), ("en-123456789", false),
            ("ab-1234567-1234567-1234567-1234567-1", false), ("français", false),
        ])
    func form(tag: String, isWellFormed: Bool) {
        #expect(LanguageTag.isWellFormed(tag.utf8) == isWellFormed)
    }

    @Test(
        "Names are looked for in each language and in what is left of it, subtags of one character going with the one behind",
        arguments: [
            ([], []), (["zh-Hant-TW"], ["zh-hant-tw", "zh-hant", "zh"]), (["ja", "EN"], ["ja", "en"]),
            (
                ["zh-Hant-CN-x-private1-private2"],
                ["zh-hant-cn-x-private1-private2", "zh-hant-cn-x-private1", "zh-hant-cn", "zh-hant", "zh"]
            ),
            (["en-a-1-b"], ["en-a-1-b", "en"]),
            (["zh-Hant", "zh-Hans", "zh"], ["zh-hant", "zh", "zh-hans"]),
        ])
    func lookedFor(languages: [String], tags: [String]) {
        #expect(LanguageLookup(languages).tags == tags.map { Array($0.utf8) })
    }

    private static let names =
        #"{"zh": "广\"场\\", "zh-Hant": "廣場", "PT-br": "Praça", "fr-CA": "Place", "de-x-a": "\u0050latz"}"#

    @Test(
        "The name in the first language that there is one in is written with its tag, as an item and as a feature",
        arguments: [
            ([], "P\\\"", nil), (["ja"], "P\\\"", nil), (["zh-Hant-TW"], "廣場", "zh-Hant"),
            (["zh-Hans"], "广\\\"场\\\\", "zh"), (["fr", "pt"], "P\\\"", nil),
            (["ja", "pt-BR"], "Praça", "PT-br"),
            (["fr-ca-quebec", "zh"], "Place", "fr-CA"), (["de-x-a"], "Platz", "de-x-a"),
            (["de-x-a-b-c"], "P\\\"", nil), (["de"], "P\\\"", nil),
        ] as [([String], String, String?)])
    func written(languages: [String], name: String, language: String?) throws {
        let record = try #require(made(names: Self.names, properties: #"{"p": 1}"#))
        let language = language.map { #","language":"\#($0)""# } ?? ""
        let members = #""name":"\#(name)"\#(language),"category":"c""#
        for properties in [PropertySelection.none, .all] {
            let end = properties == .all ? #","properties":{"p":1}"# : ""
            let selection = PlaceSelection(properties, languages: languages)
            var item = JSONWriter()
            var feature = JSONWriter()
            record.withRecord {
                $0.writeItem(distance: 1.5, selection: selection, to: &item)
                $0.writeFeature(distance: nil, selection: selection, to: &feature)
            }
            #expect(
                String(decoding: item.bytes, as: UTF8.self)
                    == #"{"id":7,\#(members),"latitude":1,"longitude":2,"featured":false,"distance":1.5\#(end)}"#
            )
            #expect(
                String(decoding: feature.bytes, as: UTF8.self)
                    == #"{"type":"Feature","id":7,"geometry":{"type":"Point","coordinates":[2,1]},"#
                    + #""properties":{\#(members),"featured":false\#(end)}}"#)
        }
    }

    @Test("A place without names in languages has the record that it had, and each of 300 names is found")
    func sizes() throws {
        let without = try #require(made(names: nil, properties: nil))
        let text = #"{"id":7,"name":"P\"","category":"c","latitude":1,"longitude":2,"featured":false}"#
        #expect(without.count == 8 + text.utf8.count + 16)
        let tags = (0..<300).map { "aa-\(String($0 * 7919 % 1000, radix: 36))z" }
        let json =
            "{" + tags.shuffled().map { "\"\($0.uppercased())\":\"\($0)!\"" }.joined(separator: ",") + "}"
        let record = try #require(made(names: json, properties: nil))
        for tag in tags {
            var writer = JSONWriter()
            record.withRecord {
                $0.writeItem(
                    distance: nil, selection: PlaceSelection(.none, languages: [tag]), to: &writer)
            }
            #expect(
                String(decoding: writer.bytes, as: UTF8.self).contains(
                    "\"\(tag)!\",\"language\":\"\(tag.uppercased())\""))
        }
    }

    @Test(
        "Names that are no object of texts by different tags make no record",
        arguments: [
            "", "[]", "{", "{}}", #"{"en": 1}"#, #"{"en": null}"#, #"{"en": ["a"]}"#, #"{"e": "a"}"#,
            #"{"en_US": "a"}"#,
            #"{"en": "a", "EN": "b"}"#, #"{"en": "\u0000"}"#,
            #"{"en": "\#(String(repeating: "a", count: 65_530))"}"#,
        ])
    func refused(json: String) {
        #expect(made(names: json, properties: nil) == nil)
    }

    private func made(names: String?, properties: String?) -> [UInt8]? {
        let place = PlaceFields(
            id: 7, name: ArraySlice("P\"".utf8), category: ArraySlice("c".utf8), latitude: 1, longitude: 2,
            properties: properties.map { ArraySlice($0.utf8) }, names: names.map { ArraySlice($0.utf8) })
        var record: [UInt8] = []
        return PlaceRecord.encode(place, into: &record) ? record : nil
    }
}
