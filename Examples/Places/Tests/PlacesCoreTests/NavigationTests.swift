import Foundation
import PlacesCore
import PointsOfInterestTesting
import Testing

@Suite("Where a person is in the app")
struct NavigationTests {
    @Test("is restored, as deep as it was")
    func isRestored() throws {
        var navigation = Navigation()
        navigation.tab = .search
        navigation.listPath = [1]
        navigation.mapPath = [2, 3]
        navigation.searchPath = [4, 5, 6]
        navigation.searchText = "\"café\" 🏛"
        let restored = try #require(Navigation(rawValue: navigation.rawValue))
        #expect(restored == navigation)
        #expect(restored.searchPath == [4, 5, 6])
        #expect(restored.searchText == "\"café\" 🏛")
    }

    @Test(
        "is that of a first launch where the text is of another version",
        arguments: ["", "{}", "x", "{\"tab\":\"a\"}"])
    func isForgotten(text: String) {
        #expect(Navigation(rawValue: text) == nil)
        #expect(Navigation().tab == .list)
    }
}
