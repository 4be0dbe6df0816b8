import Foundation
import PointsOfInterestAPI
import Postgres
import PrivateCluster
import Testing

@testable import POIDatabase

/// What the tables let in.
@Suite("The schema keeps impossible rows out", .timeLimit(.minutes(5)))
struct SchemaTests {
    struct Row: CustomTestStringConvertible, Sendable {
        /// The constraint that refuses it, or an SQLSTATE.
        let refusedBy: String
        let column: String
        /// An SQL expression.
        let value: String

        init(_ refusedBy: String, _ column: String, _ value: String) {
            self.refusedBy = refusedBy
            self.column = column
            self.value = value
        }

        var testDescription: String { "\(column) = \(value)" }
    }

    private static let place = [
        "name": "'A place'", "category": "'museum'", "latitude": "1", "longitude": "2",
    ]
    private static let source = [
        "source_dataset": "'set'", "source_id": "'1'", "source_license": "'CC0-1.0'",
    ]

    /// The statement that inserts a good place but for one column.
    private static func insertion(of row: Row) -> String {
        insertion(
            of: row, into: "locations",
            row.column.hasPrefix("source_") ? place.merging(source) { $1 } : place)
    }

    private static func insertion(of row: Row, into table: String, _ base: [String: String]) -> String {
        let columns = base.merging([row.column: row.value]) { $1 }.sorted { $0.key < $1.key }
        return """
            INSERT INTO \(table) (\(columns.map(\.key).joined(separator: ", "))) \
            VALUES (\(columns.map(\.value).joined(separator: ", ")))
            """
    }

    @Test("Every constraint refuses the rows that it is meant to refuse")
    func refusals() async throws {
        try await MigratedDatabase.empty().withSession { session in
            for row in Self.badRows {
                let error = await #expect(throws: PostgresError.self, "\(row.testDescription)") {
                    try await session.run(Self.insertion(of: row))
                }
                let refusedBy = error?.server?.constraintName ?? error?.sqlState?.rawValue
                #expect(refusedBy == row.refusedBy, "\(row.testDescription)")
            }
            let count = try await session.value("SELECT count(*) FROM locations", as: Int.self)
            #expect(count == 0)
        }
    }

    private static let badRows: [Row] = {
        let latitude = "locations_latitude_is_in_range"
        let longitude = "locations_longitude_is_in_range"
        let website = "locations_website_is_http_url"
        var rows = [
            Row("23502", "name", "NULL"), Row("23502", "category", "NULL"), Row("23502", "featured", "NULL"),
            Row("23502", "latitude", "NULL"), Row("23502", "longitude", "NULL"),
            Row("locations_category_fkey", "category", "'no_such_category'"),
            Row("428C9", "id", "1"),
            Row("428C9", "position", "location_point(1, 2)"),
        ]
        for number in ["'NaN'", "'Infinity'", "'-Infinity'"] {
            rows += [Row(latitude, "latitude", number), Row(longitude, "longitude", number)]
        }
        rows += ["91", "-90.00000000000002"].map { Row(latitude, "latitude", $0) }
        rows += ["181", "-180.00000000000003"].map { Row(longitude, "longitude", $0) }
        let lines = [
            ("name", 200), ("address", 300), ("source_dataset", 100), ("source_id", 200),
            ("source_license", 200),
        ]
        for (column, longest) in lines {
            rows += Self.badLines(longest: longest)
                .map { Row("locations_\(column)_is_single_line", column, $0) }
        }
        rows += ["source_dataset", "source_id", "source_license"]
            .map { Row("locations_source_is_complete_or_absent", $0, "NULL") }
        let names = "locations_names_are_few_lines"
        rows += Self.badLines(longest: 200).flatMap { line in
            let first = [Row(names, "other_names", "ARRAY['a', \(line)]")]
            // JSON has an escape for what SQL has none.
            return first + [Row(names, "names", "jsonb_build_object('en', 'a', 'ja', \(line))")]
        }
        rows += Self.badNames.map { Row(names, "names", $0) }
        rows += Self.badOtherNames.map { Row(names, "other_names", $0) }
        rows += Self.badWebsites.map { Row(website, "website", "'\($0)'") }
        rows.append(Row(website, "website", "'https://example.org/' || repeat('a', 2029)"))
        let importance = "locations_importance_is_in_range"
        rows +=
            ["-1", "1001"].map { Row(importance, "importance", $0) } + [Row("23502", "importance", "NULL")]
        rows += Self.badProperties.map { Row("locations_properties_are_small", "properties", $0) }
        return rows
    }()

    /// Expressions of JSON that isn't an object, is too long, too deep, or has a number beyond `Double`.
    private static let badProperties =
        ["null", "[]", "1", "\"a\"", "{\"a\": {\"b\": {\"c\": {}}}}", "{\"a\": [[[]]]}", "{\"a\": 1e309}"]
        .map { "'\($0)'" } + ["jsonb_build_object('a', repeat('a', 4088))"]

    /// Expressions of text that isn't one visible line of at most so many characters.
    private static func badLines(longest: Int) -> [String] {
        let inside = [
            "\\0001", "\\0009", "\\000A", "\\000D", "\\007F", "\\0085", "\\009F", "\\2028", "\\2029",
        ]
        let atTheEnds = ["\\0020", "\\00A0", "\\200B", "\\200E", "\\2003", "\\3000", "\\FEFF"]
        return ["''", "' '", "repeat('é', \(longest + 1))"] + inside.map { "U&'a\($0)b'" }
            + atTheEnds.flatMap { ["U&'\($0)a'", "U&'a\($0)'"] }
    }

    private static let badNames = [
        "'{}'", "'[]'", "'null'", "'1'", "'\"en\"'", #"'{"en": null}'"#, #"'{"en": 1}'"#, #"'{"en": ["a"]}'"#,
        #"'{"en": "a", "EN": "b"}'"#, #"'{"": "a"}'"#, #"'{"e": "a"}'"#, #"'{"en_US": "a"}'"#,
        #"'{"en-": "a"}'"#,
        #"'{"en-123456789": "a"}'"#, #"'{"1n": "a"}'"#, #"'{"en ": "a"}'"#, #"'{"é": "a"}'"#,
        #"'{"en\n": "a"}'"#,
        "jsonb_build_object('en' || repeat('-a', 17), 'a')",
        "(SELECT jsonb_object_agg('en-' || n, n::text) FROM generate_series(1, 301) AS n)",
        "(SELECT jsonb_object_agg('en-' || n, repeat('é', 100)) FROM generate_series(1, 41) AS n)",
    ]

    private static let badOtherNames = [
        "'{}'", "'{NULL}'", "'{a,NULL}'", "'{{a},{b}}'", "array_fill('a'::text, ARRAY[301])",
        "array_fill(repeat('é', 200), ARRAY[21])",
    ]

    @Test("Names in languages and other names are taken up to their limits, which are those of both together")
    func names() async throws {
        let many = "(SELECT jsonb_object_agg('en-' || n, n::text) FROM generate_series(1, 200) AS n)"
        @Sendable func insert(_ names: String, _ other: String) -> String {
            "INSERT INTO locations (name, category, latitude, longitude, names, other_names) "
                + "VALUES ('A', 'museum', 1, 2, \(names), \(other))"
        }
        try await MigratedDatabase.empty().withSession { session in
            for (names, other) in [
                ("NULL", "NULL"),
                (#"'{"zh-Hant-TW": "東", "sl-rozaj-biske-1994": "a\"b", "EN": "c"}'"#, "NULL"),
                ("NULL", "'{a,a}'"), (many, "array_fill('a'::text, ARRAY[100])"),
                (
                    "jsonb_build_object('en' || repeat('-a', 16), repeat('é', 200))",
                    "array_fill(repeat('é', 193), ARRAY[20])"
                ),
            ] { try await session.run(insert(names, other)) }
            let tooMany = [
                (many, "array_fill('a'::text, ARRAY[101])"),
                (
                    "jsonb_build_object('en' || repeat('-a', 16), repeat('é', 200))",
                    "array_fill(repeat('é', 195), ARRAY[20])"
                ),
                ("'{}'", "'{a}'"), (#"'{"en": "a"}'"#, "'{}'"),
            ]
            for (names, other) in tooMany {
                let error = await #expect(throws: PostgresError.self) {
                    try await session.run(insert(names, other))
                }
                #expect(error?.server?.constraintName == "locations_names_are_few_lines")
            }
        }
    }

    @Test("A filterable property has a name of one line, once, and a type that is known")
    func filterableProperties() async throws {
        let base = ["name": "'open'", "type": "'text'"]
        let rows =
            Self.badLines(longest: 100).map { Row("filterable_properties_name_is_single_line", "name", $0) }
            + ["'number'", "''", "'Text'"].map { Row("filterable_properties_type_is_known", "type", $0) }
            + [Row("23502", "name", "NULL"), Row("23502", "type", "NULL")]
        try await MigratedDatabase.empty().withSession { session in
            for row in rows {
                let error = await #expect(throws: PostgresError.self, "\(row.testDescription)") {
                    try await session.run(Self.insertion(of: row, into: "filterable_properties", base))
                }
                #expect(
                    (error?.server?.constraintName ?? error?.sqlState?.rawValue) == row.refusedBy,
                    "\(row.testDescription)")
            }
            for row in [Row("", "name", "repeat('é', 100)"), Row("", "type", "'boolean'")] {
                try await session.run(Self.insertion(of: row, into: "filterable_properties", base))
            }
            let error = await #expect(throws: PostgresError.self) {
                try await session.run(
                    Self.insertion(of: Row("", "name", "'open'"), into: "filterable_properties", base))
            }
            #expect(error?.server?.constraintName == "filterable_properties_pkey")
        }
    }

    private static let badWebsites = [
        "", "example.org", "javascript:alert(1)", "ftp://example.org/", "https://", "https:///path",
        "https://user@example.org/", "https://user:word@example.org/", "https://example..org/",
        "https://-example.org/", "https://example.org:/", "https://example.org:123456/",
        "https://example.org/a b", "https://example.org/\u{22}", "https://example.org/<",
        "https://exämple.org/",
        "https://example.org/ä", "https://example.org\\@evil.org/", " https://example.org/", "https://[::1]/",
        "https://example.org/\n", "HTTPS://example.org/", "https://example_org/",
        "https://example.org:65536/", "https://192.0.2.256/", "https://192.0.2/", "https://example.7/",
    ]

    @Test("Every valid row is accepted, up to the last digit and character")
    func acceptances() async throws {
        let good = [
            Row("", "latitude", "90"), Row("", "latitude", "-90"), Row("", "latitude", "'-0'"),
            Row("", "longitude", "180"), Row("", "longitude", "-180"), Row("", "longitude", "'5e-324'"),
            Row("", "name", "repeat('é', 200)"), Row("", "name", "'a'"),
            Row("", "name", "'Ж  中文 👩‍👩‍👧 “x”'"), Row("", "address", "repeat('a', 300)"),
            Row("", "website", "'http://localhost'"),
            Row("", "website", "'https://a-b.example.org:8080/p/a~t(h)[1];x=1?q=%C3%A4&r=''#f'"),
            Row("", "website", "'https://example.org:65535'"), Row("", "website", "'https://a.7-7/'"),
            Row("", "website", "'https://example.org?q'"), Row("", "website", "'https://192.0.2.1/'"),
            Row("", "website", "'https://example.org/' || repeat('a', 2028)"),
            Row("", "source_id", "repeat('i', 200)"),
            Row("", "importance", "0"), Row("", "importance", "1000"), Row("", "properties", "NULL"),
            Row("", "properties", "'{}'"), Row("", "properties", "'{\"a\": {\"b\": [1, null, true]}}'"),
            Row("", "properties", "'{\"a\": 1e307}'"),
            Row("", "properties", "jsonb_build_object('a', repeat('a', 4087))"),
        ]
        try await MigratedDatabase.empty().withSession { session in
            for row in good {
                await #expect(throws: Never.self, "\(row.testDescription)") {
                    try await session.run(Self.insertion(of: row))
                }
            }
            let points = "SELECT count(position) FROM locations"
            let count = try await session.value(points, as: Int.self)
            #expect(count == good.count)
        }
    }

    @Test("Two places can't have one source, and a place keeps its id when it is imported again")
    func uniqueSource() async throws {
        try await MigratedDatabase.empty().withSession { session in
            let insertion = Self.insertion(of: Row("", "source_id", "'1'"))
            let id = try await session.value(insertion + " RETURNING id", as: Int.self)
            let error = await #expect(throws: PostgresError.self) { try await session.run(insertion) }
            #expect(error?.server?.constraintName == "locations_source_is_unique")
            let again = """
                 ON CONFLICT (source_dataset, source_id) WHERE source_dataset IS NOT NULL DO UPDATE SET name = excluded.name RETURNING id
                """
            #expect(try await session.value(insertion + again, as: Int.self) == id)
        }
    }

    @Test("An id is never chosen by a writer, and never used again")
    func ids() async throws {
        try await MigratedDatabase.empty().withSession { session in
            let insertion = Self.insertion(of: Row("", "name", "'x'")) + " RETURNING id"
            let first = try await session.value(insertion, as: Int.self)
            try await session.run("DELETE FROM locations")
            #expect(try await session.value(insertion, as: Int.self) > first)
            try await session.run("TRUNCATE locations")
            #expect(try await session.value(insertion, as: Int.self) > first + 1)
            let error = await #expect(throws: PostgresError.self) {
                try await session.run("UPDATE locations SET id = 1")
            }
            #expect(error?.sqlState?.rawValue == "428C9")
            let cycles = "SELECT seqcycle FROM pg_sequence WHERE seqrelid = 'locations_id_seq'::regclass"
            #expect(try await session.value(cycles, as: Bool.self) == false)
        }
    }

    @Test("Ids that the sequence hasn't given are refused, also by ways that GENERATED ALWAYS doesn't close")
    func chosenIDs() async throws {
        let line = "printf '%s\\t%s\\tmuseum\\t1\\t2\\n'"
        let copy = "COPY locations (id, name, category, latitude, longitude) FROM PROGRAM $$\(line) 4 A 5 B$$"
        try await MigratedDatabase.empty().withSession { session in
            let insertion = Self.insertion(of: Row("", "name", "'x'"))
            let overriding = """
                INSERT INTO locations (id, name, category, latitude, longitude) OVERRIDING SYSTEM VALUE \
                VALUES (3, 'A', 'museum', 1, 2)
                """
            for (givenCount, chosen) in [(0, copy), (0, overriding), (1, copy), (1, overriding)] {
                if givenCount == 1 { try await session.run(insertion) }
                let error = await #expect(throws: PostgresError.self, "\(chosen)") {
                    try await session.run(chosen)
                }
                #expect(error?.sqlState?.rawValue == "428C9", "\(chosen)")
                #expect(error?.server?.hint?.contains("Leave id out") == true)
            }
            // Whoever brings places back with their ids says first how far those go.
            try await session.run("DELETE FROM locations")
            try await session.run("SELECT setval('locations_id_seq', 5)")
            try await session.run(copy)
            #expect(try await session.value(insertion + " RETURNING id", as: Int.self) == 6)
        }
    }

    @Test("Categories only grow, and are words joined by underscores")
    func categories() async throws {
        try await MigratedDatabase.empty().withSession { session in
            for loss in [
                "DELETE FROM categories WHERE name = 'museum'", "TRUNCATE categories CASCADE",
                "UPDATE categories SET name = 'gallery2' WHERE name = 'gallery'",
            ] {
                let error = await #expect(throws: PostgresError.self, "\(loss)") {
                    try await session.run(loss)
                }
                #expect(error?.sqlState?.rawValue == "23001", "\(loss)")
            }
            try await session.run("INSERT INTO categories VALUES ('ice_cream2')")
            for name in ["", "Museum", "a b", "a-b", "_a", "a_", "a__b", "2a", "é", "a\n"] {
                let error = await #expect(throws: PostgresError.self, "\(name)") {
                    try await session.run("INSERT INTO categories VALUES ($1)", [.text(name)])
                }
                #expect(error?.server?.constraintName == "categories_name_is_snake_case", "\(name)")
            }
            let long = await #expect(throws: PostgresError.self) {
                try await session.run("INSERT INTO categories VALUES (repeat('a', 51))")
            }
            #expect(long?.server?.constraintName == "categories_name_is_short")
        }
    }

    @Test("A dataset has a license, and nothing that an app can't show or open")
    func datasets() async throws {
        let lines = [("name", 100), ("license", 200), ("credit", 300)].flatMap { column, longest in
            Self.badLines(longest: longest).map { Row("datasets_\(column)_is_single_line", column, $0) }
        }
        let urls = Self.badWebsites.map { Row("datasets_url_is_http_url", "url", "'\($0)'") }
        try await MigratedDatabase.empty().withSession { session in
            for row in lines + urls + [Row("23502", "name", "NULL"), Row("23502", "license", "NULL")] {
                let error = await #expect(throws: PostgresError.self, "\(row.testDescription)") {
                    try await session.run(Self.insertion(ofDataset: row))
                }
                let refusedBy = error?.server?.constraintName ?? error?.sqlState?.rawValue
                #expect(refusedBy == row.refusedBy, "\(row.testDescription)")
            }
            try await session.run(Self.insertion(ofDataset: Row("", "credit", "NULL")))
            try await session.run("UPDATE datasets SET url = NULL")
        }
    }

    /// The statement that inserts a good dataset but for one column.
    private static func insertion(ofDataset row: Row) -> String {
        insertion(
            of: row, into: "datasets",
            ["name": "'set'", "license": "'CC0-1.0'", "credit": "'© set'", "url": "'https://example.org/'"])
    }

    @Test("A meridian written in two ways gives the same points")
    func meridians() async throws {
        try await MigratedDatabase.empty().withSession { session in
            let pairs = [
                "10, 180, 10, -180", "10, 0, 10, '-0'", "0, 5, '-0', 5",
            ]
            for pair in pairs {
                let same = """
                    SELECT location_point(a, b)::bytea = location_point(c, d)::bytea
                    FROM (VALUES (0::float8, 0::float8, 0::float8, 0::float8), (\(pair))) AS pair (a, b, c, d)
                    """
                for row in try await session.run(same) {
                    #expect(try row.decode(Bool.self, at: 0), "\(pair)")
                }
            }
            let exactlySame = """
                SELECT location_point(l, 180)::bytea = location_point(l, -180)::bytea
                FROM (SELECT tenths / 10.0::float8 FROM generate_series(-900, 900, 7) AS tenths) AS place (l)
                """
            for row in try await session.run(exactlySame) { #expect(try row.decode(Bool.self, at: 0)) }
        }
    }
}

/// The columns of a place, in all the places that name them.
@Suite("The columns of a place", .timeLimit(.minutes(5)))
struct PlaceColumnTests {
    /// The columns that a writer sets.
    private let columns: [String]
    /// Those that only writers and editors read.
    private static let unserved = ["source_values", "import_run"]

    init() throws {
        columns = try MigratedDatabase.empty().execute(
            """
            SELECT attname FROM pg_attribute WHERE attrelid = 'locations'::regclass AND attnum > 0 AND NOT attisdropped
                AND attgenerated = '' AND attidentity = '' ORDER BY attnum
            """
        ).split(separator: "\n").map(String.init)
    }

    /// What of the columns an SQL text doesn't name.
    private func missing(in sql: String, prefix: String = "") -> [String] {
        columns.filter { !sql.contains(prefix + $0) }
    }

    @Test("Each column is read, and an import writes it")
    func read() {
        #expect(!columns.isEmpty)
        #expect(missing(in: PlaceColumn.sql.text) == Self.unserved)
        #expect(PlaceColumn.allCases.count == columns.count - Self.unserved.count + 1)
        let made = ["updated_at", "version"]
        #expect(missing(in: ImportStatements.insert.text) == ["source_values"] + made)
        #expect(missing(in: ImportStatements.insertCorrected.text) == made)
    }

    @Test(
        "An import compares and changes each column, but for those that say which place it is, and what the history keeps"
    )
    func compared() {
        let key = ["source_dataset", "source_id"]
        let kept = ["source_values", "updated_at", "version"]
        let update = ImportChanges.update.text.components(separatedBy: " FROM pg_temp.import_rows")
        #expect(Set(columns.filter { !update[0].contains("\($0) = ") }) == Set(key + kept))
        #expect(
            Set(missing(in: ImportChanges.create.text, prefix: "place."))
                == Set(key + kept).subtracting(["source_values", "source_dataset", "source_id"]))
        #expect(missing(in: ImportChanges.updateCorrected.text) == key + ["updated_at", "version"])
    }

    @Test("Each column is a member of the contract's place")
    func contract() throws {
        let place = PointOfInterest(
            id: 1, name: "a", category: "b", latitude: 1, longitude: 2, address: "c", website: "https://d",
            source: PointOfInterest.Source(dataset: "e", id: "f", license: "g"), importance: 1,
            properties: ["a": 1], language: "en", operatingStatus: .temporarilyClosed, version: 1,
            updatedAt: Date(timeIntervalSince1970: 1))
        let json =
            try JSONSerialization.jsonObject(with: JSONEncoder().encode(place)) as? [String: Any] ?? [:]
        let source = json["source"] as? [String: Any] ?? [:]
        let members = json.keys.filter { $0 != "source" } + source.keys.map { "source_\($0)" }
        // Of all names, a response has one.
        let names = ["names", "other_names"]
        let renamed = ["operatingStatus": "operating_status", "updatedAt": "updated_at"]
        #expect(
            Set(members.map { renamed[$0] ?? $0 })
                == Set(columns + ["id", "language"]).subtracting(names + Self.unserved))
    }
}
