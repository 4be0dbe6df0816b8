import Foundation
import Locking
import PlaceImport
import PrivateCluster
import Testing

@testable import POIDatabase

/// What an import says of rows that it can't take, and of places that may be there twice.
@Suite("Rejected rows, categories and moved places of an import", .timeLimit(.minutes(5)))
struct ImportFindingsTests {
    @Test("An import rejects and counts rows of unknown categories, or adds the categories")
    func categories() async throws {
        let database = try MigratedDatabase.empty()
        let rows = ["1,A,pub,1,1", "2,B,cafe,1,1", "3,C,pub,1,1", "4,D,fuel,1,1"]
        let rejectedRows = Lock<[UInt8]>([])
        var observers = DatasetImport.Observers()
        observers.onRejected = { bytes in rejectedRows.withLock { $0 += bytes } }
        let rejecting = try await database.importPlaces(rows, observers: observers)
        #expect(rejecting.added == 1)
        #expect(rejecting.rejected == [.unknownCategory: 3])
        #expect(rejecting.unknownCategories == ["pub": 2, "fuel": 1])
        #expect(
            rejectedRows.withLock { String(decoding: $0, as: UTF8.self) } == """
                rejected_line,rejected_reason,rejected_detail,id,name,category,latitude,longitude
                2,unknown-category,pub,1,A,pub,1,1
                4,unknown-category,pub,3,C,pub,1,1
                5,unknown-category,fuel,4,D,fuel,1,1

                """)
        let adding = try await database.importPlaces(rows) { _, options in options.addsCategories = true }
        #expect(adding.addedCategories == ["fuel", "pub"])
        #expect(adding.counts == [3, 0, 1, 0])
    }

    @Test("The vocabulary has the categories that built-in mappings spell out, whose columns may have others")
    func ownCategories() async throws {
        let database = try MigratedDatabase.empty()
        let file = FileManager.default.temporaryDirectory.appending(path: "poi-\(UUID()).csv")
        defer { try? FileManager.default.removeItem(at: file) }
        let text =
            "id,name,amenity,latitude,longitude,kind\n1,A,bank,1,1,cafe\n2,B,bench,1,1,spaceport\n3,C,cafe,1,1,cafe\n"
        try Data(text.utf8).write(to: file)
        let report = try await database.importFile(file.path) { source, _ in source.mapping = "openstreetmap"
        }
        #expect(report.addedCategories.isEmpty)
        #expect(report.counts == [2, 0, 0, 0])
        #expect(report.description.contains("\nleft out: amenity=bench 1"))
        let own = try await database.importFile(file.path) { source, _ in
            source.mapping = "openstreetmap"
            source.columns[.category] = "kind"
        }
        #expect(own.unknownCategories == ["spaceport": 1])
        #expect(own.addedCategories.isEmpty)
    }

    @Test("An import ends if too many rows are rejected, or if it would add hundreds of categories")
    func limits() async throws {
        let database = try MigratedDatabase.empty()
        let rows = (1...501).map { "\($0),A,kind\($0),1,1" }
        await #expect(throws: CommandError.self) {
            try await database.importPlaces(rows) { _, options in options.addsCategories = true }
        }
        await #expect(throws: CommandError.self) {
            try await database.importPlaces(rows) { _, options in options.maximumErrors = 500 }
        }
        // An import of which nothing is left is a mistake, too.
        await #expect(throws: ImportError.self) { try await database.importPlaces(rows) }
        #expect(try database.importedPlaces().isEmpty)
        let report = try await database.importPlaces(rows + ["0,B,cafe,1,1"]) { _, options in
            options.maximumErrors = 501
        }
        #expect(report.rejected == [.unknownCategory: 501])
        #expect(report.added == 1)
    }

    @Test(
        "An import is refused if more than ten rows and more than a tenth of them are rejected, unless that is allowed",
        arguments: [(10, 0, true), (10, 1, true), (11, 97, false), (11, 98, true), (30, 268, false)])
    func rejections(wrong: Int, right: Int, isAllowed: Bool) async throws {
        let database = try MigratedDatabase.empty()
        let rows =
            DatasetImportTests.places(0..<right) + (0..<wrong).map { "x\($0),,cafe,1,1" } + ["y,Y,cafe,1,1"]
        let id = try database.datasetID()
        let bytes = Lock(0)
        var observers = DatasetImport.Observers()
        observers.onRejected = { row in bytes.withLock { $0 += row.count } }
        let dry = try await database.importPlaces(rows) { _, options in options.isDryRun = true }
        #expect((dry.refusal == nil) == isAllowed)
        #expect(dry.added == right + 1)
        do {
            let report = try await database.importPlaces(rows, observers: observers)
            #expect(isAllowed && report.added == right + 1)
        } catch let error as CommandError {
            #expect(!isAllowed)
            #expect(
                error.description
                    == "\(wrong) of \(wrong + right + 1) rows were rejected, more than 10 %: no-name \(wrong). "
                    + "If the others are to be imported, repeat it with --max-errors \(wrong); nothing was changed"
            )
            #expect(dry.refusal.map { "\($0); nothing was changed" } == error.description)
            #expect(try database.datasetID() == id)
            let allowed = try await database.importPlaces(rows) { _, options in options.maximumErrors = wrong
            }
            #expect(allowed.added == right + 1)
        }
        #expect(bytes.withLock { $0 } > 0)
    }

    @Test(
        "A place without an id that has moved by up to a kilometre is named, and only where it is there twice"
    )
    func moved() async throws {
        let database = try MigratedDatabase.empty()
        // Latitudes: 0.009° are 1,000.8 m.
        let before = [
            ",Café X,cafe,10,20", ",Far,cafe,10,20", ",Edge,cafe,10,20", ",Other,cafe,10,20",
            ",Stays,cafe,10,20",
            ",Chain,cafe,10,20", ",Chain,cafe,11,20",
        ]
        let after = [
            ",CAFé X,cafe,10.00126,20", ",Far,cafe,10.0091,20", ",Edge,cafe,10.0089,20", ",Other,park,10,20",
            ",Stays,cafe,10,20", ",Stays,cafe,10.001,20", ",Chain,cafe,10.001,20",
        ]
        func importRows(_ rows: [String], ids: Bool = false, isDryRun: Bool = false, sync: Bool = false)
            async throws
            -> ImportReport
        {
            try await database.importPlaces(rows) { source, options in
                if !ids { source.columns = [:] }
                (options.isDryRun, options.removesVanished) = (isDryRun, sync)
            }
        }
        #expect(try await importRows(before).moved == nil)
        #expect(try await importRows(before).moved == nil)
        for isDryRun in [true, false] {
            let moved = try #require(try await importRows(after, isDryRun: isDryRun).moved)
            #expect(
                moved.description
                    == "2 added places may have moved, and be there twice: Edge by 990 m, CAFé X by 140 m; "
                    + "--sync removes those that the files no longer have, --id COLUMN knows places by their ids"
            )
        }
        // They are there, and not added again.
        #expect(try await importRows(after).moved == nil)
        #expect(try await importRows([",Edge,cafe,10.0081,20"]).moved == nil, "it is there twice already")
        #expect(try await importRows([",Far,cafe,10.001,20"], isDryRun: true, sync: true).moved == nil)
        // An id says that it is another place, or the same one.
        #expect(try await importRows(["1,Other,cafe,10.001,20"], ids: true).moved == nil)
    }
}
