import PointsOfInterestServerAPI
import PointsOfInterestAPI
import Testing

@testable import POIService

@Suite("Category names")
struct VocabularyTests {
    private static func target(_ categories: String) -> String {
        "/locations?lat=0&long=0&category=\(categories)"
    }

    @Test("A known category name is accepted without asking the store")
    func known() async throws {
        let store = StubStore()
        store.vocabulary = FilterVocabulary(categories: ["park", "cafe"])
        #expect(try await ServiceSite(store).ask(Self.target("park,cafe")).status == .ok)
        #expect(store.requests.first?.categories == ["cafe", "park"])
        #expect(store.vocabularyCount == 0)
    }

    @Test("A name is refused only after the store was asked, and is taken if it is new")
    func new() async throws {
        let store = StubStore()
        store.vocabulary = FilterVocabulary(categories: ["park"])
        let site = try ServiceSite(store)
        let problem = try await site.problem(Self.target("parc"))
        #expect(problem.code == .unknownCategory)
        #expect(problem.errors.first?.detail.contains("park") == true)
        #expect(store.vocabularyCount == 1)
        #expect(store.requests.isEmpty)

        store.freshVocabulary = FilterVocabulary(categories: ["park", "zoo"])
        #expect(try await site.ask(Self.target("zoo")).status == .ok)
        #expect(store.vocabularyCount == 2)
    }

    @Test("A dataset's name, which may have commas, is refused or accepted in the same way")
    func datasets() async throws {
        let store = StubStore()
        store.vocabulary = FilterVocabulary(categories: [], datasets: ["trees"])
        store.freshVocabulary = FilterVocabulary(categories: [], datasets: ["trees", "Parks, Berlin"])
        let site = try ServiceSite(store)
        let target = "/locations?lat=0&long=0&dataset="
        #expect(try await site.ask(target + "trees").status == .ok)
        #expect(store.vocabularyCount == 0)
        #expect(try await site.ask(target + "trees,Parks%2C%20Berlin").status == .ok)
        #expect(store.requests.last?.datasets == ["Parks, Berlin", "trees"])
        let problem = try await site.problem(target + "tree")
        #expect(problem.code == .unknownDataset)
        #expect(problem.errors.first?.detail == "has no dataset tree; did you mean trees?")
        #expect(store.vocabularyCount == 2)
    }

    @Test("The name of a property is refused or accepted in the same way")
    func properties() async throws {
        let store = StubStore()
        store.vocabulary = FilterVocabulary(
            categories: [], properties: FilterableProperties([("open", .boolean)]))
        store.freshVocabulary = FilterVocabulary(
            categories: [], properties: FilterableProperties([("open", .boolean), ("material", .text)]))
        let site = try ServiceSite(store)
        let target = "/locations?lat=0&long=0&property."
        #expect(try await site.ask(target + "open=true").status == .ok)
        #expect(store.vocabularyCount == 0)
        #expect(try await site.ask(target + "material=steel").status == .ok)
        #expect(store.requests.last?.propertyFilters == [PropertyFilter("material", anyOf: ["steel"])])
        #expect(store.vocabularyCount == 1)
        let problem = try await site.problem(target + "materials=steel")
        #expect(problem.code == .unknownProperty)
        #expect(problem.errors.first?.parameter == "property.materials")
        #expect(problem.errors.first?.detail.hasSuffix("did you mean property.material?") == true)
        #expect(store.vocabularyCount == 2)
        let faults = try await site.problem(target + "open=yes&lat=0").errors
        #expect(Set(faults.map(\.code)) == [.notABoolean, .repeatedParameter])
        #expect(store.vocabularyCount == 2)
    }

    @Test("While no vocabulary is known, the store is asked about every name, and only about names")
    func notKnownYet() async throws {
        let store = StubStore()
        store.freshVocabulary = FilterVocabulary(categories: ["park"])
        let site = try ServiceSite(store)
        #expect(try await site.ask("/locations?lat=0&long=0").status == .ok)
        #expect(store.vocabularyCount == 0)
        #expect(try await site.ask(Self.target("park")).status == .ok)
        #expect(try await site.problem(Self.target("zoo")).code == .unknownCategory)
        #expect(store.vocabularyCount == 2)
    }

    @Test("All faults are reported together, and the store isn't asked about known names")
    func otherFaults() async throws {
        let store = StubStore()
        store.vocabulary = FilterVocabulary(categories: ["park"])
        let site = try ServiceSite(store)
        #expect(try await site.problem("/locations?lat=x&long=0&category=park").code == .notANumber)
        #expect(store.vocabularyCount == 0)
        let problem = try await site.problem("/locations?lat=x&long=0&category=zoo")
        #expect(Set(problem.errors.map(\.code)) == [.notANumber, .unknownCategory])
    }
}
