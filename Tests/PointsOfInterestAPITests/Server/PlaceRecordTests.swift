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
