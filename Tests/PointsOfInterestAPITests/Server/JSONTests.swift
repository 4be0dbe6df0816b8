import PointsOfInterestAPI
import Foundation
import PointsOfInterestServerAPI
import Testing

@Suite("The JSON writer")
struct JSONTests {
    private static let strings = [
        "", "plain", "\"quoted\" \\ / \\u0041", "\u{0}\u{1}\u{8}\t\n\u{B}\u{C}\r\u{E}\u{1F}\u{7F}\u{80}",
        "\u{2028}\u{2029}\u{FEFF}\u{FFFD}\u{FFFF}\u{10FFFF}", "Café Stritch", "👩‍👩‍👧‍👦🇺🇸𝒳", "e\u{301}", "</script>",
        "\r\n",
        String(repeating: "a\"", count: 1000),
    ]

    @Test("Foundation's decoder reads any text back the same", arguments: strings)
    func escapesEveryCharacter(text: String) throws {
        let problem = Problem(
            .notFound, detail: text, requestId: text,
            errors: [ParameterFault(parameter: text, code: .init(rawValue: text), detail: text)])
        #expect(try JSONDecoder().decode(Problem.self, from: Data(problem.json)) == problem)
    }

    @Test(
        "A number that isn't finite is written as null",
        arguments: [Double.nan, .infinity, -.infinity])
    func writesNonFinite(number: Double) {
        var writer = JSONWriter()
        writer.beginArray()
        writer.value(number)
        writer.value(true)
        writer.endArray()
        #expect(String(decoding: writer.bytes, as: UTF8.self) == "[null,true]")
    }

    @Test("Members and elements are separated by commas, however they nest")
    func separates() {
        var writer = JSONWriter()
        writer.beginObject()
        writer.name("a")
        writer.beginArray()
        writer.beginObject()
        writer.endObject()
        writer.beginArray()
        writer.endArray()
        writer.null()
        writer.endArray()
        writer.member("b", nil as String?)
        writer.member("c", false)
        writer.name("d")
        writer.value(1)
        writer.endObject()
        #expect(String(decoding: writer.bytes, as: UTF8.self) == #"{"a":[{},[],null],"c":false,"d":1}"#)
    }

}
