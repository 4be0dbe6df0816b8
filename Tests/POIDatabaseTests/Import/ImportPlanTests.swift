import Testing

@testable import POIDatabase

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
