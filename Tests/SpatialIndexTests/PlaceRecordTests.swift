import BruteForce
import Foundation
import Places
import PointsOfInterestAPI
import Randomness
import SpatialIndex
import Testing

@Suite("A place's record")
struct PlaceRecordTests {
    private func expectTheSame(_ places: [PointOfInterest]) throws {
        for form in PlacesForm.allCases {
            var written = JSONWriter()
            var plain = JSONWriter()
            for place in places { place.write(as: form, to: &written) }
            try PlainPlaces(places).writeAll(as: PlaceStyle(form), to: &plain)
            #expect(written.bytes == plain.bytes)
            for place in places {
                let details = PlaceStyle(ofDetails: form, languages: [])
                var written = JSONWriter()
                var plain = JSONWriter()
                var record: [UInt8] = []
                #expect(PlaceRecord.encode(StoredPlace(place).fields, into: &record))
                record.withRecord { details.write($0, distance: place.distance, to: &written) }
                PlainPlaces([place]).write(0, as: details, to: &plain)
                #expect(written.bytes == plain.bytes)
            }
        }
    }

    @Test("A record is written like the place itself, as JSON and as GeoJSON")
    func randomPlaces() throws {
        var random = SeededGenerator()
        for _ in 0..<500 {
            try expectTheSame(
                (0..<Int.random(in: 0...3, using: &random)).map { _ in Self.place(using: &random) })
        }
    }

    @Test("Records of empty places and of the longest texts are written like the places themselves")
    func extremes() throws {
        let long = String(repeating: "\u{1}é\"", count: 3000)
        try expectTheSame([
            PointOfInterest(id: 0, name: "", category: "", latitude: -0.0, longitude: 0),
            PointOfInterest(
                id: .min, name: long, category: long, latitude: -.greatestFiniteMagnitude,
                longitude: .leastNonzeroMagnitude, featured: true, distance: .greatestFiniteMagnitude,
                address: long, website: long, source: .init(dataset: long, id: long, license: long),
                version: .max, updatedAt: Date(timeIntervalSince1970: 253_402_300_799)),
            PointOfInterest(
                id: .max, name: "\0", category: "\\", latitude: .nan, longitude: .infinity, distance: .nan),
            PointOfInterest(id: 1, name: "a", category: "b", latitude: -.infinity, longitude: 1),
        ])
    }

    @Test(
        "A place whose name is longer than any table allows has no record, nor one whose properties are no object or too long"
    )
    func refused() {
        let long = String(repeating: "a", count: 65_530)
        func hasRecord(name: String = "a", _ properties: String? = nil) -> Bool {
            var record: [UInt8] = []
            let place = PlaceFields(
                id: 1, name: ArraySlice(name.utf8), category: ArraySlice(name.utf8), latitude: 0,
                longitude: 0,
                properties: properties.map { ArraySlice($0.utf8) })
            return PlaceRecord.encode(place, into: &record)
        }
        #expect(hasRecord() && hasRecord("{}") && hasRecord(#"{"a": [1, {"b": null}]}"#))
        #expect(!hasRecord(name: long))
        for json in ["", "[]", "1", "{", "{} {}", "{\"a\":}", "{\"a\" 1}", "{\"a\":\"\(long)\"}"] {
            #expect(!hasRecord(json), "\(json.prefix(20))")
        }
    }

    @Test("A record's distance is written as by the place's fields")
    func distances() {
        var random = SeededGenerator()
        var distances = [
            0, -0.0, 0.05, 0.04999999999999999, 0.95, 999_999.95, 1e13, 1e15, 1e16, 1.6e16, 1e300, 1e308,
            .infinity,
            .nan, -1.25, -1e20, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 20_037_508,
        ]
        for _ in 0..<20_000 {
            distances += [
                .random(in: 0...3e7, using: &random), .random(in: 0...100, using: &random),
                Double(Int.random(in: 0...400_000_000, using: &random)) / 20,
                Double(bitPattern: .random(in: 0 ... .max, using: &random)),
            ]
        }
        for distance in distances {
            let place = PointOfInterest(
                id: 1, name: "x", category: "x", latitude: 0, longitude: 0, distance: distance)
            var writer = JSONWriter()
            var expected = JSONWriter()
            var record: [UInt8] = []
            #expect(PlaceRecord.encode(StoredPlace(place).fields, into: &record))
            // Not rounded before.
            record.withRecord { $0.writeItem(distance: distance, to: &writer) }
            PlainPlaces([place]).write(0, as: PlaceStyle(.json), to: &expected)
            if writer.bytes != expected.bytes { Issue.record("\(distance)") }
        }
    }

    private static func place(using random: inout SeededGenerator) -> PointOfInterest {
        func maybe<Value>(_ value: @autoclosure () -> Value) -> Value? {
            Bool.random(using: &random) ? value() : nil
        }
        func text() -> String {
            let scalars = (0..<Int.random(in: 0...40, using: &random)).compactMap { _ in
                Unicode.Scalar(UInt32.random(in: 0...(maybe(0x7F) ?? 0x10FFFF), using: &random))
            }
            return String(String.UnicodeScalarView(scalars))
        }
        func number(_ range: ClosedRange<Double>) -> Double {
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
                [0, -0.0, .nan, .infinity, 1e300, .leastNonzeroMagnitude, 1e16].randomElement(using: &random)
                    ?? 0
            case 1...3: (Double.random(in: range, using: &random) * 1e4).rounded() / 1e4
            default: Double.random(in: range, using: &random)
            }
        }
        return PointOfInterest(
            id: .random(in: .min ... .max, using: &random), name: text(), category: text(),
            latitude: number(-90...90), longitude: number(-180...180), featured: .random(using: &random),
            distance: maybe(number(0...2e7)), address: maybe(text()), website: maybe(text()),
            source: maybe(.init(dataset: text(), id: text(), license: text())),
            importance: maybe(.random(in: 0...1000, using: &random)) ?? 0,
            operatingStatus: maybe(OperatingStatus(rawValue: text())),
            version: .random(in: 0..<1 << 53, using: &random),
            // From 1601 to 9999.
            updatedAt: Date(
                timeIntervalSince1970: Double(
                    Int.random(in: -11_644_473_600...253_402_300_799, using: &random))))
    }
}

@Suite("A place's properties")
struct PlacePropertiesTests {
    /// What is written of a place with properties, after what all places have.
    private func written(_ json: String, _ selection: PropertySelection, _ form: PlacesForm) throws -> String
    {
        var record: [UInt8] = []
        let place = PlaceFields(
            id: 1, name: [0x6e], category: [0x6e], latitude: 0, longitude: 0, importance: 7,
            properties: json.isEmpty ? nil : ArraySlice(json.utf8))
        try #require(PlaceRecord.encode(place, into: &record))
        var writer = JSONWriter()
        record.withRecord { PlaceStyle(form, properties: selection).write($0, distance: 1.5, to: &writer) }
        let written = String(decoding: writer.bytes, as: UTF8.self)
        let start = try #require(written.range(of: #""importance":7"#)).upperBound
        return String(written[start...])
    }

    @Test(
        "All properties are written without blanks, or those that are named, in the order of the request, or none",
        arguments: [
            ("", ["a"], "", ""), ("{}", ["a"], #","properties":{}"#, ""),
            (#"{"a": 1}"#, ["a"], #","properties":{"a":1}"#, #","properties":{"a":1}"#),
            (
                #"{"b": [1, {"c": " , \" \\"}], "a": "x y", "aa": null, "é\"": true}"#,
                ["a", "b", "x", "é\""],
                #","properties":{"b":[1,{"c":" , \" \\"}],"a":"x y","aa":null,"é\"":true}"#,
                #","properties":{"a":"x y","b":[1,{"c":" , \" \\"}],"é\"":true}"#
            ),
            (
                "{ \"\\u0061\" :\n-1.5e3 , \"\" : {} }", ["", "a"], #","properties":{"a":-1.5e3,"":{}}"#,
                #","properties":{"":{},"a":-1.5e3}"#
            ),
            (#"{"a": 1}"#, ["A", "ab", ""], #","properties":{"a":1}"#, ""),
        ])
    func selected(json: String, names: [String], all: String, named: String) throws {
        for (form, end) in [(PlacesForm.json, "}"), (.geoJSON, "}}")] {
            #expect(try written(json, .none, form) == end)
            #expect(try written(json, .all, form) == all + end)
            #expect(try written(json, PropertySelection(names: names), form) == named + end)
        }
    }

    @Test("A property that is named several times is written once")
    func repeated() throws {
        let long = String(repeating: "x", count: 3000)
        let selection = PropertySelection(names: ["b", "a", "b", "b", "a"])
        #expect(
            try written(#"{"a": 1, "b": "\#(long)"}"#, selection, .json)
                == #","properties":{"a":1,"b":"\#(long)"}}"#)
    }

    @Test("Each of many properties is found by its name")
    func many() throws {
        let names = (0..<300).map { String($0 * 7919 % 1000, radix: 36) }
        let members = Set(names).map { "\"\($0)\": \"\($0)!\"" }
        let json = "{\(members.shuffled().joined(separator: ", "))}"
        for name in names {
            #expect(
                try written(json, PropertySelection(names: [name]), .json)
                    == #","properties":{"\#(name)":"\#(name)!"}}"#)
        }
    }
}

@Suite("A place's distance")
struct PlaceDistanceTests {
    @Test("Distances are rounded to a tenth of a metre, halves away from zero")
    func roundDistances() throws {
        var record: [UInt8] = []
        let place = PlaceFields(id: 1, name: [0x6e], category: [0x6e], latitude: 0, longitude: 0)
        #expect(PlaceRecord.encode(place, into: &record))
        let rounded = try [0.04, 0.05, 12.25, 20_003_931.4586].map { distance in
            var writer = JSONWriter()
            record.withRecord { $0.writeItem(distance: distance, to: &writer) }
            return try JSONDecoder().decode(PointOfInterest.self, from: Data(writer.bytes)).distance
        }
        #expect(rounded == [0, 0.1, 12.3, 20_003_931.5])
    }
}
