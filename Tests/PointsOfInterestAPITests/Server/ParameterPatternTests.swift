import Testing

@testable import PointsOfInterestServerAPI

@Suite("A parameter pattern")
struct ParameterPatternTests {
    @Test("A pattern matches a whole name, or with a star the beginning of one")
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

    @Test(
        "A pattern with a star elsewhere, or an empty one, is refused", arguments: ["", "*utm", "a*b", "a**"])
    func refusesOtherForms(pattern: String) {
        #expect(ParameterPattern(pattern) == nil)
    }
}
