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
        let plan = ImportPlan(ImportCounts(unchanged: 5, selected: 5), allowing: ImportAllowances())
        #expect(plan.steps.isEmpty)
        #expect(plan.refusal == nil)
    }

    @Test("Each count above zero is one statement, and places are removed before others are added")
    func steps() {
        var counts = ImportCounts(added: 1, changed: 1, vanished: 1, selected: 2, newCategories: ["pub"])
        counts.changesDescription = true
        #expect(
            ImportPlan(counts, allowing: ImportAllowances()).steps
                == [.addCategories, .remove, .update, .insert, .describeDataset])
        #expect(ImportPlan(ImportCounts(added: 1), allowing: ImportAllowances()).steps == [.insert])
        #expect(ImportPlan(ImportCounts(changed: 1), allowing: ImportAllowances()).steps == [.update])
    }

    @Test(
        "An import refuses to remove more than one place and more than a twentieth of them",
        arguments: [
            (1, 1, true), (1, 10, true), (2, 10, false), (2, 39, false), (2, 40, true), (50, 1000, true),
            (51, 1000, false), (50, 999, false),
        ])
    func removals(vanished: Int, selected: Int, isAllowed: Bool) throws {
        let counts = ImportCounts(rows: 1, vanished: vanished, selected: selected, present: selected)
        #expect((ImportPlan(counts, allowing: ImportAllowances()).refusal == nil) == isAllowed)
        #expect(ImportPlan(counts, allowing: .everything).refusal == nil)
        let share = (Double(vanished) / Double(selected) * 100).rounded(.up)
        let allowed = try #require(ImportAllowances(option: "removals=\(share)%"))
        #expect(ImportPlan(counts, allowing: allowed).refusal == nil)
    }

    @Test(
        "An import that is rather a mistake is refused, unless just that is allowed; first imports are exempt"
    )
    func mistakes() throws {
        let allowances = ["empty", "names", "positions", "members", "removals=100%"]
        func check(_ counts: ImportCounts, _ allowed: [String], _ text: String) throws {
            let refusal = ImportPlan(counts, allowing: ImportAllowances()).refusal
            #expect(refusal?.contains(text) == true)
            for allowance in allowances where !allowed.contains(allowance) {
                let other = try #require(ImportAllowances(option: allowance))
                #expect(ImportPlan(counts, allowing: other).refusal != nil)
            }
            let option = allowed.joined(separator: ",")
            let enough = try #require(ImportAllowances(option: option))
            #expect(ImportPlan(counts, allowing: enough).refusal == nil)
            #expect(
                refusal?.contains("--allow " + (allowed.count > 1 ? "removals=100%,empty" : option)) == true)
            var first = counts
            first.present = 0
            #expect(ImportPlan(first, allowing: ImportAllowances()).refusal == nil)
        }
        try check(
            ImportCounts(rows: 0, vanished: 1, selected: 1, present: 1), ["removals=100%", "empty"],
            "no places")
        for (member, allowed) in [
            ("name", "names"), ("position", "positions"), ("address", "members"), ("properties", "members"),
        ] {
            var counts = ImportCounts(rows: 60, changed: 21, present: 60, changedMembers: [(member, 20)])
            #expect(ImportPlan(counts, allowing: ImportAllowances()).refusal == nil)
            counts.changedMembers = [(member, 21)]
            try check(counts, [allowed], "21 of 60 places would get another \(member)")
        }
        // A few may always change.
        let few = ImportCounts(rows: 10, changed: 10, present: 10, changedMembers: [("name", 10)])
        #expect(ImportPlan(few, allowing: ImportAllowances()).refusal == nil)
        try check(ImportCounts(rows: 20, present: 20, atOrigin: 3), ["positions"], "at 0, 0")
        #expect(
            ImportPlan(ImportCounts(rows: 20, present: 20, atOrigin: 2), allowing: .init()).refusal == nil)
    }
}
