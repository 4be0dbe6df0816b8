import Testing

@testable import PointsOfInterestServerAPI

@Suite("A parameter pattern")
struct ParameterPatternTests {
    @Test("matches a name as a whole, or its beginning with a star")
    func matches() throws {
        let name = try #require(ParameterPattern("gclid"))
        #expect(name.matches("gclid".utf8))
        #expect(!name.matches("gclid2".utf8))
        #expect(!name.matches("gcli".utf8))
        let prefix = try #require(ParameterPattern("utm_*"))
        #expect(prefix.matches("utm_source".utf8))
        #expect(prefix.matches("utm_".utf8))
        #expect(!prefix.matches("utm".utf8))
        #expect(try #require(ParameterPattern("*")).matches("anything".utf8))
    }

    @Test("is nothing else", arguments: ["", "*utm", "a*b", "a**"])
    func refusesOtherForms(pattern: String) {
        #expect(ParameterPattern(pattern) == nil)
    }
}
