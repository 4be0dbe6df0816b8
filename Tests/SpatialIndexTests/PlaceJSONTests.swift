import BruteForce
import Foundation
import Places
import PointsOfInterestAPI
import Randomness
import SpatialIndex
import Testing

@Suite("A place's JSON")
struct PlaceJSONTests {
    private static let strings = [
        "", "plain", "\"quoted\" \\ / \\u0041", "\u{0}\u{1}\u{8}\t\n\u{B}\u{C}\r\u{E}\u{1F}\u{7F}\u{80}",
        "\u{2028}\u{2029}\u{FEFF}\u{FFFD}\u{FFFF}\u{10FFFF}", "Café Stritch", "👩‍👩‍👧‍👦🇺🇸𝒳", "e\u{301}", "</script>",
        "\r\n",
        String(repeating: "a\"", count: 1000),
    ]

    private static let full = PointOfInterest(
        id: 7, name: "Café", category: "cafe", latitude: 37.3293, longitude: -121.8893, featured: true,
        distance: 12.3, address: "374 S 1st St", website: "https://example.org/?a=b&c=\"d\"",
        source: .init(dataset: "seed", id: "n1", license: "CC0-1.0"))

    @Test("Places are written with the contract's names, without members that are unknown")
    func writesPlaces() {
        let bare = PointOfInterest(id: -1, name: "A", category: "b", latitude: -0.5, longitude: 180)
        #expect(
            String(decoding: [Self.full, bare].json, as: UTF8.self) == """
                [{"id":7,"name":"Café","category":"cafe","latitude":37.3293,"longitude":-121.8893,"featured":true,\
                "distance":12.3,"address":"374 S 1st St","website":"https://example.org/?a=b&c=\\"d\\"",\
                "source":{"dataset":"seed","id":"n1","license":"CC0-1.0"}},\
                {"id":-1,"name":"A","category":"b","latitude":-0.5,"longitude":180,"featured":false}]
                """)
        #expect(String(decoding: [PointOfInterest]().json, as: UTF8.self) == "[]")
    }

    @Test("Foundation's decoder reads any text back the same", arguments: strings)
    func escapesEveryCharacter(text: String) throws {
        let place = PointOfInterest(
            id: 1, name: text, category: text, latitude: 0, longitude: 0, address: text, website: text,
            source: .init(dataset: text, id: text, license: text))
        #expect(try JSONDecoder().decode([PointOfInterest].self, from: Data([place].json)) == [place])
    }

    @Test("Foundation's decoder reads random places back the same")
    func agreesWithFoundation() throws {
        var random = SeededGenerator()
        for _ in 0..<300 {
            let places = (0..<Int.random(in: 0...5, using: &random)).map { _ in randomPlace(using: &random) }
            #expect(try JSONDecoder().decode([PointOfInterest].self, from: Data(places.json)) == places)
            let encoded = try JSONEncoder().encode(places)
            #expect(try JSONDecoder().decode([PointOfInterest].self, from: encoded) == places)
        }
    }

    @Test("A distance that isn't finite is left out", arguments: [Double.nan, .infinity, -.infinity])
    func leavesOutNonFinite(number: Double) {
        let place = PointOfInterest(
            id: 1, name: "", category: "", latitude: 0, longitude: 0, distance: number)
        #expect(!String(decoding: [place].json, as: UTF8.self).contains("distance"))
    }

    private func randomPlace(using random: inout SeededGenerator) -> PointOfInterest {
        func text() -> String {
            String(
                String.UnicodeScalarView(
                    (0..<Int.random(in: 0...40, using: &random)).compactMap { _ in
                        Unicode.Scalar(
                            Bool.random(using: &random)
                                ? UInt32.random(in: 0...0x7F, using: &random)
                                : UInt32.random(in: 0...0x10FFFF, using: &random))
                    }))
        }
        func maybe<Value>(_ value: @autoclosure () -> Value) -> Value? {
            Bool.random(using: &random) ? value() : nil
        }
        return PointOfInterest(
            id: .random(in: .min ... .max, using: &random), name: text(), category: text(),
            latitude: .random(in: -90...90, using: &random),
            longitude: .random(in: -180...180, using: &random),
            featured: .random(using: &random), distance: maybe(.random(in: 0...2e7, using: &random)),
            address: maybe(text()), website: maybe(text()),
            source: maybe(.init(dataset: text(), id: text(), license: text())))
    }
}

extension PointOfInterest {
    /// Writes the place from its record.
    func write(as form: PlacesForm, to writer: inout JSONWriter) {
        var record: [UInt8] = []
        #expect(PlaceRecord.encode(StoredPlace(self).fields, into: &record))
        record.withRecord { PlaceStyle(form).write($0, distance: distance, to: &writer) }
    }
}

extension [PointOfInterest] {
    fileprivate var json: [UInt8] {
        var writer = JSONWriter(capacity: 16 + 384 * count)
        writer.beginArray()
        for place in self { place.write(as: .json, to: &writer) }
        writer.endArray()
        return writer.bytes
    }
}
