import Foundation
import Locking
import Loopback
import PlaceImport
import PrivateCluster
import Testing

@testable import POIDatabase

/// What people do to places, and what imports leave of it. `Tests/System/import/test_history_model.py` has the same at random.
@Suite("Corrections", .timeLimit(.minutes(5)))
struct CorrectionTests {
    private let database: TestDatabase

    init() throws { database = try MigratedDatabase.empty() }

    private func places(
        _ rows: String..., header: String = "id,name,category,lat,lon,address,phone",
        observers: DatasetImport.Observers = .init()
    )
        async throws
        -> ImportReport
    {
        let file = FileManager.default.temporaryDirectory.appending(path: "poi-\(UUID()).csv")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(([header] + rows).joined(separator: "\n").utf8).write(to: file)
        return try await database.importFile(file.path, observers: observers) { source, options in
            source.columns = [:]
            if header.contains("phone") { source.properties = ["phone"] }
            options.removesVanished = true
        }
    }

    /// Runs the blocking work of a command as the editor `anna`.
    private func edit(version: Int64? = nil, _ body: @escaping @Sendable (CommandEditor) throws -> Void)
        async throws
    {
        let editor = CommandEditor(try database.configuration(), as: "anna", expectedVersion: version)
        try await offPool { try body(editor) }
    }

    private func revert(_ id: Int64) async throws -> ImportReversal {
        let history = ImportHistory(try database.configuration())
        return try await offPool { try history.revert(id) }
    }

    private func show(_ columns: String = "name, address, properties, source_values") throws -> String {
        try database.execute("SELECT \(columns) FROM locations ORDER BY id")
    }

    private func version(_ id: Int64 = 1) throws -> Int64 {
        try #require(Int64(try database.execute("SELECT version FROM locations WHERE id = \(id)")))
    }

    @Test("An import leaves a correction, and changes what lies below; a reset shows that")
    func correctedBetweenImports() async throws {
        _ = try await places("1,A,cafe,1,2,Street 1,11")
        try await edit {
            try $0.correct(1, #"{"name": "B", "position": [1.5, 2.25], "properties.phone": "99"}"#)
        }
        let again = try await places("1,A,cafe,1,2,Street 1,11")
        #expect(again.counts == [0, 0, 1, 0] && again.kept == 3)
        let report = try await places("1,C,cafe,3,4,Street 2,12")
        #expect(report.counts == [0, 1, 0, 0] && report.kept == 3 && report.byHand == nil)
        #expect(report.changedMembers.map(\.name) == ["name", "position", "address", "properties"])
        #expect(
            try show()
                == #"B|Street 2|{"phone": "99"}|{"name": "C", "position": [3, 4], "properties.phone": "12"}"#)
        #expect(try show("latitude, longitude") == "1.5|2.25")
        try await edit { try $0.correct(1, resetting: ["name", "properties"]) }
        #expect(try show() == #"C|Street 2|{"phone": "12"}|{"position": [3, 4]}"#)
        try await edit { try $0.correct(1, resetting: ["*"]) }
        #expect(try show("name, latitude, longitude, source_values") == "C|3|4|")
    }

    @Test("Whoever names an editor corrects by SQL; what nobody signed is overwritten, counted and listed")
    func bySQL() async throws {
        _ = try await places("1,A,cafe,1,2,Street 1,11", "2,B,cafe,1,3,Street 2,12")
        try database.execute(
            "BEGIN; SET LOCAL poi.editor = 'bob'; UPDATE locations SET address = 'Here' WHERE id = 1; COMMIT")
        try database.execute("UPDATE locations SET address = 'There' WHERE id = 2")
        let report = try await places("1,A,cafe,1,2,Street 1,11", "2,B,cafe,1,3,Street 2,12")
        #expect(report.changed == 1 && report.kept == 1)
        #expect(report.byHand == ImportReport.ByHand(count: 1, places: ["2 (B)"]))
        #expect(try show("address, source_values") == "Here|{\"address\": \"Street 1\"}\nStreet 2|")
        // The import has written it since.
        #expect(try await places("1,A,cafe,1,2,Street 1,11", "2,B,cafe,1,3,Street 3,12").byHand == nil)
        let who =
            "SELECT coalesce(by_editor, 'import ' || by_import, by_role) FROM location_versions ORDER BY change"
        let role = try database.execute("SELECT current_user")
        #expect(try database.execute(who) == "bob\n\(role)\nimport 2\nimport 3")
    }

    @Test("What comes back has its old id, unless a person removed it")
    func removedAndBack() async throws {
        _ = try await places("1,A,cafe,1,2,,", "2,B,cafe,1,3,,", "3,C,cafe,1,4,,")
        let ids = try show("source_id, id")
        #expect(try await places("1,A,cafe,1,2,,").removed == 2)
        let back = try await places("1,A,cafe,1,2,,", "3,D,cafe,1,4,,", "2,B,cafe,1,3,,")
        #expect(back.counts == [2, 0, 1, 0] && back.returned == 2)
        #expect(try show("source_id, id") == ids)
        try await edit { try $0.remove(2) }
        let without = try await places("1,A,cafe,1,2,,", "3,D,cafe,1,4,,", "2,B,cafe,1,3,,")
        #expect(without.counts == [0, 0, 2, 0] && without.suppressed == 1)
        let removed = try database.execute(
            "SELECT version FROM location_versions WHERE id = 2 AND operation = 'delete' ORDER BY change DESC LIMIT 1"
        )
        let version = try #require(Int64(removed))
        try await edit { try $0.restore(2, to: version) }
        #expect(try show("source_id, id") == ids)
        #expect(throws: (any Error).self) {
            try database.execute(
                "INSERT INTO locations (id, name, category, latitude, longitude) OVERRIDING SYSTEM VALUE VALUES (99, 'X', 'cafe', 1, 1)"
            )
        }
    }

    @Test("A place that was merged is gone, and the other one has what it lacked")
    func merged() async throws {
        _ = try await places("1,A,cafe,1,2,,11", "2,B,cafe,1,3,Street 2,12")
        try await edit { try $0.merge(2, into: 1) }
        #expect(try show("name, address, properties, other_names") == #"A|Street 2|{"phone": "11"}|{B}"#)
        #expect(
            try database.execute("SELECT id, merged_into, is_suppressed FROM removed_locations") == "2|1|t")
        let again = try await places("1,A,cafe,1,2,,11", "2,B,cafe,1,3,Street 2,12")
        #expect(again.counts == [0, 0, 1, 0] && again.suppressed == 1)
        await #expect(throws: CommandError.self) { try await edit { try $0.merge(1, into: 1) } }
    }

    @Test(
        "An import that is taken back leaves what people have corrected since, and lists what has changed otherwise"
    )
    func reverted() async throws {
        _ = try await places("1,A,cafe,1,2,Street 1,11", "2,B,cafe,1,3,Street 2,12", "3,C,cafe,1,4,,")
        let before = try show("id, name, address, properties, source_values, import_run")
        let second = try await places(
            "1,A2,cafe,1,2,Street 9,19", "2,B2,cafe,1,3,Street 2,12", "4,D,cafe,1,5,,")
        #expect(second.counts == [1, 2, 0, 1])
        #expect(try await revert(2).kept == [])
        #expect(try show("id, name, address, properties, source_values, import_run") == before)
        _ = try await places("1,A2,cafe,1,2,Street 9,19", "2,B2,cafe,1,3,Street 2,12", "4,D,cafe,1,5,,")
        try await edit { try $0.correct(1, #"{"name": "Anna's"}"#) }
        try database.execute("UPDATE locations SET name = 'By hand' WHERE id = 2")
        try await edit { try $0.correct(4, #"{"name": "Delta"}"#) }
        let third = try await places(
            "1,A3,cafe,1,2,Street 9,19", "2,By hand,cafe,1,3,Street 2,12", "4,D,cafe,1,5,,")
        #expect(third.counts == [0, 1, 2, 0])
        await #expect(throws: CommandError.self) { try await revert(4) }
        #expect(try await revert(5).kept == [])
        let reversal = try await revert(4)
        #expect((reversal.changed, reversal.added, reversal.removed) == (2, 1, 0))
        #expect(reversal.kept.map(\.id) == [4, 2] && reversal.kept.map(\.members) == [[], ["name"]])
        #expect(
            try show("name, address, source_values")
                == "Anna's|Street 1|{\"name\": \"A\"}\nBy hand|Street 2|\nC||\nDelta||{\"name\": \"D\"}")
    }

    @Test("A place's versions are what it was; a restored one shows that, whatever its source says since")
    func restored() async throws {
        _ = try await places("1,A,cafe,1,2,Street 1,11")
        let first = try version()
        try await edit(version: first) { try $0.correct(1, #"{"name": "B"}"#) }
        let second = try version()
        await #expect(throws: CommandError.self) {
            try await edit(version: first) { try $0.correct(1, #"{"name": "C"}"#) }
        }
        _ = try await places("1,D,cafe,1,2,Street 2,11")
        let states =
            "SELECT name || coalesce(source_values::text, ''), version FROM location_versions ORDER BY change"
        #expect(try database.execute(states) == "A|\(first)\nB{\"name\": \"A\"}|\(second)")
        try await edit { try $0.restore(1, to: first) }
        #expect(
            try show("name, address, source_values") == #"A|Street 1|{"name": "D", "address": "Street 2"}"#)
        try database.execute("UPDATE locations SET name = name")
        #expect(try database.execute("SELECT count(*) FROM location_versions") == "3")
        let history = PlaceHistory(try database.configuration())
        let changes = try await offPool { try history.changes(of: 1) }
        #expect(changes.map(\.who.first) == ["a", "i", "a"])
        #expect(try await offPool { try history.forget(1) } == 3)
    }

    @Test("A correction that is made while an import is at work stays")
    func correctedMeanwhile() async throws {
        _ = try await places("1,A,cafe,1,2,Street 1,11", "2,B,cafe,1,3,Street 2,12")
        try await database.withSession { session in
            // The import has compared the places, and waits for this row.
            try await session.run("BEGIN")
            try await session.run("SET LOCAL poi.editor = 'bob'")
            try await session.run("UPDATE locations SET name = 'Bob''s' WHERE id = 1")
            async let report = places("1,C,cafe,1,2,Street 3,11", "2,D,cafe,1,3,Street 2,12")
            let waits = "SELECT count(*) > 0 FROM pg_locks WHERE NOT granted AND locktype = 'transactionid'"
            while try await !session.value(waits, as: Bool.self) { try Task.checkCancellation() }
            try await session.run("COMMIT")
            #expect(try await report.changed == 2)
        }
        #expect(
            try show() == #"Bob's|Street 3|{"phone": "11"}|{"name": "C"}"# + "\n"
                + #"D|Street 2|{"phone": "12"}|"#)
    }

    @Test("The lines of a report say what becomes of each place")
    func lines() async throws {
        _ = try await places("1,A,cafe,1,2,Street 1,11", "2,B,cafe,1,3,,", "3,C,cafe,1,4,,", "4,D,cafe,1,5,,")
        try await edit { try $0.correct(1, #"{"name": "Anna's", "position": [1.5, 2]}"#) }
        try await edit { try $0.remove(2) }
        let written = Lock("")
        var observers = DatasetImport.Observers()
        observers.onChange = { line in written.withLock { $0 += String(decoding: line, as: UTF8.self) } }
        _ = try await places(
            "1,A2,cafe,1,2,Street 1,11", "2,B,cafe,1,3,,", "3,C,bar,1,4.5,,", "5,E,cafe,1,6,,",
            observers: observers)
        #expect(
            written.withLock { $0 }.split(separator: "\n").dropFirst().joined(separator: "\n") == #"""
                {"id": 2, "name": "B", "change": "suppressed", "category": "cafe", "latitude": 1, "position": [1, 3], "sourceId": "2", "longitude": 3}
                {"name": "E", "change": "added", "category": "cafe", "latitude": 1, "position": [1, 6], "sourceId": "5", "longitude": 6}
                {"id": 1, "name": "A2", "change": "changed", "members": {"name": {"after": "A2", "before": "A"}}, "category": "cafe", "latitude": 1.5, "sourceId": "1", "longitude": 2}
                {"id": 3, "name": "C", "change": "changed", "members": {"category": {"after": "bar", "before": "cafe"}, "position": {"after": [1, 4.5], "before": [1, 4]}}, "category": "cafe", "latitude": 1, "sourceId": "3", "longitude": 4}
                {"id": 1, "name": "Anna's", "change": "kept", "members": {"name": {"source": "A2", "correction": "Anna's"}, "position": {"source": [1, 2], "correction": [1.5, 2]}}, "category": "cafe", "latitude": 1.5, "sourceId": "1", "longitude": 2}
                {"id": 4, "name": "D", "change": "removed", "category": "cafe", "latitude": 1, "position": [1, 5], "sourceId": "4", "longitude": 5}
                """#)
    }

    @Test("No number is given again after a crash")
    func numbers() throws {
        // Those of an unlogged table's own columns would be.
        let unlogged = "SELECT count(*) FROM pg_class WHERE relkind = 'S' AND relpersistence <> 'p'"
        #expect(try database.execute(unlogged) == "0")
        #expect(
            try database.execute("SELECT count(*) FROM pg_class WHERE relname = 'location_changes'") == "1")
    }

    @Test("Each value that no place may have is an error that names it, and changes nothing")
    func invalid() async throws {
        _ = try await places("1,A,cafe,1,2,Street 1,11")
        for changes in [
            #"{"name": null}"#, #"{"name": ""}"#, #"{"category": "nothing"}"#, #"{"position": [91, 0]}"#,
            #"{"position": "x"}"#,
            #"{"position": null}"#, #"{"website": "javascript:1"}"#, #"{"importance": 1001}"#,
            #"{"importance": "x"}"#,
            #"{"operating_status": "shut"}"#, #"{"id": 5}"#, #"{"names.": "x"}"#,
            #"{"names.not a tag": "x"}"#,
            #"{"other_names": "x"}"#, #"{"other_names": [1, null]}"#, #"{"version": 1}"#,
            #"{"names.de": {"a": 1}}"#,
            #"{"featured": "maybe"}"#,
        ] {
            await #expect(throws: CommandError.self, "\(changes)") {
                try await edit { try $0.correct(1, changes) }
            }
        }
        await #expect(throws: CommandError.self) { try await edit { try $0.correct(9, #"{"name": "X"}"#) } }
        await #expect(throws: CommandError.self) { try await edit { try $0.correct(1, resetting: ["name"]) } }
        await #expect(throws: CommandError.self) { try await edit { try $0.remove(9) } }
        await #expect(throws: CommandError.self) { try await edit { try $0.restore(1, to: 0) } }
        await #expect(throws: CommandError.self) { try await revert(99) }
        #expect(try show("name, source_values") == "A|")
    }

    @Test(
        "An export has corrections and removals as such: it changes nothing where it came from, and makes the same elsewhere"
    )
    func exported() async throws {
        _ = try await places("1,A,cafe,1,2,Street 1,11", "2,B,cafe,1,3,Street 2,12", "3,C,cafe,1,4,,")
        try await edit {
            try $0.correct(
                1, #"{"name": "B", "address": null, "properties.phone": "99", "properties.x": [1]}"#)
        }
        try await edit { try $0.correct(3, #"{"operating_status": "permanentlyClosed"}"#) }
        try await edit { try $0.remove(2) }
        let other = try MigratedDatabase.empty()
        let content = """
            SELECT source_id, name, address, properties, operating_status, source_values FROM locations ORDER BY source_id
            """
        let removed = "SELECT source_id, name, is_suppressed FROM removed_locations"
        for format in DatasetExport.Format.allCases {
            let file = FileManager.default.temporaryDirectory.appending(path: "poi-\(UUID()).\(format)")
            defer { try? FileManager.default.removeItem(at: file) }
            try Data().write(to: file)
            let handle = try FileHandle(forWritingTo: file)
            let export = DatasetExport(try database.configuration(), dataset: "test", format: format)
            _ = try await offPool { try export.run(write: { try handle.write(contentsOf: $0) }) }
            for (target, counts) in [
                (database, [0, 0, 2, 0]), (other, format == .csv ? [2, 0, 0, 0] : [0, 0, 2, 0]),
            ] {
                let report = try await target.importFile(file.path) { source, options in
                    source.columns = [:]
                    options.removesVanished = true
                }
                #expect(report.counts == counts && report.normalised == [:] && report.rejected == [:])
                #expect(try target.execute(content) == database.execute(content))
                #expect(try target.execute(removed) == database.execute(removed))
            }
        }
        // They stay corrections there, too.
        let text = "1,X,cafe,1,2,Street 1,11"
        #expect(try await places(text, "2,B,cafe,1,3,Street 2,12", "3,C,cafe,1,4,,").suppressed == 1)
        #expect(try show("name, address") == "B|\nC|")
    }
}
