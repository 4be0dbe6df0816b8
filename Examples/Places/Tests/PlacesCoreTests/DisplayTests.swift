import Foundation
import PlacesCore
import PointsOfInterestClient
import PointsOfInterestEditing
import PointsOfInterestTesting
import Testing

@Suite("What a screen shows")
struct DisplayTests {
    private typealias PlacesDisplay = Display<[PointOfInterest]>

    private static let places = [PointOfInterest].fixtures(2)
    private static let offline = LoadError.request(.notHTTP)
    private static let reason = offline.localizedDescription

    @Test(
        "A list without places shows what its phase says",
        arguments: [
            (LoadPhase.idle, Display<[PointOfInterest]>.Content.idle, ListFooter.none),
            (.loading, .firstLoad, .none),
            (.loadingMore, .firstLoad, .loadingMore),
            (.loaded, .nothing("Nothing"), .end),
            (.failed(offline), .failed(reason), .none),
            (.failedMore(offline), .nothing("Nothing"), .failed(reason)),
        ])
    func withoutPlaces(
        phase: LoadPhase, content: Display<[PointOfInterest]>.Content, footer: ListFooter
    ) {
        let display = Self.display(phase, places: nil)
        #expect(display.content == content)
        #expect(display.footer == footer)
        #expect(display.notice == nil)
    }

    @Test("Favourites that aren't there stay, and it is said")
    @MainActor
    func withoutSomeFavorites() async {
        let missing = "Some of your favourites are not there at the moment."
        let favorites = FavoritePlaces(ids: [1, 2], placeFinder: MockPlaceFinder([]))
        await favorites.load()
        #expect(PlacesDisplay(favorites.state).content == .nothing(missing))
        favorites.add(.fixture(id: 3))
        #expect(PlacesDisplay(favorites.state).content == .value([.fixture(id: 3)]))
        #expect(PlacesDisplay(favorites.state).notice == missing)
        favorites.remove(id: 1)
        favorites.remove(id: 2)
        #expect(PlacesDisplay(favorites.state).notice == nil)
    }

    @Test(
        "A list with places shows them in every phase",
        arguments: [
            (LoadPhase.idle, false, ListFooter.none),
            (.loading, true, .none),
            (.loaded, true, .more),
            (.loaded, false, .end),
            (.loadingMore, true, .loadingMore),
            (.failedMore(offline), true, .failed(reason)),
            (.failed(offline), true, .none),
        ])
    func withPlaces(phase: LoadPhase, hasMore: Bool, footer: ListFooter) {
        let display = Self.display(phase, places: Self.places, hasMore: hasMore)
        #expect(display.content == .value(Self.places))
        #expect(display.footer == footer)
        #expect((display.notice != nil) == (phase == .failed(Self.offline)))
    }

    @Test(
        "Places of an earlier response have their age, those that could not be loaded anew also the reason",
        arguments: [
            (LoadPhase.loading, true, true, String?("As of 5 min ago.")),
            (.idle, true, true, "As of 5 min ago."),
            (.loading, false, true, nil),
            (.loading, true, false, nil),
            (.loaded, false, true, nil),
            (.failed(offline), true, true, reason + " As of 5 min ago."),
            (.failed(offline), false, true, reason + " As of 5 min ago."),
            (.failed(offline), true, false, reason),
        ])
    func saysTheAge(phase: LoadPhase, isKept: Bool, isAgeKnown: Bool, notice: String?) {
        let now = Date(timeIntervalSince1970: 1_000_000)
        let display = PlacesDisplay(
            Self.places, phase: phase, isKept: isKept, receivedAt: isAgeKnown ? now - 300 : nil,
            nothing: "Nothing", now: now)
        #expect(display.notice == notice)
    }

    @Test("A screen without pages has no end", arguments: [LoadPhase.loaded, .loading, .failed(offline)])
    func hasNoPages(phase: LoadPhase) {
        #expect(PlacesDisplay(Self.places, phase: phase, nothing: "Nothing").footer == .none)
    }

    private static func display(
        _ phase: LoadPhase, places: [PointOfInterest]?, hasMore: Bool = false
    ) -> PlacesDisplay {
        PlacesDisplay(places, phase: phase, hasMore: hasMore, nothing: "Nothing")
    }
}

@Suite("The app's wording")
struct WordingTests {
    @Test(
        "A distance is written in the unit that suits it",
        arguments: [
            (0.0, "0 m"), (55.4, "55 m"), (999.4, "999 m"), (999.6, "1.0 km"), (12_345, "12.3 km"),
            (20_003_931.5, "20,003.9 km"),
        ])
    func distance(meters: Double, text: String) {
        #expect(Wording.distance(meters, locale: Locale(identifier: "en_US")) == text)
    }

    @Test("Numbers are written as in the person's region")
    func writesNumbersOfTheRegion() {
        #expect(Wording.distance(12_345, locale: Locale(identifier: "de_DE")) == "12,3 km")
    }

    @Test(
        "An age is written in the largest unit that fits",
        arguments: [
            (-60.0, "just now"), (0, "just now"), (59, "just now"), (60, "1 min ago"), (3_599, "59 min ago"),
            (3_600, "1 h ago"), (86_399, "23 h ago"), (86_400, "1 d ago"), (864_000, "10 d ago"),
        ])
    func age(seconds: Double, text: String) {
        let now = Date(timeIntervalSince1970: 1_000_000)
        #expect(Wording.age(of: now - seconds, at: now) == text)
    }
}

/// The file that Xcode makes the translations of.
private struct StringCatalog: Decodable {
    struct Entry: Decodable {
        let localizations: [String: Localization]
    }

    struct Localization: Decodable {
        let stringUnit: Unit
    }

    struct Unit: Decodable {
        let value: String
    }

    let strings: [String: Entry]

    static func read() throws -> StringCatalog {
        let file = URL(filePath: #filePath).appending(
            path: "../../../App/Resources/PointsOfInterest.xcstrings")
        return try JSONDecoder().decode(StringCatalog.self, from: Data(contentsOf: file.standardized))
    }
}

@Suite("The string catalogue")
struct StringCatalogTests {
    @Test("The catalogue has each of the client's texts in English and in German, and no other")
    func texts() throws {
        let strings = try StringCatalog.read().strings
        let texts =
            ErrorText.allCases.map { ($0.rawValue, $0.english) }
            + EditingErrorText.allCases.map { ($0.rawValue, $0.english) }
        #expect(Set(strings.keys) == Set(texts.map(\.0)))
        for (key, english) in texts {
            let localizations = try #require(strings[key]).localizations
            #expect(localizations["en"]?.stringUnit.value == english)
            let german = try #require(localizations["de"]).stringUnit.value
            #expect(german.hasSuffix("."))
        }
    }
}
