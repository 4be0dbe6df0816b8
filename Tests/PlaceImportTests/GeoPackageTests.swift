import Foundation
import PlaceImport
import Testing

/// What a GeoPackage's schema may have. Files of real SQLite are in Tests/System/import/test_formats.py.
@Suite("GeoPackages of strangers")
struct GeoPackageTests {
    private static let contents = "CREATE TABLE gpkg_contents (table_name TEXT)"
    private static let systems = "CREATE TABLE \"gpkg_spatial_ref_sys\" (definition TEXT)"

    /// A SQLite file of two pages: the schema, where all tables have the second one as their root, and in that a text.
    private func file(_ schema: [String], text: String = "undefined", kind: UInt8 = 0x0d) -> [UInt8] {
        var first = Array("SQLite format 3\0".utf8) + [16, 0, 1, 1, 0] + [UInt8](repeating: 0, count: 79)
        first[59] = 1
        let rows = schema.map { record([.text("table"), .text("a"), .text("a"), .number(2), .text($0)]) }
        return page(first, rows, kind: 0x0d) + page([], [record([.text(text)])], kind: kind)
    }

    private enum Field {
        case text(String)
        case number(UInt8)
    }

    private func record(_ fields: [Field]) -> [UInt8] {
        var (types, body): ([UInt8], [UInt8]) = ([], [])
        for field in fields {
            switch field {
            case .text(let text):
                types += varint(13 + 2 * text.utf8.count)
                body += text.utf8
            case .number(let number):
                types.append(1)
                body.append(number)
            }
        }
        return varint(types.count + 1) + types + body
    }

    private func varint(_ value: Int) -> [UInt8] {
        value < 128 ? [UInt8(value)] : [UInt8(0x80 | value >> 7), UInt8(value & 0x7f)]
    }

    private func page(_ start: [UInt8], _ records: [[UInt8]], kind: UInt8) -> [UInt8] {
        var page = start + [kind, 0, 0, 0, UInt8(records.count), 0, 0, 0]
        var (cells, offset): ([UInt8], Int) = ([], 4096)
        for record in records {
            // The length, and as the row's id the one of nine bytes that is -1.
            let cell = varint(record.count) + [UInt8](repeating: 0xff, count: 9) + record
            offset -= cell.count
            page += [UInt8(offset >> 8), UInt8(offset & 0xff)]
            cells = cell + cells
        }
        return page + [UInt8](repeating: 0, count: 4096 - page.count - cells.count) + cells
    }

    private func refusal(_ bytes: [UInt8]) throws -> String? {
        let converter = try StandInConverter()
        let refusal = error { try converter.read(bytes, as: "a.gpkg") }
        let wasConverted = try converter.environment() != nil
        #expect(
            wasConverted
                == (refusal?.message.hasPrefix("its ") != true && refusal?.message.hasPrefix("this") != true))
        return wasConverted ? nil : refusal?.message
    }

    @Test("A GeoPackage with tables, indexes, triggers and R-trees is accepted")
    func plain() throws {
        let schema = [
            "CREATE INDEX a ON b(c)", "CREATE UNIQUE INDEX a ON b(c)",
            "CREATE TRIGGER a AFTER INSERT ON b BEGIN END",
            "CREATE VIRTUAL TABLE \"rtree_a\" USING rtree(id, minx)",
            "CREATE VIRTUAL TABLE rtree_a\nusing RTREE (id)",
            "CREATE VIRTUAL TABLE \"rtree_\"\"a\" USING rtree(id)", "CREATE TABLE [a b](c)",
        ]
        #expect(try refusal(file([Self.contents, Self.systems] + schema)) == nil)
    }

    @Test(
        "A GeoPackage whose schema could lead to other files is refused",
        arguments: [
            "CREATE VIEW a AS SELECT ogr_geocode('a')", "CREATE TEMP VIEW a AS SELECT 1",
            "CREATE VIRTUAL TABLE a USING VirtualText('/etc/passwd', 'UTF-8')",
            "CREATE VIRTUAL TABLE a USING VirtualOGR('PG:dbname=a')",
            "create virtual table a using VirtualShape('/a')",
            "CREATE/**/VIRTUAL TABLE a USING VirtualText('/etc/passwd')",
            "CREATE VIRTUAL/**/TABLE a USING VirtualText('/etc/passwd')",
            "CREATE VIRTUAL TABLE \"a USING rtree(\" USING VirtualText('/etc/passwd')",
            "CREATE VIRTUAL TABLE 'a'' USING rtree(' USING VirtualText('/etc/passwd')",
            "CREATE VIRTUAL TABLE [a USING rtree(] USING VirtualText('/etc/passwd')",
            "CREATE VIRTUAL TABLE \"a\u{301}\" USING VirtualText('/etc/passwd')",
            "CREATE VIRTUAL TABLE main.a USING VirtualText('/etc/passwd')",
            "CREATE VIRTUAL TABLE a USING rtreeVirtualText('/etc/passwd')", " CREATE VIEW a AS SELECT 1",
            "ATTACH '/etc/passwd' AS a",
            "SELECT load_extension('/a')", "",
        ])
    func hostile(sql: String) throws {
        #expect(
            try refusal(file([Self.contents, Self.systems, sql]))?.hasPrefix("its schema has “\(sql)”")
                == true)
    }

    @Test("A reference system that names a file is refused, and so is a database that is no GeoPackage")
    func referenceSystems() throws {
        let wkt = "GEOGCS[\"a\",EXTENSION[\"PROJ4_GRIDS\",\"/etc/passwd\"]]"
        #expect(
            try refusal(file([Self.contents, Self.systems], text: wkt))?.contains("names another file")
                == true)
        for sql in [
            "definition TEXT DEFAULT 'EXTENSION[\"PROJ4_GRIDS\",\"/a\"]'",
            "definition TEXT AS('nadgri' || 'ds=/a')",
            "definition TEXT GENERATED ALWAYS as/**/('nadgri' || 'ds=/a')",
        ] {
            #expect(try refusal(file([Self.contents, "CREATE TABLE gpkg_spatial_ref_sys(\(sql))"])) != nil)
        }
        let hidden = ["CREATE TABLE GPKG_spatial_ref_sys (definition TEXT)"]
        #expect(
            try refusal(file([Self.contents, Self.systems] + hidden))?.hasPrefix("its schema has ") == true)
        #expect(try refusal(file([Self.systems]))?.hasPrefix("this SQLite database isn't") == true)
        #expect(try refusal(file([Self.contents]))?.hasPrefix("this SQLite database isn't") == true)
        #expect(
            try refusal(file([Self.contents, Self.systems], kind: 0x0a)) == "its SQLite tables are damaged")
    }

    @Test("A GeoPackage with any wrong byte, or that ends anywhere, is refused or read without a crash")
    func damage() throws {
        let whole = file([Self.contents, Self.systems])
        for count in [16, 99, 100, 4095, 4096, 8191] {
            #expect(try refusal(Array(whole.prefix(count))) == "its SQLite tables are damaged")
        }
        let offsets = Array(16..<24) + Array(56..<60) + Array(100..<112) + Array(4090..<4096)
        let cells = whole.indices.filter { whole[$0] != 0 && $0 > 112 }
        let converter = try StandInConverter()
        for offset in offsets + cells.prefix(20) {
            for byte: UInt8 in [0, 0x7f, 0xff] {
                var bytes = whole
                bytes[offset] = byte
                _ = error { try converter.read(bytes, as: "a.gpkg") }
            }
        }
    }

    @Test("A page that is its own child isn't followed for ever")
    func loop() throws {
        var bytes = file([Self.contents, Self.systems])
        // An inner page with one child, itself.
        bytes.replaceSubrange(4096..<4110, with: [5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0])
        #expect(
            error { try StandInConverter().read(bytes, as: "a.gpkg") }?.message.contains("64 MiB") == true)
    }

    @Test("A database that is being written to says so")
    func writeAheadLog() throws {
        for suffix in ["-wal", "-journal"] {
            let converter = try StandInConverter()
            try Data([1]).write(to: converter.folder.appendingPathComponent("a.gpkg" + suffix))
            let refusal = error { try converter.read(file([Self.contents, Self.systems]), as: "a.gpkg") }
            #expect(refusal?.message.hasSuffix("close the program that writes to it") == true)
            #expect(try converter.environment() == nil)
        }
    }
}
