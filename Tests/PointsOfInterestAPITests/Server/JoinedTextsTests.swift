import PointsOfInterestAPI
import PointsOfInterestServerAPI
import Testing

/// A place's record from its texts in one value, as PostgreSQL joins them.
@Suite("A record of joined texts")
struct JoinedTextsTests {
    /// Texts whose ends lie at every offset of eight bytes, some with what needs an escape at each of them, and with bytes
    /// above those of ASCII.
    private static let texts = (0..<20).flatMap { count in
        ["", "\"", "\\", "\u{7F}é\u{10FFFF}"].map {
            String(repeating: "é \"", count: count / 3) + $0 + String(repeating: "x", count: count) + $0
        }
    }

    @Test("A record of joined texts equals the one of the same texts one by one", arguments: texts)
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
                let place = PointOfInterest(
                    id: id, name: text, category: "cafe", latitude: latitude, longitude: longitude,
                    featured: id == 1, address: address, website: website, source: source)
                var expected: [UInt8] = []
                place.withFields { PlaceRecord.encode($0, into: &expected) }
                let joined = "\(text)\(id == 1 ? "\u{2}" : "\u{1}")cafe\(details)"
                #expect(record(of: joined, id: id, latitude, longitude) == expected)
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
    }

    /// The record, behind other bytes, from memory without room behind it.
    private func record(
        of joined: String, id: Int, _ latitude: Double, _ longitude: Double
    ) -> [UInt8]? {
        var bytes = ByteBuffer(capacity: 0)
        bytes.append("other")
        let size = Array(joined.utf8).withUnsafeBytes {
            PlaceRecord.append(
                id: Int64(id), latitude: latitude, longitude: longitude, joinedTexts: $0, to: &bytes)
        }
        #expect(bytes.bytes.count == 5 + (size ?? 0))
        return size == nil ? nil : Array(bytes.bytes.dropFirst(5))
    }
}
