import HTTPServer
import Testing

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
