import Foundation
import Locking
import Loopback
import PlaceImport
import PrivateCluster
import Testing

@testable import POIDatabase

/// `poi datasets`, by what it reads and changes.
@Suite("The datasets of a database", .timeLimit(.minutes(5)))
struct DatasetsTests {
    /// Places with all that a place may have, at the edges of what the table takes.
    private static let places = #"""
        INSERT INTO locations (source_dataset, source_license, source_id, name, category, latitude, longitude, featured,
            address, website, importance, properties, names, other_names)
        VALUES
        ('test', 'CC0-1.0', 'a,"1"', 'Comma, "quote" \back\', 'cafe', 90, 180, true, 'Street 1, Town', 'https://a.example/?q=a,b#c',
            1000, '{"s": "a,\"b\"\\\n\u0001 ", "i": -7, "n": 1.50, "large": 1e300, "small": 1e-300, "t": true, "f": false,
            "o": {"a": {}, "b": []}, "l": [1, "x", null, [2]], "": 1, "name": "x", "properties": {"id": 0}}',
            '{"ja": "東京", "zh-Hant": "a;b", "zh-Hans": "{\"a\": 1}", "ar": "القاهرة", "EN": "A \"q\", b"}',
            ARRAY['a;b', '[x]', '{"y": 1}', '"quoted', 'c,d', 'Comma']),
        ('test', 'CC0-1.0', '\.', '\.', 'park', -90, -180, false, NULL, NULL, 0, NULL, NULL, ARRAY['["z"]']),
        ('test', 'CC0-1.0', '0', '=1+1', 'park', 5e-324, 179.99999999999997, false, NULL, NULL, 1, NULL, '{"th": "กรุงเทพ"}', NULL),
        ('test', 'CC0-1.0', '00', '"', 'park', 0.1::float8 + 0.2::float8, -1e-7, false, '{"a": 1}', NULL, 0, '{"a": "[]"}',
            NULL, NULL),
        ('test', 'CC0-1.0', 'é', '👩‍👩‍👧 e' || U&'\0301' || ' नमस्ते', 'park', 52.520006599999995, 13.404953999999998, true,
            NULL, 'http://xn--e1afmkfd.xn--p1ai:65535', 0, '{"a": [true]}', NULL, NULL),
        ('test', 'CC0-1.0', 'null', 'null', 'park', 0, 0, false, 'NULL', NULL, 0, NULL, NULL, NULL)
        """#

    /// All of a dataset's places, in the database's own words.
    private static let content = """
        SELECT source_id, name, category, float8send(latitude), float8send(longitude), featured, address, website,
            importance, properties, names, other_names, source_license
        FROM locations WHERE source_dataset = 'test' ORDER BY source_id COLLATE "C"
        """

    private func export(
        _ database: TestDatabase, dataset name: String = "test", _ format: DatasetExport.Format
    ) async throws -> (file: String, dataset: DatasetSummary) {
        let export = DatasetExport(try database.configuration(), dataset: name, format: format)
        let written = Lock<[UInt8]>([])
        let dataset = try await offPool {
            try export.run(write: { bytes in written.withLock { $0 += bytes } })
        }
        return (String(decoding: written.withLock { $0 }, as: UTF8.self), dataset)
    }

    /// Imports what was exported, as the command does that an export prints.
    private func importAgain(
        _ text: String, into database: TestDatabase, dataset name: String = "test",
        license: String = "CC0-1.0",
        _ format: DatasetExport.Format
    ) async throws -> ImportReport {
        let file = FileManager.default.temporaryDirectory.appending(path: "poi-\(UUID()).\(format)")
        try Data(text.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return try await database.importFile(file.path) { source, options in
            source.columns = [:]
            options.dataset = DatasetDescription(name: name, license: license)
            options.removesVanished = true
        }
    }

    @Test(
        "What was exported changes nothing where it is imported again, and makes the same places elsewhere",
        arguments: DatasetExport.Format.allCases)
    func roundTrip(format: DatasetExport.Format) async throws {
        let database = try MigratedDatabase.empty()
        // Of these the import makes an id of the name and the position.
        let unnamed = try await database.importPlaces([",No id,cafe,-1.5,2.25", ",No id,cafe,-1.5,2.5"]) {
            source, _ in source.columns = [:]
        }
        #expect(unnamed.added == 2)
        try database.execute(Self.places)
        let id = try database.datasetID()
        let (file, dataset) = try await export(database, format)
        #expect(dataset.places == 8)
        let report = try await importAgain(file, into: database, format)
        #expect(report.counts == [0, 0, 8, 0])
        #expect(report.rejected == [:] && report.normalised == [:] && report.remarks == [])
        #expect(try database.datasetID() == id)
        let other = try MigratedDatabase.empty()
        #expect(try await importAgain(file, into: other, format).counts == [8, 0, 0, 0])
        #expect(try other.execute(Self.content) == database.execute(Self.content))
        #expect(try await export(other, format).file == file)
    }

    @Test("An export is RFC 4180 or RFC 7946, to the byte")
    func bytes() async throws {
        let database = try MigratedDatabase.empty()
        try database.execute(
            """
            INSERT INTO datasets (name, license) VALUES ('test', 'CC0-1.0'), ('none', 'CC0-1.0');
            INSERT INTO locations (source_dataset, source_license, source_id, name, category, latitude, longitude,
                featured, names, other_names, properties)
            VALUES ('test', 'CC0-1.0', '2', 'A, "B"', 'cafe', 1.5, -2, true, '{"ja": "東"}', ARRAY['c;d'], '{"p": 1.0}'),
                ('test', 'CC0-1.0', '1', 'C', 'cafe', 1e-7, 0, false, NULL, NULL, NULL)
            """)
        let header =
            "id,name,category,latitude,longitude,featured,address,website,importance,names,other_names,properties,"
            + "operating_status,corrections,suppressed\n"
        let csv = try await export(database, .csv).file
        #expect(
            csv == header + "1,C,cafe,1e-07,0,false,,,0,,,,,,\n"
                + #"2,"A, ""B""",cafe,1.5,-2,true,,,0,"{""ja"": ""東""}","[""c;d""]","{""p"": 1.0}",,,"# + "\n"
        )
        let geoJSON = try await export(database, .geojson).file
        #expect(
            geoJSON == """
                {"type":"FeatureCollection","features":[
                {"type":"Feature","id":"1","geometry":{"type":"Point","coordinates":[0,1e-07]},"properties":{"name":"C","category":"cafe"}},
                {"type":"Feature","id":"2","geometry":{"type":"Point","coordinates":[-2,1.5]},"properties":{"name":"A, \\"B\\"","category":"cafe","featured":true,"names":{"ja": "東"},"other_names":["c;d"],"properties":{"p": 1.0}}}
                ]}

                """)
        #expect(try await export(database, dataset: "none", .csv).file == header)
        let empty = try await export(database, dataset: "none", .geojson).file
        #expect(empty == "{\"type\":\"FeatureCollection\",\"features\":[\n]}\n")
    }

    @Test("The list has datasets with a row or with places, and the licenses of those without a row")
    func list() async throws {
        let database = try MigratedDatabase.empty()
        try database.execute(
            """
            INSERT INTO datasets (name, license, credit, url)
            VALUES ('b', 'ODbL-1.0', '© B', 'https://b.example'), ('none', 'X', NULL, NULL);
            INSERT INTO locations (source_dataset, source_license, source_id, name, category, latitude, longitude)
            VALUES ('b', 'ODbL-1.0', '1', 'A', 'cafe', 0, 0), ('b', 'Y', '2', 'B', 'cafe', 0, 0),
                ('a', 'Z', '1', 'C', 'cafe', 0, 0), ('a', 'Y', '2', 'D', 'cafe', 0, 0);
            INSERT INTO locations (name, category, latitude, longitude) VALUES ('E', 'cafe', 0, 0)
            """)
        let configuration = try database.configuration()
        let datasets = try await offPool { try DatasetList(configuration).run() }
        #expect(
            datasets == [
                DatasetSummary(name: "a", license: "Y AND Z", credit: nil, url: nil, places: 2),
                DatasetSummary(
                    name: "b", license: "ODbL-1.0", credit: "© B", url: "https://b.example", places: 2),
                DatasetSummary(name: "none", license: "X", credit: nil, url: nil, places: 0),
                DatasetSummary(name: "", license: "", credit: nil, url: nil, places: 1),
            ])
    }

    @Test("A dataset that there isn't is an error with the nearest name")
    func unknown() async throws {
        let database = try MigratedDatabase.empty()
        try database.execute("INSERT INTO datasets (name, license) VALUES ('cafes', 'X')")
        let configuration = try database.configuration()
        for (name, end) in [
            ("cafés", "; did you mean cafes?"), ("museums", "; poi datasets lists those that there are"),
        ] {
            let message = "there is no dataset \(name)\(end)"
            let exported = await Result { try await export(database, dataset: name, .csv) }
            let removed = await Result {
                try await offPool { try DatasetRemoval(configuration, dataset: name).run() }
            }
            for failure in [exported.failureText, removed.failureText] { #expect(failure == message) }
        }
    }

    @Test("A removal takes a dataset with its places and no others, and places in memory follow it")
    func removal() async throws {
        let database = try MigratedDatabase.empty()
        let configuration = try database.configuration()
        try await database.withFollower { followed in
            _ = try await database.importPlaces(["1,Other,cafe,0,0", "2,Place,cafe,40,80"]) {
                $1.dataset.name = "other"
            }
            _ = try await database.importPlaces((1...40).map { "\($0),Place \($0),cafe,\($0),\($0)" })
            try await followed.waitForNewest()
            let steps = Lock<[ImportProgress.Phase]>([])
            var observers = DatasetImport.Observers()
            observers.onProgress = { progress in steps.withLock { $0.append(progress.phase) } }
            let count = try await offPool { [observers] in
                try DatasetRemoval(configuration, dataset: "test").run(observers)
            }
            #expect(count == 40)
            // Counting may end before it is reported.
            #expect(
                steps.withLock { $0 }.withoutRepetitions.drop { $0 == .counting }
                    == [.removing(40), .committing, .vacuuming])
            #expect(
                try database.execute(
                    "SELECT string_agg(DISTINCT source_dataset, ' '), count(*) FROM locations")
                    == "other|2")
            #expect(try database.execute("SELECT string_agg(name, ' ') FROM datasets") == "other")
            try await followed.waitForNewest()
            #expect(followed.index.status.loadCount == 1)
        }
    }

    @Test("A removal waits for an import that is at work, and then removes what that has added")
    func waits() async throws {
        let database = try MigratedDatabase.empty()
        let configuration = try database.configuration()
        try await database.withSession { session in
            try await session.run("BEGIN")
            try await session.run("LOCK TABLE datasets IN SHARE UPDATE EXCLUSIVE MODE")
            try await session.run(Self.places)
            var observers = DatasetImport.Observers()
            let (lines, feed) = AsyncStream.makeStream(of: String.self)
            observers.onLine = { feed.yield($0) }
            async let count = offPool { [observers] in
                try DatasetRemoval(configuration, dataset: "test").run(observers)
            }
            #expect(await lines.first { _ in true } == "another import is at work; waiting for its end")
            try await session.run("COMMIT")
            #expect(try await count == 6)
        }
    }
}

extension Result {
    /// The error in words; nil for a success.
    fileprivate var failureText: String? {
        if case .failure(let error) = self { return "\(error)" }
        return nil
    }
}
