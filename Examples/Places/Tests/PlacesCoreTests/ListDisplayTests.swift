import Foundation
import PlacesCore
import PointsOfInterestClient
import PointsOfInterestTesting
import Testing

@Suite("The display of a list")
struct ListDisplayTests {
    private static let places = [PointOfInterest].fixtures(2)
    private static let offline = LoadError.request(.notHTTP)
    private static let reason = offline.localizedDescription

    @Test(
        "A list without places shows what its phase says",
        arguments: [
            (LoadPhase.idle, ListDisplay.Content.idle, ListDisplay.Footer.none),
            (.loading, .firstLoad, .none),
            (.loadingMore, .firstLoad, .loadingMore),
            (.loaded, .nothing, .end),
            (.failed(offline), .failed(reason), .none),
            (.failedMore(offline), .nothing, .failed(reason)),
        ])
    func withoutPlaces(
        phase: LoadPhase, content: ListDisplay.Content, footer: ListDisplay.Footer
    ) {
        let display = ListDisplay(phase: phase, places: [])
        #expect(display.content == content)
        #expect(display.footer == footer)
        #expect(display.notice == nil)
    }

    @Test(
        "A list with places shows them in every phase",
        arguments: [
            (LoadPhase.idle, false, ListDisplay.Footer.none),
            (.loading, true, .none),
            (.loaded, true, .more),
            (.loaded, false, .end),
            (.loadingMore, true, .loadingMore),
            (.failedMore(offline), true, .failed(reason)),
            (.failed(offline), true, .none),
        ])
    func withPlaces(phase: LoadPhase, hasMore: Bool, footer: ListDisplay.Footer) {
        let display = ListDisplay(phase: phase, places: Self.places, hasMore: hasMore)
        #expect(display.content == .places(Self.places))
        #expect(display.footer == footer)
        #expect((display.notice != nil) == (phase == .failed(Self.offline)))
    }

    @Test("A list of old places says why they are old, and their age")
    func saysTheAge() {
        let now = Date(timeIntervalSince1970: 1_000_000)
        let known = ListDisplay(
            phase: .failed(Self.offline), places: Self.places, receivedAt: now - 300, now: now)
        #expect(known.notice == Self.reason + " These places are from 5 min ago.")
        let unknown = ListDisplay(phase: .failed(Self.offline), places: Self.places, now: now)
        #expect(unknown.notice == Self.reason)
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
        #expect(Set(strings.keys) == Set(ErrorText.allCases.map(\.rawValue)))
        for text in ErrorText.allCases {
            let localizations = try #require(strings[text.rawValue]).localizations
            #expect(localizations["en"]?.stringUnit.value == text.english)
            let german = try #require(localizations["de"]).stringUnit.value
            #expect(german.hasSuffix("."))
        }
    }
}
