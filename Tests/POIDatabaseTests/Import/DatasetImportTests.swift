import Foundation
import Loopback
import PlaceImport
import PointsOfInterestAPI
import Postgres
import PrivateCluster
import Randomness
import Testing

@testable import POIDatabase

/// `poi import`, by what it does to the places of a dataset.
@Suite("An import", .timeLimit(.minutes(5)))
struct DatasetImportTests {
    /// Places around the world, one a line, named after their numbers.
    static func places(_ numbers: some Sequence<Int>, named name: String = "Place") -> [String] {
        numbers.map { "\($0),\(name) \($0),\($0 % 2 == 0 ? "cafe" : "park"),\($0 % 80),\($0 % 170)" }
    }

    @Test("An import adds and changes places as the file says, and counts each kind")
    func counts() async throws {
        let database = try MigratedDatabase.empty()
        let first = try await database.importPlaces(Self.places(1...20))
        #expect(first.read == 20)
        #expect(first.counts == [20, 0, 0, 0])
        let ids = try database.execute("SELECT string_agg(id::text, ' ' ORDER BY source_id) FROM locations")

        let second = try await database.importPlaces(
            Self.places(1...5, named: "Renamed") + Self.places(6...25))
        #expect(second.read == 25)
        #expect(second.counts == [5, 5, 15, 0])
        #expect(
            try Set(database.importedPlaces())
                == Set(Self.places(1...5, named: "Renamed") + Self.places(6...25)))
        // A changed place is still the same place.
        #expect(
            try database.execute(
                "SELECT string_agg(id::text, ' ' ORDER BY source_id) FROM locations WHERE source_id::int <= 20"
            )
                == ids)
    }

    @Test("An import of the same file again changes nothing, not even the dataset's id")
    func again() async throws {
        let database = try MigratedDatabase.empty()
        let rows = Self.places(1...50)
        _ = try await database.importPlaces(rows)
        let id = try database.datasetID()
        let report = try await database.importPlaces(rows) { _, options in options.removesVanished = true }
        #expect(report.unchanged == 50)
        #expect(!report.hasChanges)
        #expect(try database.datasetID() == id)
        // Another license is a change of each place.
        #expect(try await database.importPlaces(rows, license: "ODbL-1.0").changed == 50)
        #expect(try database.datasetID() != id)
    }

    @Test(
        "Properties and importance are imported, a change of either is one of the place, and too large ones are dropped"
    )
    func properties() async throws {
        let database = try MigratedDatabase.empty()
        func features(_ first: String) -> String {
            zip(1..., [first, #"{"p": {"a": {"b": {"c": 1}}}}"#, #"{"p": 1e300, "q": 1e300}"#, "{}"]).map {
                id, own in
                """
                {"type": "Feature", "id": \(id), "geometry": {"type": "Point", "coordinates": [1, 2]}, "properties":
                 {"name": "A", "category": "shop", "importance": \(id), \(own.dropFirst())}
                """.replacing("\n", with: "").replacing(", }", with: "}")
            }.joined(separator: "\n")
        }
        let file = FileManager.default.temporaryDirectory.appending(path: "poi-\(UUID()).geojsonl")
        defer { try? FileManager.default.removeItem(at: file) }
        func importFeatures(_ first: String) async throws -> ImportReport {
            try Data(features(first).utf8).write(to: file)
            return try await database.importFile(file.path) { source, _ in
                source.columns = [:]
                source.properties = ["p", "q"]
            }
        }
        let stored =
            "SELECT string_agg(importance || coalesce(properties::text, ''), ' ' ORDER BY source_id) FROM locations"
        let report = try await importFeatures(#"{"p": [1.50, "x"], "q": null}"#)
        #expect(report.counts == [4, 0, 0, 0])
        #expect(report.normalised == [.propertiesDropped: 1])
        let wide = "1" + String(repeating: "0", count: 300)
        #expect(
            try database.execute(stored) == #"1{"p": [1.50, "x"]} 2 3{"p": \#(wide), "q": \#(wide)} 4"#)
        #expect(try await importFeatures(#"{"p": [1.50, "x"], "q": null}"#).unchanged == 4)
        #expect(try await importFeatures(#"{"p": [1.51, "x"]}"#).counts == [0, 1, 3, 0])
        #expect(try await importFeatures("{}").counts == [0, 1, 3, 0])
        #expect(try database.execute("SELECT count(*) FROM locations WHERE properties IS NULL") == "3")
    }

    @Test("Names are imported as they are, and a change of them is one of the place")
    func names() async throws {
        let database = try MigratedDatabase.empty()
        let line = String(repeating: "é", count: 193)
        let others = (0..<20).map { "\(line)\(100 + $0)" }.joined(separator: ";")
        let tags = (0..<280).map { "name:en-\($0)" }
        let file = FileManager.default.temporaryDirectory.appending(path: "poi-\(UUID()).csv")
        defer { try? FileManager.default.removeItem(at: file) }
        func importRows(_ japanese: String, _ other: String) async throws -> ImportReport {
            let header =
                "id,name,category,lat,lon,name:ja,name:zh-Hant," + tags.joined(separator: ",")
                + ",other_names"
            let rows = [
                "1,A,shop,1,2,\(japanese),\"B \"\"\",\(tags.map { _ in "" }.joined(separator: ",")),\(other)",
                "2,A,shop,1,2,,,\(tags.map { _ in "" }.joined(separator: ",")),\(others)",
                "3,A,shop,1,2,,,\(tags.map { _ in "a" }.joined(separator: ",")),\(others)",
            ]
            try Data(([header] + rows).joined(separator: "\n").utf8).write(to: file)
            return try await database.importFile(file.path)
        }
        let first = try await importRows("東京", "a;b")
        #expect(first.counts == [3, 0, 0, 0])
        // What is one too much was dropped before the table could refuse it.
        #expect(
            try database.execute("SELECT count(*) FROM locations WHERE are_names(names, other_names)") == "3")
        let stored = "SELECT concat(names, ' ', other_names) FROM locations WHERE source_id = '1'"
        #expect(try database.execute(stored) == #"{"ja": "東京", "zh-Hant": "B \""} {a,b}"#)
        #expect(try await importRows("東京", "a;b").unchanged == 3)
        #expect(try await importRows("東", "a;b").counts == [0, 1, 2, 0])
        #expect(try await importRows("東", "a").counts == [0, 1, 2, 0])
        #expect(try await importRows("", "").counts == [0, 1, 2, 0])
        #expect(try database.execute(stored) == #"{"zh-Hant": "B \""}"# + " ")
    }

    @Test("A dry run counts the same, and changes nothing")
    func dryRun() async throws {
        let database = try MigratedDatabase.empty()
        _ = try await database.importPlaces(Self.places(1...40))
        let (id, places) = (try database.datasetID(), try database.importedPlaces())
        let rows = Self.places(1...3, named: "Renamed") + Self.places(10...42) + ["99,Pub,pub,1,1"]
        var reports: [ImportReport] = []
        for isDryRun in [true, false] {
            reports.append(
                try await database.importPlaces(rows) { _, options in
                    options.removesVanished = true
                    options.isDryRun = isDryRun
                    options.addsCategories = true
                })
            guard isDryRun else { continue }
            #expect(try database.datasetID() == id)
            #expect(try database.importedPlaces() == places)
        }
        #expect(reports[0].run == nil && reports[1].run == 2)
        reports[1].run = nil
        #expect(reports[0] == reports[1])
        #expect(reports[0].counts == [3, 3, 31, 6])
        #expect(try database.importedPlaces().count == 37)
    }

    @Test("The last of several rows with the same id counts")
    func duplicates() async throws {
        let database = try MigratedDatabase.empty()
        let report = try await database.importPlaces([
            "7,First,cafe,1,1", "8,Other,cafe,2,2", "7,Last,park,3,3",
        ])
        #expect(report.added == 2)
        #expect(report.duplicates == 1)
        #expect(try database.importedPlaces() == ["7,Last,park,3,3", "8,Other,cafe,2,2"])
    }

    @Test("--sync removes vanished places, but none whose row was rejected and none of other datasets")
    func sync() async throws {
        let database = try MigratedDatabase.empty()
        try database.execute(
            """
            INSERT INTO locations (name, category, latitude, longitude, source_dataset, source_id, source_license)
            VALUES ('Mine', 'cafe', 1, 1, NULL, NULL, NULL), ('Other', 'cafe', 1, 1, 'other', '1', 'CC0-1.0')
            """)
        _ = try await database.importPlaces(Self.places(1...12))
        let report = try await database.importPlaces(Self.places(1...9) + ["10,,cafe,1,1", "11,A,pub,1,1"]) {
            $1.removesVanished = true
        }
        #expect(report.removed == 1)
        #expect(report.rejected == [.noName: 1, .unknownCategory: 1])
        #expect(Set(try database.importedPlaces()) == Set(Self.places(1...11)))
        #expect(try database.execute("SELECT count(*) FROM locations") == "13")
    }

    @Test("--sync removes only within the box and the categories that are imported")
    func syncSelection() async throws {
        let database = try MigratedDatabase.empty()
        let rows = [
            "in,In,cafe,10,179.5", "west,West,cafe,10,-179.5", "edge,Edge,cafe,0,180", "pole,Pole,cafe,90,17",
            "out,Out,cafe,10,0", "park,Park,park,10,179.5",
        ]
        _ = try await database.importPlaces(rows)
        let box = try #require(BoundingBox(west: 179, south: 0, east: -179, north: 90))
        let report = try await database.importPlaces([]) { source, options in
            source.boundingBox = box
            source.categories = ["cafe"]
            options.removesVanished = true
        }
        #expect(report.removed == 4)
        #expect(try database.importedPlaces().map { $0.prefix { $0 != "," } } == ["out", "park"])
    }

    @Test("--sync refuses to remove many places, and then changes nothing, unless it is forced")
    func refusal() async throws {
        let database = try MigratedDatabase.empty()
        _ = try await database.importPlaces(Self.places(1...100))
        let (id, places) = (try database.datasetID(), try database.importedPlaces())
        let rows = Self.places(20...101, named: "Renamed")
        let refusal = try await database.importPlaces(rows) { _, options in
            (options.removesVanished, options.allowed) = (true, ImportAllowances())
            options.isDryRun = true
        }
        #expect(refusal.refusal != nil)
        await #expect(throws: CommandError.self) {
            try await database.importPlaces(rows) { _, options in
                (options.removesVanished, options.allowed) = (true, ImportAllowances())
            }
        }
        #expect(try database.datasetID() == id)
        #expect(try database.importedPlaces() == places)
        let forced = try await database.importPlaces(rows) { _, options in
            options.removesVanished = true
        }
        #expect(forced.counts == [1, 81, 0, 19])
    }

    @Test(
        "An import changes the dataset's description where it is given, and removes it where it is empty"
    )
    func description() async throws {
        let database = try MigratedDatabase.empty()
        let texts = "SELECT license, credit, url FROM datasets WHERE name = 'test'"
        let rows = Self.places(1...3)
        func describe(_ credit: String?, _ url: String?) async throws -> String {
            _ = try await database.importPlaces(rows) { _, options in
                (options.dataset.credit, options.dataset.url) = (credit, url)
            }
            return try database.execute(texts)
        }
        #expect(
            try await describe("© Somebody", "https://example.org/")
                == "CC0-1.0|© Somebody|https://example.org/")
        let id = try database.datasetID()
        #expect(try await describe(nil, nil) == "CC0-1.0|© Somebody|https://example.org/")
        #expect(try database.datasetID() == id)
        #expect(try await describe("", nil) == "CC0-1.0||https://example.org/")
        #expect(try database.datasetID() != id)
    }

    @Test(
        "A second import waits for the first, and says so, whatever isolation the database has by default",
        arguments: ["read committed", "repeatable read", "serializable"])
    func secondImport(isolation: String) async throws {
        let database = try MigratedDatabase.empty()
        try database.execute(
            "ALTER DATABASE \(database.name) SET default_transaction_isolation = '\(isolation)'")
        let pipe = FileManager.default.temporaryDirectory.appending(path: "poi-\(UUID()).csv")
        #expect(mkfifo(pipe.path, 0o600) == 0)
        defer { try? FileManager.default.removeItem(at: pipe) }
        async let first = database.importFile(pipe.path)
        // Opening a pipe for writing waits until the import has opened it for reading.
        let writer = try await offPool {
            try FileHandle(forWritingTo: pipe)
        }
        try writer.write(contentsOf: Data(("id,name,category,latitude,longitude\n").utf8))
        try await database.withSession { session in
            let isLocked = """
                SELECT count(*) > 0 FROM pg_locks WHERE relation = 'datasets'::regclass
                AND mode = 'ShareUpdateExclusiveLock' AND granted
                AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                """
            while try await !session.value(isLocked, as: Bool.self) { try Task.checkCancellation() }
        }
        var observers = DatasetImport.Observers()
        let (lines, feed) = AsyncStream.makeStream(of: String.self)
        observers.onLine = { feed.yield($0) }
        async let second = database.importPlaces(["1,Second,cafe,1,1"], observers: observers)
        for await line in lines {
            #expect(line == "another import is at work; waiting for its end")
            break
        }
        try writer.write(contentsOf: Data("1,First,cafe,1,1\n2,Too,cafe,1,1\n".utf8))
        try writer.close()
        #expect(try await first.added == 2)
        let report = try await second
        #expect(report.counts == [0, 1, 0, 0])
        #expect(try database.importedPlaces() == ["1,Second,cafe,1,1", "2,Too,cafe,1,1"])
    }

    @Test("Each step of PostgreSQL's part is reported when it begins, and again while it lasts")
    func steps() async throws {
        let database = try MigratedDatabase.empty()
        _ = try await database.importPlaces(Self.places(1...30))
        let (reports, feed) = AsyncStream.makeStream(of: ImportProgress.self)
        let observers = DatasetImport.Observers(onProgress: { feed.yield($0) })
        try await database.withSession { session in
            // Others may lock rows, but not write any: the import waits before it adds places.
            try await session.run("BEGIN")
            try await session.run("LOCK TABLE locations IN SHARE MODE")
            async let report = database.importPlaces(
                Self.places(6...50, named: "Renamed"), observers: observers
            ) { $1.removesVanished = true }
            // While the statement waits, the step is reported again.
            var steps = await Self.steps(of: reports, untilRepeated: .removing(5))
            try await session.run("ROLLBACK")
            #expect(try await report.counts == [20, 25, 0, 5])
            feed.finish()
            steps += await Self.steps(of: reports)
            #expect(
                steps.withoutRepetitions == [
                    .reading, .comparing, .removing(5), .changing(25), .adding(20), .committing, .vacuuming,
                ])
        }
    }

    /// The steps that are reported until one is reported twice, or until the end.
    private static func steps(
        of reports: AsyncStream<ImportProgress>, untilRepeated step: ImportProgress.Phase? = nil
    ) async -> [ImportProgress.Phase] {
        var steps: [ImportProgress.Phase] = []
        for await progress in reports {
            #expect(progress.phase == .reading || progress.rows == 45)
            steps.append(progress.phase)
            if steps.count(where: { $0 == step }) == 2 { break }
        }
        return steps
    }

    @Test("The places in memory follow an import")
    func followed() async throws {
        let database = try MigratedDatabase.empty()
        try await database.withFollower { followed in
            try await followed.waitForNewest()
            _ = try await database.importPlaces(Self.places(1...60))
            try await followed.waitForNewest()
            _ = try await database.importPlaces(Self.places(1...55, named: "Renamed")) {
                $1.removesVanished = true
            }
            try await followed.waitForNewest()
            #expect(followed.index.status.loadCount == 1)
        }
    }

    @Test("An import whose session is killed leaves the old places or the new ones, and the next one works")
    func killed() async throws {
        let database = try MigratedDatabase.empty()
        var generator = SeededGenerator()
        let count = 400
        _ = try await database.importPlaces(Self.places(1...count, named: "Round 0"))
        var previous = 0
        for round in 1...12 {
            let rows = Self.places(1...count, named: "Round \(round)")
            let turns = Int.random(in: 0...40, using: &generator)
            async let result = Result { try await database.importPlaces(rows) }
            try await database.withSession { session in
                for _ in 0..<turns { try await session.run("SELECT 1") }
                try await session.run(
                    """
                    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
                    """)
            }
            let hasEnded = await result
            let names = Set(
                try database.execute("SELECT split_part(name, ' ', 2) FROM locations").split(separator: "\n"))
            let (old, new) = (Substring("\(previous)"), Substring("\(round)"))
            #expect(names == [old] || names == [new])
            switch hasEnded {
            case .success: #expect(names == [new])
            // What libpq says of a connection that is freed.
            case .failure(let error): #expect(!"\(error)".contains("out of memory"))
            }
            if names == [new] { previous = round }
        }
        #expect(try await database.importPlaces(Self.places(1...count, named: "Last")).changed == count)
    }
}

extension [ImportProgress.Phase] {
    /// Each step once.
    var withoutRepetitions: [ImportProgress.Phase] {
        reduce(into: []) { if $0.last != $1 { $0.append($1) } }
    }
}

extension Result where Failure == any Error {
    /// What an asynchronous function returns or throws.
    init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}

extension TestDatabase {
    /// Imports places into the dataset `test`, as `poi import` does.
    ///
    /// - Parameters:
    ///   - rows: lines of CSV: id, name, category, latitude, longitude.
    ///   - observers: what is followed besides.
    func importPlaces(
        _ rows: [String], license: String = "CC0-1.0", observers: DatasetImport.Observers = .init(),
        _ change: (inout ImportSource, inout ImportOptions) -> Void = { _, _ in }
    ) async throws -> ImportReport {
        let file = FileManager.default.temporaryDirectory.appending(path: "poi-\(UUID()).csv")
        let text = (["id,name,category,latitude,longitude"] + rows).joined(separator: "\n") + "\n"
        try Data(text.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return try await importFile(file.path, license: license, observers: observers, change)
    }

    /// The same with a file that is there already, or a named pipe.
    func importFile(
        _ path: String, license: String = "CC0-1.0", observers: DatasetImport.Observers = .init(),
        _ change: (inout ImportSource, inout ImportOptions) -> Void = { _, _ in }
    ) async throws -> ImportReport {
        var source = ImportSource(paths: [path])
        source.columns = [.id: "id"]
        var options = ImportOptions(dataset: DatasetDescription(name: "test", license: license))
        options.allowed = .everything
        change(&source, &options)
        let work = DatasetImport(try configuration(), source, options)
        // Off the pool, since it blocks.
        return try await withCheckedThrowingContinuation { continuation in
            Thread { continuation.resume(with: Result { try work.run(observers) }) }.start()
        }
    }

    /// What the database holds of the dataset `test`, in the order of the ids.
    func importedPlaces() throws -> [String] {
        try execute(
            """
            SELECT source_id || ',' || name || ',' || category || ',' || latitude || ',' || longitude
            FROM locations WHERE source_dataset = 'test' ORDER BY source_id COLLATE "C"
            """
        ).split(separator: "\n").map(String.init)
    }

    /// The dataset's id.
    func datasetID() throws -> String { try execute("SELECT id FROM dataset") }
}

extension ImportReport {
    /// How many places were added, changed, left and removed.
    var counts: [Int] { [added, changed, unchanged, removed] }
}
