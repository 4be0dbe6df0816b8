import Foundation
import PointsOfInterestClient
import Testing

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
            #expect(german.contains("%@") == text.english.contains("%@"))
        }
    }
}
