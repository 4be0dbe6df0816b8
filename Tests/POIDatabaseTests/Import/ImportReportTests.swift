import PlaceImport
import Testing

@testable import POIDatabase

@Suite("Reports of an import")
struct ImportReportTests {
    @Test("A report has each number with its name, and leaves out numbers that are zero")
    func report() {
        var report = ImportReport()
        report.read = 9
        report.added = 4
        #expect(
            report.description == """
                read 9, outside the selection 0, rejected 0, duplicates 0
                added 4, changed 0, unchanged 0, removed 0
                """)
        report.rejected = [.unknownCategory: 3, .noName: 1]
        report.unknownCategories = ["pub": 1, "fuel": 2, "bank": 1]
        report.normalised = [.trimmed: 2]
        #expect(
            report.description == """
                read 9, outside the selection 0, rejected 4, duplicates 0
                added 4, changed 0, unchanged 0, removed 0
                normalised: trimmed 2
                rejected: no-name 1, unknown-category 3
                unknown categories: fuel 2, bank 1, pub 1
                to add these categories: --add-categories; to give all places one: --set category=NAME
                """)
    }

    @Test("While it reads, the progress has a bar, the rate and the time left, as far as these are known")
    func progress() {
        var progress = ImportProgress()
        (progress.rows, progress.bytes) = (3000, 250)
        #expect(progress.text(after: .milliseconds(500)) == "3000 rows")
        #expect(progress.text(after: .seconds(2)) == "3000 rows, 1500 rows/s")
        progress.totalBytes = 1000
        #expect(
            progress.text(after: .seconds(2))
                == "[#######-----------------------] 25 %  3000 rows, 1500 rows/s, 6 s left")
    }

    @Test("Each step of PostgreSQL's part has a name with its counts, and the seconds that it has lasted")
    func steps() {
        let texts: [(ImportProgress.Phase, String)] = [
            (.waiting, "waiting for another import"), (.counting, "counting places"),
            (.comparing, "comparing 9 rows with the database"),
            (.removing(3), "removing 3 places"), (.changing(4), "changing 4 places"),
            (.adding(5), "adding 5 places"), (.committing, "committing"), (.vacuuming, "vacuuming"),
        ]
        for (phase, text) in texts {
            let progress = ImportProgress(phase: phase, rows: 9)
            #expect(progress.text(after: .milliseconds(999)) == text)
            #expect(progress.text(after: .milliseconds(7900)) == text + ", 7 s")
        }
    }
}

@Suite("Decisions of an import from its counts")
struct ImportPlanTests {
    @Test("An import without changes runs no statement")
    func nothing() {
        let plan = ImportPlan(ImportCounts(unchanged: 5, selected: 5), isForced: false)
        #expect(plan.steps.isEmpty)
        #expect(plan.refusal == nil)
    }

    @Test("Each count above zero is one statement, and places are removed before others are added")
    func steps() {
        var counts = ImportCounts(added: 1, changed: 1, vanished: 1, selected: 2, newCategories: 1)
        counts.changesDescription = true
        #expect(
            ImportPlan(counts, isForced: false).steps
                == [.addCategories, .remove, .update, .insert, .describeDataset])
        #expect(ImportPlan(ImportCounts(added: 1), isForced: false).steps == [.insert])
        #expect(ImportPlan(ImportCounts(changed: 1), isForced: false).steps == [.update])
    }

    @Test(
        "An import refuses to remove more than ten places and more than a twentieth of them",
        arguments: [
            (10, 10, true), (11, 11, false), (10, 300, true), (11, 200, false), (11, 220, true),
            (50, 1000, true), (51, 1000, false), (50, 999, false),
        ])
    func removals(vanished: Int, selected: Int, isAllowed: Bool) {
        let counts = ImportCounts(vanished: vanished, selected: selected)
        #expect((ImportPlan(counts, isForced: false).refusal == nil) == isAllowed)
        #expect(ImportPlan(counts, isForced: true).refusal == nil)
    }
}
