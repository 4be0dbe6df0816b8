import Foundation
import PlacesCore
import PointsOfInterestTesting
import Testing

@Suite("The app's navigation")
struct NavigationTests {
    @Test("The open screens are restored, as deep as they were")
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
        "The app begins as at a first launch if the stored navigation is of another version",
        arguments: ["", "{}", "x", "{\"tab\":\"a\"}"])
    func isForgotten(text: String) {
        #expect(Navigation(rawValue: text) == nil)
        #expect(Navigation().tab == .list)
    }
}
