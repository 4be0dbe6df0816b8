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
            website: place.website, source: place.source)
        var bytes: [UInt8] = [1, 2, 3]
        stored.withFields { PlaceRecord.encode($0, into: &bytes) }
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
        let long = String(repeating: "\u{1}é\"", count: 30_000)
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
                PlaceRecord.encode(place, into: &record)
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
            source: maybe(.init(dataset: text(), id: text(), license: text())))
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
    func same(text: String) {
        let source = PointOfInterest.Source(dataset: "d\(text)", id: text, license: "l\(text)")
        let joinedSource = "\u{5}d\(text)\u{6}\(text)\u{7}l\(text)"
        for (address, website, source, details) in [
            (nil, nil, nil, ""), ("1 \(text)", nil, nil, "\u{3}1 \(text)"),
            (nil, "https://\(text)", nil, "\u{4}https://\(text)"), (nil, nil, source, joinedSource),
            ("1 \(text)", "h", source, "\u{3}1 \(text)\u{4}h\(joinedSource)"),
        ] {
            for (id, latitude, longitude) in [
                (1, 37.3293, -121.8893), (.max, -89.99999999999999, .leastNonzeroMagnitude),
                (-7, -0.0, .infinity),
            ] {
                func place(at distance: Double? = nil) -> PointOfInterest {
                    PointOfInterest(
                        id: id, name: text, category: "cafe", latitude: latitude, longitude: longitude,
                        featured: id == 1, distance: distance, address: address, website: website,
                        source: source)
                }
                var expected: [UInt8] = []
                place().withFields { PlaceRecord.encode($0, into: &expected) }
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
            "", "name", "name\u{3}address", "name\u{1}cafe\u{8}", "name\u{1}cafe\u{1}cafe",
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

    /// The record, behind other bytes, from memory without room behind it.
    private func record(
        of joined: String, id: Int, _ latitude: Double, _ longitude: Double
    ) -> [UInt8]? {
        var bytes = ByteBuffer(capacity: 0)
        bytes.append("other")
        let isMade = Array(joined.utf8).withUnsafeBytes {
            PlaceRecord.append(
                id: id, latitude: latitude, longitude: longitude, joinedTexts: $0, to: &bytes)
        }
        #expect(isMade || bytes.bytes.count == 5)
        return isMade ? Array(bytes.bytes.dropFirst(5)) : nil
    }
}

@Suite("A place's fields")
struct PlaceFieldsTests {
    private static let source = PointOfInterest.Source(dataset: "d\"", id: "", license: "é")

    @Test(
        "A place is read back the same from the JSON of its fields",
        arguments: [
            PointOfInterest(id: 1, name: "", category: "", latitude: 0, longitude: 0),
            PointOfInterest(
                id: .max, name: "Café 👩‍👩‍👧‍👦", category: "cafe\0", latitude: -90, longitude: 180, featured: true,
                distance: 12.3, address: "", website: "w", source: source),
            PointOfInterest(id: .min, name: "a", category: "b", latitude: 1, longitude: 2, website: "only"),
            PointOfInterest(id: 3, name: "a", category: "b", latitude: 1, longitude: 2, source: source),
            PointOfInterest(
                id: 5, name: "a\nb", category: "c", latitude: 0.1, longitude: -0.1, distance: 5,
                address: "\\",
                source: source),
        ])
    func roundTrip(place: PointOfInterest) throws {
        var writer = JSONWriter()
        place.withFields { writer.value($0) }
        #expect(try JSONDecoder().decode(PointOfInterest.self, from: Data(writer.bytes)) == place)
    }

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
