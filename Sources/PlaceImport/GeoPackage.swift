/// Checks that an untrusted GeoPackage has nothing that leads to other files. SQLite runs what a schema says: the module of
/// a virtual table opens any file that the schema names, and a view calls functions.
enum GeoPackage {
    /// - Throws: ``ImportError`` where it has more than tables, indexes, triggers (which only writing would run) and R-trees;
    ///   where a reference system names a file; where it is being written to.
    static func check(_ path: String) throws(ImportError) {
        for suffix in ["-wal", "-journal"] where (ByteInput.size(ofFile: path + suffix) ?? 0) > 0 {
            throw ImportError(
                "what \(path)\(suffix) has isn't in it yet: close the program that writes to it", path: path)
        }
        var tables = try SQLiteTables(path)
        var roots: [String: Int] = [:]
        try tables.forEachRow(root: SQLiteTables.schemaRoot) { row throws(ImportError) in
            guard let (name, root) = try table(row, path) else { return }
            guard roots.updateValue(root, forKey: name) == nil else { throw refusal(of: row[4], path) }
        }
        guard roots["gpkg_contents"] != nil, let referenceSystems = roots["gpkg_spatial_ref_sys"] else {
            throw ImportError(
                "this SQLite database isn't a GeoPackage. \(ImportError.seeUnconfined)", path: path)
        }
        try tables.forEachRow(root: referenceSystems) { row throws(ImportError) in
            for case .text(let text) in row {
                try ReferenceSystem.check(Array(text.utf8), path: path)
                // PROJ's JSON, which GDAL accepts here, too.
                if text.utf8.first == UInt8(ascii: "{") {
                    throw ImportError("a reference system isn't in WKT", path: path)
                }
            }
        }
    }

    /// The name and the root of the table that a row of the schema is about; nil if it is about something else.
    private static func table(
        _ row: [SQLiteTables.Value], _ path: String
    ) throws(ImportError) -> (name: String, root: Int)? {
        // Columns: type, name, table, root, SQL. Indexes that SQLite made itself have no SQL.
        if row.count == 5, row[4] == .null { return nil }
        guard row.count == 5, case .text(let sql) = row[4], let object = SchemaObject(sql) else {
            throw refusal(of: row.last, path)
        }
        guard case .table(let name) = object else { return nil }
        guard case .integer(let root) = row[3] else { throw refusal(of: row[4], path) }
        if name == "gpkg_spatial_ref_sys" {
            // Checks default values, and refuses columns that are computed when they are read.
            try ReferenceSystem.check(Array(sql.utf8), path: path)
            let words = sql.utf8.asciiLowercased.split { !(UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0) }
            if words.contains(where: { $0.elementsEqual("as".utf8) }) { throw refusal(of: row[4], path) }
        }
        return (name, root)
    }

    private static func refusal(of value: SQLiteTables.Value?, _ path: String) -> ImportError {
        var sql = "a damaged row"
        if case .text(let text) = value { sql = "“\(text.prefix(100).printable)”" }
        return ImportError(
            "its schema has \(sql), which could lead to other files. \(ImportError.seeUnconfined)", path: path
        )
    }
}

/// The object that an SQL statement of a schema makes, if it has SQLite's own plain form; nil for any other. Bytes are
/// compared, since to a `String` a quote with a combining mark isn't a quote.
private enum SchemaObject {
    case table(String)
    case other

    init?(_ sql: String) {
        var rest = Array(sql.utf8)[...]
        func skip(_ words: String) -> Bool {
            guard rest.prefix(words.utf8.count).asciiLowercased == Array(words.utf8) else { return false }
            rest = rest.dropFirst(words.utf8.count)
            return true
        }
        func skipBlanks() { rest = rest.drop { [0x20, 0x09, 0x0a, 0x0d].contains($0) } }
        if skip("create table ") {
            guard let name = Self.name(&rest) else { return nil }
            self = .table(String(decoding: name.asciiLowercased, as: UTF8.self))
        } else if skip("create virtual table ") {
            guard Self.name(&rest) != nil else { return nil }
            skipBlanks()
            guard skip("using ") else { return nil }
            skipBlanks()
            guard skip("rtree") else { return nil }
            skipBlanks()
            guard skip("(") else { return nil }
            self = .other
        } else if skip("create index ") || skip("create unique index ") || skip("create trigger ") {
            self = .other
        } else {
            return nil
        }
    }

    /// Takes an identifier off the text, in whichever quotes.
    private static func name(_ text: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let closing = Dictionary(zip("\"'`[".utf8, "\"'`]".utf8)) { first, _ in first }
        guard let first = text.first else { return nil }
        guard let quote = closing[first] else {
            let end = text.firstIndex { " (\t\r\n;,.\"'`[]/-".utf8.contains($0) } ?? text.endIndex
            defer { text = text[end...] }
            return end == text.startIndex ? nil : text[..<end]
        }
        text.removeFirst()
        var name: ArraySlice<UInt8> = []
        while let end = text.firstIndex(of: quote) {
            name += text[..<end]
            text = text[(end + 1)...]
            // A quote that is written twice is part of the name.
            guard quote != UInt8(ascii: "]"), text.first == quote else { return name }
            text.removeFirst()
            name.append(quote)
        }
        return nil
    }
}
