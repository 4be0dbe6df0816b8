import HTTPServer
import Randomness
import Testing

@Suite("Choice of a media type")
struct MediaTypeOfferTests {
    private static let offer = MediaTypeOffer(["application/json", "application/geo+json"])

    private static func choice(_ fields: String...) -> Int? {
        var headers = HTTPHeaders()
        for field in fields { headers.add(.accept, field) }
        return offer.choice(for: headers)
    }

    @Test("Without an Accept the preferred media type is chosen")
    func nothingAsked() {
        #expect(Self.offer.choice(for: HTTPHeaders()) == 0)
    }

    @Test(
        "The media type with the highest weight wins, by its most specific range",
        arguments: [
            // A media type matches its name or a wildcard, in any case. An empty field asks for nothing.
            ("", 0), (" , ,", 0), ("application/json", 0), ("application/geo+json", 1),
            ("APPLICATION/Geo+JSON", 1), ("*/*", 0), ("application/*", 0), ("Application/*;q=0.1", 0),
            ("text/html, application/geo+json", 1), ("application/json;charset=utf-8", 0),
            ("application/geo+json ; q=1", 1),
            // Of equal ones the first of the offer wins.
            ("application/json;q=0.5, application/geo+json", 1),
            ("application/geo+json, application/json", 0),
            ("application/geo+json;q=0.123,application/json;q=0.122", 1),
            ("application/json;q=0.9, */*", 1), ("application/json;q=0.9, application/*;q=0.95", 1),
            // The most specific media range decides, wherever it is in the list.
            ("*/*, application/json;q=0", 1), ("application/json;q=0, */*", 1),
            ("application/*;q=0, application/geo+json", 1), ("application/json, */*;q=0", 0),
            ("application/json;v=1;q=0, application/json", 0),
            ("application/json, application/json;v=1;q=0", 0), ("application/*;q=0.2, */*;q=0.9", 0),
            // None of the media types is accepted.
            ("text/html", nil), ("application/json;q=0, application/geo+json;q=0", nil), ("*/*;q=0", nil),
            ("application/xml", nil), ("text/*", nil), ("application/*;q=0.000", nil),
            ("application/jsonp", nil), ("pplication/json", nil), ("*/json", nil),
            // Invalid elements are ignored, and so is a field with only such elements.
            ("application/json;q=abc, application/geo+json", 1), ("application/json;q=2", 0), ("json", 0),
            ("/", 0), ("application/", 0), ("/json, application/geo+json", 1), (";q=1", 0), ("\"", 0),
            ("application/json;q=-1,application/geo+json;q=0.1", 1), ("application/json;q=1.5,text/x", nil),
            ("application/json;q=0.33333", 0), ("a b/c", 0), ("application/json;q=", 0),
        ] as [(String, Int?)])
    func chooses(accept: String, index: Int?) {
        #expect(Self.choice(accept) == index)
    }

    @Test("A quoted comma or semicolon in Accept is no separator")
    func quoted() {
        #expect(Self.choice(#"text/x;a="b, application/json", application/geo+json"#) == 1)
        #expect(Self.choice(#"application/geo+json;a="\";q=0", text/x"#) == 1)
    }

    @Test("Several Accept fields count as one")
    func severalFields() {
        #expect(Self.choice("application/json;q=0.5", "application/geo+json") == 1)
        #expect(Self.choice("", "application/geo+json") == 1)
    }

    @Test("Any bytes in Accept are read without a crash")
    func garbage() {
        var random = SeededGenerator()
        let alphabet = Array("application/json*geo+;,q=01.\"\\ \t é".unicodeScalars)
        for _ in 0..<5000 {
            var text = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 0...40, using: &random) {
                text.append(alphabet[Int.random(in: alphabet.indices, using: &random)])
            }
            let index = Self.choice(String(text))
            #expect(index == nil || index == 0 || index == 1, "POI_TEST_SEED=\(random.seed)")
        }
    }
}

@Suite("Entity tags")
struct EntityTagTests {
    private static let tag = EntityTag(hash: 0x0123_4567_89AB_CDEF)

    private static func names(_ fields: [String], countsAny: Bool = true) -> Bool {
        var headers = HTTPHeaders()
        for field in fields { headers.add(.ifNoneMatch, field) }
        return headers.ifNoneMatchNames(tag, countsAny: countsAny)
    }

    @Test("A tag is weak, and differs for another hash")
    func form() {
        let value = Self.tag.fieldValue
        #expect(value.hasPrefix("W/\"") && value.hasSuffix("\"") && value.utf8.count == 15)
        for bit in 0..<64 { #expect(EntityTag(hash: 1 << bit) != EntityTag(hash: 0)) }
    }

    @Test(
        "A different tag doesn't match, and an invalid list matches nothing",
        arguments: [
            "W/\"a\"", ",", "W/", "\"", "W/\"", "**", "W /\"a\"",
        ])
    func notFound(field: String) {
        #expect(!Self.names([field]))
    }

    @Test("A list of tags is read up to its first invalid tag")
    func brokenList() {
        let weak = Self.tag.fieldValue
        #expect(Self.names(["\(weak), x"]))
        #expect(!Self.names(["x, \(weak)"]))
        #expect(!Self.names(["\"open, \(weak.dropLast())"]))
        #expect(!Self.names([String(weak.dropLast())]))
        #expect(!Self.names([String(weak.dropFirst(3).dropLast())]))
    }

    @Test("A star matches any response, also one without a tag")
    func any() {
        #expect(Self.names(["*"]))
        #expect(!Self.names(["*"], countsAny: false))
        #expect((["If-None-Match": "*"] as HTTPHeaders).ifNoneMatchNames(nil))
        #expect(!(["If-None-Match": "\"a\""] as HTTPHeaders).ifNoneMatchNames(nil))
        #expect(!HTTPHeaders().ifNoneMatchNames(Self.tag))
    }
}
