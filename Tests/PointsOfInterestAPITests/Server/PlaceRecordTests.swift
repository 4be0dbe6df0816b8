import Foundation
import PointsOfInterestAPI
import PointsOfInterestServerAPI
import Randomness
import Testing

@Suite("A place's record")
struct PlaceRecordTests {
    /// The same places by the writer that takes fields, and by the one that takes records.
    private func written(
        _ places: [PointOfInterest], _ write: (inout JSONWriter, PointOfInterest) -> Void
    ) -> String {
        var writer = JSONWriter(capacity: 0)
        writer.beginArray()
        for place in places { write(&writer, place) }
        writer.endArray()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// The record of a place, as if it had been read at another distance, behind other bytes.
    private func withRecord(of place: PointOfInterest, _ body: (UnsafeRawBufferPointer) -> Void) {
        let stored = PointOfInterest(
            id: place.id, name: place.name, category: place.category, latitude: place.latitude,
            longitude: place.longitude, featured: place.featured, distance: 1, address: place.address,
            website: place.website, source: place.source, importance: place.importance,
            properties: place.properties)
        var bytes: [UInt8] = [1, 2, 3]
        #expect(stored.withFields { PlaceRecord.encode($0, into: &bytes) })
        bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[3...])) }
    }

    private func expectTheSame(_ places: [PointOfInterest]) {
        #expect(
            written(places) { writer, place in
                withRecord(of: place) { writer.value(record: $0, distance: place.distance) }
            } == written(places) { writer, place in place.withFields { writer.value($0) } })
        #expect(
            written(places) { writer, place in
                withRecord(of: place) { writer.feature(record: $0, distance: place.distance) }
            } == written(places) { writer, place in place.withFields { writer.feature($0) } })
    }

    @Test("A record is written like the place itself, as JSON and as GeoJSON")
    func randomPlaces() {
        var random = SeededGenerator()
        for _ in 0..<500 {
            expectTheSame((0..<Int.random(in: 0...3, using: &random)).map { _ in Self.place(using: &random) })
        }
    }

    @Test("Records of empty places and of the longest texts are written like the places themselves")
    func extremes() {
        let long = String(repeating: "\u{1}é\"", count: 3000)
        expectTheSame([
            PointOfInterest(id: 0, name: "", category: "", latitude: -0.0, longitude: 0),
            PointOfInterest(
                id: .min, name: long, category: long, latitude: -.greatestFiniteMagnitude,
                longitude: .leastNonzeroMagnitude, featured: true, distance: .greatestFiniteMagnitude,
                address: long, website: long, source: .init(dataset: long, id: long, license: long)),
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
            withExtendedLifetime(name) {
                Array(name.utf8).withUnsafeBufferPointer { name in
                    Array((properties ?? "").utf8).withUnsafeBufferPointer { json in
                        PlaceFields(
                            id: 1, name: name, category: name, latitude: 0, longitude: 0, featured: false,
                            distance: nil, address: nil, website: nil, source: nil,
                            properties: properties == nil ? nil : json
                        ).record != nil
                    }
                }
            }
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
        [UInt8]("x".utf8).withUnsafeBufferPointer { text in
            for distance in distances {
                let place = PlaceFields(
                    id: 1, name: text, category: text, latitude: 0, longitude: 0, featured: false,
                    distance: distance, address: nil, website: nil, source: nil)
                var record: [UInt8] = []
                #expect(PlaceRecord.encode(place, into: &record))
                var writer = JSONWriter()
                var expected = JSONWriter()
                record.withUnsafeBytes { writer.value(record: $0, distance: distance) }
                expected.value(place)
                if writer.bytes != expected.bytes { Issue.record("\(distance)") }
            }
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
            importance: maybe(.random(in: 0...1000, using: &random)) ?? 0)
    }
}

@Suite("A place's properties")
struct PlacePropertiesTests {
    /// What is written of a place with properties, after what all places have.
    private func written(_ json: String, _ selection: PropertySelection, _ form: Form) throws -> String {
        let text = Array("n".utf8)
        let record = text.withUnsafeBufferPointer { name in
            Array(json.utf8).withUnsafeBufferPointer { json in
                PlaceFields(
                    id: 1, name: name, category: name, latitude: 0, longitude: 0, featured: false,
                    distance: nil,
                    address: nil, website: nil, source: nil, importance: 7,
                    properties: json.isEmpty ? nil : json
                ).record
            }
        }
        var writer = JSONWriter()
        try #require(record).withUnsafeBytes {
            switch form {
            case .item: writer.value(record: $0, distance: 1.5, selection: PlaceSelection(selection))
            case .feature: writer.feature(record: $0, distance: 1.5, selection: PlaceSelection(selection))
            }
        }
        let written = String(decoding: writer.bytes, as: UTF8.self)
        let start = try #require(written.range(of: #""importance":7"#)).upperBound
        return String(written[start...])
    }

    private enum Form {
        case item, feature
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
        for (form, end) in [(Form.item, "}"), (.feature, "}}")] {
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
            try written(#"{"a": 1, "b": "\#(long)"}"#, selection, .item)
                == #","properties":{"a":1,"b":"\#(long)"}}"#)
    }

    @Test("Each of many properties is found by its name")
    func many() throws {
        let names = (0..<300).map { String($0 * 7919 % 1000, radix: 36) }
        let members = Set(names).map { "\"\($0)\": \"\($0)!\"" }
        let json = "{\(members.shuffled().joined(separator: ", "))}"
        for name in names {
            #expect(
                try written(json, PropertySelection(names: [name]), .item)
                    == #","properties":{"\#(name)":"\#(name)!"}}"#)
        }
    }
}

/// A place's record from its texts in one value, as PostgreSQL joins them.
@Suite("A record of joined texts")
struct JoinedTextsTests {
    /// Texts whose ends lie at every offset of sixteen bytes, some with what needs an escape at each of them, and with bytes
    /// above those of ASCII.
    private static let texts = (0..<20).flatMap { count in
        ["", "\"", "\\", "\u{7F}é\u{10FFFF}"].map {
            String(repeating: "é \"", count: count / 3) + $0 + String(repeating: "x", count: count) + $0
        }
    }

    @Test("A record and an item of joined texts equal those of the same texts one by one", arguments: texts)
    func same(text: String) throws {
        let source = PointOfInterest.Source(dataset: "d\(text)", id: text, license: "l\(text)")
        let joinedSource = "\u{5}d\(text)\u{6}\(text)\u{7}l\(text)"
        let properties: JSONValue.Object = ["a": [1, "\""]]
        for (address, website, source, importance, properties, details) in [
            (nil, nil, nil, 0, nil, ""), ("1 \(text)", nil, nil, 0, nil, "\u{3}1 \(text)"),
            (nil, "https://\(text)", nil, 0, nil, "\u{4}https://\(text)"),
            (nil, nil, source, 0, nil, joinedSource),
            ("1 \(text)", "h", source, 0, nil, "\u{3}1 \(text)\u{4}h\(joinedSource)"),
            (nil, nil, source, 1000, nil, joinedSource + "\u{8}1000"),
            (nil, nil, nil, 5, properties, "\u{8}5\u{B}{\"a\": [1, \"\\\"\"]}"),
            (nil, "h", nil, 0, [:], "\u{4}h\u{B}{}"),
        ] as [(String?, String?, PointOfInterest.Source?, Int, JSONValue.Object?, String)] {
            for (id, latitude, longitude) in [
                (1, 37.3293, -121.8893), (.max, -89.99999999999999, .leastNonzeroMagnitude),
                (-7, -0.0, .infinity),
            ] {
                func place(at distance: Double? = nil) -> PointOfInterest {
                    PointOfInterest(
                        id: id, name: text, category: "cafe", latitude: latitude, longitude: longitude,
                        featured: id == 1, distance: distance, address: address, website: website,
                        source: source, importance: importance, properties: properties)
                }
                let expected = place().withFields { $0.record }
                let joined = "\(text)\(id == 1 ? "\u{2}" : "\u{1}")cafe\(details)"
                #expect(record(of: joined, id: id, latitude, longitude) == expected)
                for distance in [nil, 12.34, .infinity] {
                    var writer = JSONWriter()
                    var expected = JSONWriter()
                    let isWritten = Array(joined.utf8).withUnsafeBytes {
                        writer.value(
                            id: id, latitude: latitude, longitude: longitude, joinedTexts: $0,
                            distance: distance)
                    }
                    #expect(isWritten)
                    place(at: distance).withFields { expected.value($0) }
                    #expect(writer.bytes == expected.bytes)
                }
            }
        }
    }

    @Test(
        "A text with a missing, unknown, repeated or misplaced mark makes no record",
        arguments: [
            "", "name", "name\u{3}address", "name\u{1}cafe\u{9}", "name\u{1}cafe\u{8}x",
            "name\u{1}cafe\u{8}01", "name\u{1}cafe\u{8}", "name\u{1}cafe\u{8}10000", "name\u{1}cafe\u{1}cafe",
            "name\u{1}cafe\u{4}website\u{3}address", "name\u{1}cafe\u{5}dataset",
            "name\u{1}cafe\u{5}dataset\u{6}id", "name\u{1}cafe\u{5}dataset\u{6}id\u{7}license\u{7}",
            "name\u{1}cafe\u{6}id\u{7}license", "name\u{1}cafe\u{1F}", "name\u{1}cafe\0",
            "name\u{1}cafe\0rest",
        ])
    func refuse(joined: String) {
        #expect(record(of: joined, id: 1, 0, 0) == nil)
        var writer = JSONWriter()
        let isWritten = Array(joined.utf8).withUnsafeBytes {
            writer.value(id: 1, latitude: 0, longitude: 0, joinedTexts: $0, distance: nil)
        }
        #expect(!isWritten && writer.bytes.isEmpty)
    }

    @Test("Names in languages follow the texts, with and without properties", arguments: texts)
    func names(text: String) throws {
        for (properties, joined) in [(nil, ""), (["a": 1], "\u{B}{\"a\": 1}")]
            as [(JSONValue.Object?, String)]
        {
            let place = PointOfInterest(
                id: 1, name: text, category: "cafe", latitude: 1, longitude: 2, importance: 5,
                properties: properties)
            let names = ["zh-Hant": text, "en": "a"]
            let json = try String(decoding: JSONEncoder().encode(names), as: UTF8.self)
            let expected = StoredPlace(place, names: names).withFields { $0.record }
            #expect(expected != nil)
            #expect(record(of: "\(text)\u{1}cafe\u{8}5\u{A}\(json)\(joined)", id: 1, 1, 2) == expected)
        }
    }

    @Test(
        "Names that are no object of texts, or stand behind the properties, make no record",
        arguments: ["{", "[]", "{\"en\":1}", "{}\u{8}1", "{}\u{A}{}"])
    func refuse(names: String) {
        #expect(record(of: "name\u{1}cafe\u{A}\(names)", id: 1, 0, 0) == nil)
        #expect(record(of: "name\u{1}cafe\u{B}{}\u{A}{}", id: 1, 0, 0) == nil)
    }

    @Test(
        "Properties that aren't an object make no record", arguments: ["[]", "{} ", "{}\u{8}1", "{\"a\": }"])
    func refuse(properties: String) {
        #expect(record(of: "name\u{1}cafe\u{B}\(properties)", id: 1, 0, 0) == nil)
    }

    private func record(
        of joined: String, id: Int, _ latitude: Double, _ longitude: Double
    ) -> [UInt8]? {
        Array(joined.utf8).withUnsafeBytes {
            PlaceRecord.record(id: id, latitude: latitude, longitude: longitude, joinedTexts: $0)
        }
    }
}

@Suite("A place's fields")
struct PlaceFieldsTests {
    private static let source = PointOfInterest.Source(dataset: "d\"", id: "", license: "é")

    @Test("Distances are rounded to a tenth of a metre, halves away from zero")
    func roundDistances() throws {
        let name = Array("n".utf8)
        let written = name.withUnsafeBufferPointer { text in
            [0.04, 0.05, 12.25, 20_003_931.4586].map { distance in
                var writer = JSONWriter()
                writer.value(
                    PlaceFields(
                        id: 1, name: text, category: text, latitude: 0, longitude: 0, featured: false,
                        distance: distance, address: nil, website: nil, source: nil))
                return Data(writer.bytes)
            }
        }
        let rounded = try written.map { try JSONDecoder().decode(PointOfInterest.self, from: $0).distance }
        #expect(rounded == [0, 0.1, 12.3, 20_003_931.5])
    }
}
