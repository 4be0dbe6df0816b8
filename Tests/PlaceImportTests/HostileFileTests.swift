import Foundation
import PlaceImport
import Testing

/// Files that are wrong by accident or on purpose: a message with the line. What memory they take,
/// Tests/System/import/test_formats.py measures.
@Suite("Hostile files")
struct HostileFileTests {
    private static let megabyte = 1 << 20

    private func bytes(_ text: String, repeated count: Int) -> [UInt8] {
        Array(String(repeating: text, count: count).utf8)
    }

    @Test("A line without an end ends the import")
    func endlessLine() {
        let text = Array(csv("A,cafe,1,2,a,,,").utf8) + [UInt8](repeating: 0x61, count: 8 * Self.megabyte)
        let error = error { try read(text, as: "a.csv") }
        #expect(error?.line == 3)
        #expect(error?.message.contains("more than 1 MiB") == true)
    }

    @Test("A quote that isn't closed ends the import with the line that it is in")
    func unclosedQuote() {
        let rows = bytes("A,cafe,1,2,a,,,\n", repeated: 200_000)
        let first = error { try read(Array(csv("\"A,cafe,1,2,a,,,").utf8) + rows, as: "a.csv") }
        #expect(first?.line == 2)
        let second = error { try read(Array(csv("\n\"A,cafe,1,2,a,,,").utf8), as: "a.csv") }
        #expect(second?.line == 3)
        #expect(second?.message == "a quote isn't closed")
    }

    @Test("A header of a million columns ends the import; in a row they are only counted")
    func columns() throws {
        let columns = Array("x".utf8) + [UInt8](repeating: UInt8(ascii: ","), count: 999_999)
        let error = error { try read(columns + Array("\nA\n".utf8), as: "a.csv") }
        #expect(error?.message == "1000000 columns are more than 4096")
        let result = try read(
            Array(csv("A,cafe,1,2,a,,,").utf8) + columns + Array("\nB,cafe,1,2,b,,,\n".utf8))
        #expect(result.places.map(\.name) == ["A", "B"])
        #expect(
            result.rejected == [
                RejectedRow(line: 3, reason: .columnCount, detail: "1000000 columns instead of 8")
            ])
    }

    @Test("A row with NUL or invalid UTF-8 is rejected, and a header with them ends the import")
    func binary() throws {
        for field in ["name", "address", "website", "id", "category"] {
            let header = "name,category,lat,lon,id,address,website,featured"
            for (byte, reason) in [
                (UInt8(0), RejectionReason.nul), (0xff, .invalidText), (0xc0, .invalidText),
            ] {
                let row = header.split(separator: ",").flatMap { column -> [UInt8] in
                    let value = ["lat": "1", "lon": "2", "featured": "no"][column] ?? "cafe"
                    return Array(value.utf8) + (column == field ? [byte] : []) + [UInt8(ascii: ",")]
                }
                // The first row says that the text is UTF-8.
                let first = "ÉÉ,cafe,1,2,é,,,\n"
                let result = try read(Array((header + "\n" + first).utf8) + row.dropLast() + [0x0a])
                #expect(result.reasons == [reason], "\(field)")
            }
        }
        let noise = (0..<Self.megabyte).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3) }
        #expect(error { try read(noise) } != nil)
        #expect(error { try read([0xff, 0xfe, 0x6e, 0]) }?.message.contains("no column") == true)
        #expect(error { try read([0xff, 0xfe, 0x6e, 0, 0]) }?.message.contains("UTF-16LE") == true)
        #expect(error { try read([]) }?.message == "there is no header")
        #expect(error { try read("name,lat,lon\rA,1,2\r") }?.message.contains("CR alone") == true)
    }

    @Test("A gzip bomb ends the import or is read without being kept")
    func bombs() throws {
        let zeros = gzip([UInt8](repeating: 0, count: 64 * Self.megabyte))
        #expect(zeros.count < Self.megabyte)
        #expect(error { try read(zeros, as: "a.csv.gz") }?.line == 1)
        #expect(error { try read(zeros, as: "a.json.gz") }?.line == 1)
        #expect(
            error { try read(gzip(Array(csv("A,cafe,1,2,a,,,").utf8)).dropLast(9), as: "a.csv.gz") }?.message
                == "the gzip data ends early")
        var damaged = gzip(Array(csv("A,cafe,1,2,a,,,").utf8))
        damaged[20] ^= 0xff
        #expect(error { try read(damaged, as: "a.csv.gz") }?.message == "the gzip data is damaged")
        // The checksum and the length, which come last.
        for index in 1...8 {
            var damaged = gzip(Array(csv("A,cafe,1,2,a,,,").utf8))
            damaged[damaged.count - index] ^= 1
            #expect(error { try read(damaged, as: "a.csv.gz") }?.message == "the gzip data is damaged")
        }
    }

    @Test("JSON of any depth is read without recursion", arguments: ["[", "{\"a\":"])
    func deepJSON(opening: String) throws {
        let deep = bytes(opening, repeated: 500_000)
        let closing = [UInt8](repeating: opening == "[" ? 0x5d : 0x7d, count: 500_000)
        let inner = opening == "[" ? "" : "1"
        let place =
            #""geometry":{"type":"Point","coordinates":[2,1]},"properties":{"name":"A","category":"cafe"}}"#
        for member in [#"{"properties":"#, #"{"type":"Feature","geometry":{"type":"X","coordinates":"#] {
            let feature = Array(member.utf8) + deep + Array(inner.utf8) + closing
            let end = member.contains("geometry") ? "}}" : "}"
            let next = Array(("\n" + #"{"type":"Feature",\#(place)"#).utf8)
            let result = try read(feature + Array(end.utf8) + next, as: "a.geojson")
            #expect(result.rejected.count == 1)
            #expect(result.places.count == 1)
        }
        #expect(error { try read(deep, as: "a.geojson") }?.line == 1)
    }

    @Test(
        "Each array in a feature that is too long is passed over at a cost of its own bytes, not of the feature's"
    )
    func longFeatureOfArrays() throws {
        let blanks = [UInt8](repeating: UInt8(ascii: " "), count: 17 * Self.megabyte)
        let arrays = bytes(#""a":[],"#, repeated: 100_000)
        let text = Array("{".utf8) + blanks + arrays + Array(#""b":1}"#.utf8)
        #expect(try read(text, as: "a.json").reasons == [.rowTooLong])
        #expect(try read(text, as: "a.json") { $0.layer = "a.b" }.reasons == [.rowTooLong])
    }

    @Test("A feature without an end, or of more than 16 MiB, isn't kept")
    func longFeature() throws {
        let name = [UInt8](repeating: 0x61, count: 20 * Self.megabyte)
        let start = Array("\n{\"type\":\"Feature\",\"id\":\"".utf8)
        #expect(error { try read(start + name, as: "a.geojson") }?.message == "the feature isn't closed")
        let result = try read(start + name + Array("\"}\n{}".utf8), as: "a.geojson")
        #expect(result.reasons == [.rowTooLong, .noCoordinates])
        #expect(result.rejected.map(\.line) == [2, 3])
    }
}
