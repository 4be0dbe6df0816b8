import Foundation
import Locking
import Loopback
import PlaceImport
import PrivateCluster
import Testing

@testable import POIDatabase

/// An import leaves out what a reviewer refuses of its report. `Tests/System/import/test_history_model.py` has the same at random.
@Suite("Refused changes", .timeLimit(.minutes(5)))
struct RefusedChangesTests {
    private let database: TestDatabase

    init() throws { database = try MigratedDatabase.empty() }

    private static let header = #"{"import": {"dataset": "test"}}"#

    /// Imports rows of CSV without what these lines of a report say; returns what it says, and its own lines behind the first.
    private func places(
        _ rows: String..., except lines: [String] = [], header: String = "id,name,category,lat,lon,address",
        _ change: (inout ImportOptions) -> Void = { _ in }
    ) async throws -> (report: ImportReport, lines: [String]) {
        let folder = FileManager.default.temporaryDirectory.appending(path: "poi-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (file, refused) = (folder.appending(path: "a.csv"), folder.appending(path: "refused"))
        try Data(([header] + rows).joined(separator: "\n").utf8).write(to: file)
        try Data(([Self.header] + lines).joined(separator: "\n").utf8).write(to: refused)
        let written = Lock("")
        var observers = DatasetImport.Observers()
        observers.onChange = { line in written.withLock { $0 += String(decoding: line, as: UTF8.self) } }
        let refusals = try RefusedChanges(path: refused.path, of: "test")
        var isDryRun = false
        let report = try await database.importFile(file.path, observers: observers) { source, options in
            source.columns = [:]
            options.refused = refusals
            options.removesVanished = true
            change(&options)
            isDryRun = options.isDryRun
        }
        let all = written.withLock { $0 }.split(separator: "\n").map(String.init)
        #expect(
            all.first?.replacing(folder.path + "/", with: "")
                == #"{"import":{"dataset":"test","files":["a.csv"],"isDryRun":\#(isDryRun),"isSync":true}}"#)
        return (report, Array(all.dropFirst()))
    }

    private func refusal(_ sourceID: String, _ change: String) -> String {
        #"{"sourceId": "\#(sourceID)", "change": "\#(change)", "name": {"ignored": [1]}}"#
    }

    private func show(_ columns: String = "source_id, name, address, version") throws -> String {
        try database.execute("SELECT \(columns) FROM locations ORDER BY source_id")
    }

    private func edit(_ body: @escaping @Sendable (CommandEditor) throws -> Void) async throws {
        let editor = CommandEditor(try database.configuration(), as: "anna")
        try await offPool { try body(editor) }
    }

    private static let refusedLines = #"""
        {"id": 1, "name": "Anna's", "change": "refused", "refused": "changed", "category": "cafe", "latitude": 1, "sourceId": "1", "longitude": 2}
        {"id": 2, "name": "B", "change": "refused", "refused": "changed", "category": "cafe", "latitude": 1, "sourceId": "2", "longitude": 3}
        {"id": 3, "name": "C", "change": "refused", "refused": "removed", "category": "cafe", "latitude": 1, "sourceId": "3", "longitude": 4}
        {"name": "F", "change": "refused", "refused": "added", "category": "pub", "latitude": 1, "sourceId": "6", "longitude": 7}
        """#

    @Test("What is refused isn't done: the lines of a dry run's report, and all else as without them")
    func refused() async throws {
        _ = try await places(
            "1,A,cafe,1,2,S 1", "2,B,cafe,1,3,S 2", "3,C,cafe,1,4,", "4,D,cafe,1,5,", "5,E,cafe,1,6,")
        try await edit { try $0.correct(1, #"{"name": "Anna's"}"#) }
        let before = try show("source_id, name, address, source_values, version")
        let rows = [
            "1,A2,cafe,1,2,T 1", "2,B2,cafe,1.5,3,T 2", "5,E2,cafe,1,6,", "6,F,pub,1,7,", "7,G,cafe,1,8,",
        ]
        func run(except lines: [String], isDryRun: Bool) async throws -> (
            report: ImportReport, lines: [String]
        ) {
            try await places(rows[0], rows[1], rows[2], rows[3], rows[4], except: lines) {
                ($0.isDryRun, $0.addsCategories) = (isDryRun, true)
            }
        }
        let (reviewed, lines) = try await run(except: [], isDryRun: true)
        #expect(reviewed.counts == [2, 3, 0, 2] && reviewed.addedCategories == ["pub"])
        // A correction that is kept is nothing that the import does.
        let shown = lines.filter { !$0.contains(#""kept""#) }
        func of(_ id: Int) -> [String] { shown.filter { $0.contains(#""sourceId": "\#(id)""#) } }
        let refused = [1, 2, 3, 6].flatMap(of)
        #expect(refused.count == 4)
        for isDryRun in [true, false] {
            let (report, lines) = try await run(except: refused, isDryRun: isDryRun)
            #expect(report.counts == [1, 1, 0, 1] && report.kept == 0 && report.addedCategories == [])
            #expect(report.refused == ImportReport.Refused(count: 4))
            #expect(report.description.contains("added 1, changed 1, unchanged 0, removed 1, refused 4\n"))
            #expect(lines.prefix(3) == [of(7)[0], of(5)[0], of(4)[0]])
            #expect(lines.dropFirst(3).joined(separator: "\n") == Self.refusedLines)
        }
        let after = try show("source_id, name, address, source_values, version").split(separator: "\n")
        #expect(after.prefix(3) == before.split(separator: "\n").prefix(3))
        #expect(after.dropFirst(3).map { $0.prefix(4) } == ["5|E2", "7|G|"])
        #expect(try database.execute("SELECT count(*) FROM categories WHERE name = 'pub'") == "0")
        // Nothing of it is remembered.
        #expect(try await run(except: [], isDryRun: false).report.counts == [1, 2, 2, 1])
        #expect(try show("source_id, name, address") == "1|Anna's|T 1\n2|B2|T 2\n5|E2|\n6|F|\n7|G|")
    }

    @Test(
        "A refusal of something else than would be done now is counted and named, and its place is left as it is"
    )
    func notApplicable() async throws {
        _ = try await places(
            "1,A,cafe,1,2,", "2,B,cafe,1,3,", "3,C,cafe,1,4,", "4,D,cafe,1,5,", "8,H,cafe,1,9,")
        try await edit { try $0.remove(4) }
        let before = try show()
        let (report, lines) = try await places(
            "1,A2,cafe,1,2,", "3,C,cafe,1,4,", "4,D,cafe,1,5,", "5,,cafe,1,6,", "6,F,cafe,1,7,",
            "8,H2,cafe,1,9,",
            except: [
                refusal("1", "added"), refusal("2", "changed"), refusal("3", "changed"),
                refusal("4", "added"),
                refusal("5", "removed"), refusal("6", "removed"), refusal("7", "removed"),
                refusal("8", "added"),
                refusal("8", "changed"), refusal("8", "changed"), refusal("é", "added"),
                refusal("e\u{301}", "added"),
            ])
        #expect(report.counts == [0, 0, 0, 0] && report.suppressed == 0 && report.rejected == [.noName: 1])
        #expect(report.refused.count == 1 && report.refused.notApplicableCount == 10)
        #expect(
            report.description.contains(
                "refused, but not applicable 10: 1 (added, now changed), 2 (changed, now removed), 3 (changed, now nothing), "
                    + "4 (added, now nothing), 5 (removed, now nothing) and 5 more; these places are left as they are, too\n"
            ))
        #expect(lines.map { $0.contains(#""change": "refused""#) } == [true, true, true, true])
        #expect(try show() == before)
        let (first, _) = try await places(
            "1,A,cafe,1,2,", "2,B,cafe,1,3,", "3,C,cafe,1,4,", "8,H,cafe,1,9,",
            except: [refusal("3", "added")])
        #expect(first.counts == [0, 0, 3, 0])
        #expect(
            first.description.contains(
                "\nrefused, but not applicable 1: 3 (added, now nothing); these places are left as they are, too"
            ))
    }

    @Test("What --sync would remove is counted without what is refused, within the selection alone")
    func sync() async throws {
        let rows = DatasetImportTests.places(1...20)
        _ = try await database.importPlaces(rows)
        func refused(_ ids: ClosedRange<Int>, _ change: String = "removed") throws -> RefusedChanges {
            let file = FileManager.default.temporaryDirectory.appending(path: "poi-\(UUID())")
            defer { try? FileManager.default.removeItem(at: file) }
            let lines = [Self.header] + ids.map { refusal("\($0)", change) }
            try Data(lines.joined(separator: "\n").utf8).write(to: file)
            return try RefusedChanges(path: file.path, of: "test")
        }
        func sync(_ rows: some Sequence<String>, _ refused: RefusedChanges, categories: Set<String> = [])
            async throws -> ImportReport
        {
            try await database.importPlaces(Array(rows)) { source, options in
                source.categories = categories
                (options.removesVanished, options.allowed) = (true, ImportAllowances())
                options.refused = refused
            }
        }
        await #expect(throws: CommandError.self) { try await sync(rows.prefix(16), refused(17...18)) }
        // A file whose only row is refused has places; one without rows has none.
        #expect(try await sync(rows.prefix(1), refused(2...20)).counts == [0, 0, 1, 0])
        await #expect(throws: CommandError.self) { try await sync([], refused(2...20)) }
        let (renamed, others) = (
            DatasetImportTests.places(1...1, named: "Other"), try refused(1...19, "changed")
        )
        let only = try await sync(renamed, others)
        #expect(
            only.counts == [0, 0, 0, 1] && only.refused.count == 1 && only.refused.notApplicableCount == 18)
        #expect(try database.execute("SELECT name FROM locations WHERE source_id = '1'") == "Place 1")
        // Parks are the odd ones.
        let parks = try await sync(
            rows.prefix(16).filter { $0.contains("park") }, refused(16...19), categories: ["park"])
        #expect(parks.counts == [0, 0, 8, 0])
        #expect(parks.refused.count == 2 && parks.refused.notApplicableCount == 2)
        #expect(try await sync(rows.prefix(17), refused(19...19)).counts == [0, 0, 17, 1])
    }

    @Test("What a file says people have removed is in the report, and can be refused")
    func suppressed() async throws {
        let header = "id,name,category,lat,lon,suppressed"
        _ = try await places("1,A,cafe,1,2,", "2,B,cafe,1,3,", header: header)
        let line =
            #"{"id": 1, "name": "A", "change": "removed", "category": "cafe", "latitude": 1, "position": [1, 2], "#
            + #""sourceId": "1", "longitude": 2}"#
        let rows = ("1,A,cafe,1,2,yes", "2,B,cafe,1,3,yes")
        let (_, lines) = try await places(rows.0, rows.1, header: header) { $0.isDryRun = true }
        #expect(lines.count == 2 && lines.first == line)
        let (report, _) = try await places(rows.0, rows.1, except: [line], header: header)
        #expect(report.newlySuppressed == 1 && report.refused.count == 1)
        #expect(try show("source_id, name") == "1|A")
    }

    @Test("A place without an id has the same sourceId in each report, by which its change can be refused")
    func withoutID() async throws {
        let header = "name,category,lat,lon"
        let (_, first) = try await places("A,cafe,1.5,2", header: header) { $0.isDryRun = true }
        let (report, lines) = try await places("A,cafe,1.50,2.0", "B,cafe,1,3", except: first, header: header)
        #expect(report.counts == [1, 0, 0, 0] && report.refused.count == 1 && lines.count == 2)
        let sourceID = try #require(first[0].split(separator: #""sourceId": ""#).last?.prefix(16))
        #expect(first[0].contains(#""latitude": 1.5"#) && lines[1].contains(sourceID))
        #expect(try show("name") == "B")
    }
}
