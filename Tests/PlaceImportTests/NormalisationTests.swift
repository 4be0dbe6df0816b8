import Foundation
import PlaceImport
import Randomness
import Testing

@Suite("Normalised fields")
struct NormalisationTests {
    private func place(address: String = "", website: String = "") throws -> ReadResult {
        try read(csv("A,cafe,1,2,a,\"\(address)\",\"\(website)\","))
    }

    @Test(
        "Invisible ends are trimmed, control characters become a space, and an empty text becomes nil",
        arguments: [
            ("  a b ", "a b", [Normalisation.trimmed: 1]), ("\u{feff}\u{200b}é\u{3000}", "é", [.trimmed: 1]),
            ("a\tb", "a b", [.controlCharacters: 1]),
            ("\na\u{2028}b\u{85}", "a b", [.trimmed: 1, .controlCharacters: 1]),
            ("a\u{200d}b", "a\u{200d}b", [:]), (" \u{a0}", nil, [.trimmed: 1]), ("", nil, [:]),
            (String(repeating: "é", count: 300), String(repeating: "é", count: 300), [:]),
            (String(repeating: "é", count: 301), nil, [.addressDropped: 1]),
        ] as [(String, String?, [Normalisation: Int])])
    func text(given: String, address: String?, counts: [Normalisation: Int]) throws {
        let result = try place(address: given)
        #expect(result.places.map(\.address) == [address])
        #expect(result.progress.normalised == counts)
    }

    @Test(
        "A website becomes a URL that the table's check accepts, or is dropped",
        arguments: [
            ("http://a.example/x?y=(z)#[1]", "http://a.example/x?y=(z)#[1]", []),
            ("www.a.example", "https://www.a.example", [Normalisation.websiteScheme]),
            ("HTTPS://A.example", "https://A.example", [.websiteScheme]),
            ("https://bücher.example/straße", "https://xn--bcher-kva.example/stra%C3%9Fe", [.websiteEncoded]),
            ("BÜCHER.example", "https://xn--bcher-kva.example", [.websiteScheme, .websiteEncoded]),
            ("http://bu\u{308}cher.example", "http://xn--bcher-kva.example", [.websiteEncoded]),
            ("https://例え。テスト", "https://xn--r8jz45g.xn--zckzah", [.websiteEncoded]),
            ("https://a.\u{301}é.example", "https://a.xn--9ca58h.example", [.websiteEncoded]),
            ("https://a.example/a b|c", "https://a.example/a%20b%7Cc", [.websiteEncoded]),
            ("https://a.example:8080?q", "https://a.example:8080?q", []),
            ("javascript:alert(1)", nil, [.websiteDropped]), ("ftp://a.example", nil, [.websiteDropped]),
            ("https://user@a.example", nil, [.websiteDropped]),
            ("https://-a.example", nil, [.websiteDropped]),
            ("https://a.example:123456", nil, [.websiteDropped]), ("https://", nil, [.websiteDropped]),
            ("mail us at a@b", nil, [.websiteDropped]),
            ("https://a.example/" + String(repeating: "é", count: 400), nil, [.websiteDropped]),
        ] as [(String, String?, [Normalisation])])
    func website(given: String, url: String?, kinds: [Normalisation]) throws {
        let result = try place(website: given)
        #expect(result.places.map(\.website) == [url])
        #expect(Set(result.progress.normalised.keys) == Set(kinds))
    }

    @Test("A normalised text passes the table's checks, and a second normalisation leaves it as it is")
    func checks() throws {
        var generator = SeededGenerator()
        let alphabet = Array(
            (" aé1ß日\u{1f600}-.:/?#@%<htps_\u{301}[^~|\u{1}\t\u{7f}\u{9f}\u{2028}"
                + "\u{200b}\u{200f}\u{2060}\u{3000}\u{feff}").unicodeScalars)
        let texts = (0..<4000).map { number in
            let scalars = (0..<Int.random(in: 0..<12, using: &generator)).compactMap { _ in
                alphabet.randomElement(using: &generator)
            }
            return ["", "http://", "https://a", "a."][number % 4] + String(String.UnicodeScalarView(scalars))
        }
        let invisible = #"\x{20}\x{a0}\x{1680}\x{2000}-\x{200f}\x{202f}\x{205f}\x{2060}\x{3000}\x{feff}"#
        let controls = #"\x{0}-\x{1f}\x{7f}-\x{9f}\x{2028}\x{2029}"#
        let line = try NSRegularExpression(
            pattern: "\\A(?![\(invisible)])[^\(controls)]+(?<![\(invisible)])\\z")
        let label = "[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?"
        let url = try NSRegularExpression(
            pattern: #"\Ahttps?://(\#(label)\.)*\#(label)(:[0-9]{1,5})?([/?#][\]!#-;=?-Z_a-z~\[]*)?\z"#)
        func matches(_ pattern: NSRegularExpression, _ text: String) -> Bool {
            let all = NSRange(location: 0, length: text.utf16.count)
            return pattern.firstMatch(in: text, range: all) != nil
        }
        let rows = texts.map { "A,cafe,1,2,,\"\($0)\",\"\($0)\"," }.joined(separator: "\n")
        let places = try read(csv(rows)).places
        #expect(places.count == texts.count)
        for (place, text) in zip(places, texts) {
            if let address = place.address { #expect(matches(line, address), "\(text.debugDescription)") }
            if let website = place.website { #expect(matches(url, website), "\(text.debugDescription)") }
            // A text that is right already is taken as it is.
            if matches(url, text) { #expect(place.website == text) }
            if matches(line, text) { #expect(place.address == text) }
        }
    }
}
