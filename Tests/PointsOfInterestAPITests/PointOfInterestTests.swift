import Foundation
import Randomness
import Testing

@testable import PointsOfInterestAPI

@Suite("A point of interest")
struct PointOfInterestTests {
    private let least = PointOfInterest(
        id: 1, name: "A", category: "museum", latitude: 1, longitude: 2, featured: true)

    @Test("A place ignores unknown fields")
    func ignoresUnknownFields() throws {
        #expect(try decode(#""opened":{"year":1900,"month":[null]},"x":null"#) == least)
    }

    @Test(
        "A place ignores an optional field that is malformed",
        arguments: [
            #""distance":"near""#, #""distance":1e999"#, #""distance":null"#, #""distance":{}"#,
            #""address":5"#,
            #""address":["a"]"#, #""website":false"#, #""source":"seed""#, #""source":{"dataset":"a"}"#,
            #""operatingStatus":7"#, #""version":"1""#, #""updatedAt":"yesterday""#, #""updatedAt":1"#,
            #""source":{"dataset":1,"id":"b","license":"c"}"#, #""source":[]"#, #""mergedFrom":12"#,
            #""mergedFrom":["12"]"#,
        ])
    func goesWithoutMalformedFields(field: String) throws {
        #expect(try decode(field) == least)
    }

    @Test("A place has a status that a newer service has added, and when it was changed")
    func statusAndChange() throws {
        let place = try decode(
            #""operatingStatus":"movedElsewhere","version":9007199254740991,"updatedAt":"2026-11-30T23:45:12Z""#
        )
        #expect(place.operatingStatus == OperatingStatus(rawValue: "movedElsewhere"))
        #expect(place.version == 9_007_199_254_740_991)
        #expect(place.updatedAt == Date(timeIntervalSince1970: 1_796_082_312))
        let again = try JSONDecoder().decode(PointOfInterest.self, from: JSONEncoder().encode(place))
        #expect(again == place)
        #expect(try decode(#""operatingStatus":"permanentlyClosed""#).operatingStatus == .permanentlyClosed)
        #expect(least.operatingStatus == nil && least.version == nil && least.updatedAt == nil)
    }

    @Test("A place has the ids of those that were merged into it, none where the service is of before that")
    func merged() throws {
        let place = try decode(#""mergedFrom":[12,13]"#)
        #expect(place.mergedFrom == [12, 13] && least.mergedFrom == [])
        let encoded = try JSONEncoder().encode([place, least])
        #expect(try JSONDecoder().decode([PointOfInterest].self, from: encoded) == [place, least])
        #expect(String(decoding: encoded, as: UTF8.self).split(separator: "mergedFrom").count == 2)
    }

    @Test("A place keeps its other optional fields beside a malformed one")
    func keepsTheOthers() throws {
        let place = try decode(#""distance":[],"address":"1 Main St","source":7"#)
        #expect(place.distance == nil)
        #expect(place.address == "1 Main St")
    }

    @Test(
        "A place can't be read without the fields that every place has",
        arguments: ["id", "name", "category", "latitude", "longitude", "featured"])
    func needsRequiredFields(field: String) throws {
        let body = try #require(
            try JSONSerialization.jsonObject(with: JSONEncoder().encode([least])) as? [[String: Any]])
        let without = try JSONSerialization.data(withJSONObject: body.map { $0.filter { $0.key != field } })
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([PointOfInterest].self, from: without)
        }
    }

    @Test(
        "A place's distance is rounded to a tenth of a metre, halves away from zero",
        arguments: [
            (0, 0), (0.04, 0), (0.05, 0.1), (12.25, 12.3), (12.349, 12.3), (20_003_931.4586, 20_003_931.5),
        ])
    func roundsItsDistance(exact: Double, rounded: Double) {
        let place = PointOfInterest(
            id: 1, name: "", category: "", latitude: 0, longitude: 0, distance: exact)
        #expect(place.distance == rounded)
    }

    private func decode(_ fields: String) throws -> PointOfInterest {
        let body = """
            [{"id":1,"name":"A","category":"museum","latitude":1,"longitude":2.0,"featured":true,\(fields)}]
            """
        return try #require(try JSONDecoder().decode([PointOfInterest].self, from: Data(body.utf8)).first)
    }
}

@Suite("The JSON writer's strings and numbers")
struct JSONScalarTests {
    private static let escapes: [Character: String] = [
        "\"": #"\""#, "\\": #"\\"#, "\n": #"\n"#, "\u{1F}": #"\u001f"#, "\u{1}": #"\u0001"#,
    ]

    @Test("A character is escaped at any position, also where texts are read in blocks")
    func escapesEverywhere() {
        for length in 1...50 {
            for position in 0..<length {
                for (character, escape) in Self.escapes {
                    let before = String(repeating: " ", count: position)
                    let after = String(repeating: "\u{7F}", count: length - position - 1)
                    var writer = JSONWriter()
                    writer.value(before + String(character) + after)
                    #expect(String(decoding: writer.bytes, as: UTF8.self) == "\"\(before)\(escape)\(after)\"")
                }
            }
        }
    }

    @Test("A number is written in the shortest form that reads back the same")
    func writesShortNumbers() {
        var random = SeededGenerator()
        let powers = [1, 1e1, 1e3, 1e7, 1e8, 1e12]
        for _ in 0..<20_000 {
            let digits = Int.random(in: -1_000_000_000_000_000...1_000_000_000_000_000, using: &random)
            expectShortest(Double(digits) / powers[Int.random(in: powers.indices, using: &random)])
        }
        let edges: [Double] = [
            0, -0.0, 1, -1, 9.9999999, 0.0000001, -0.0000001, 0.00000015, 99_999_999.9999999, 1e8, 1e300,
        ]
        for number in edges {
            expectShortest(number)
        }
    }

    private func expectShortest(_ number: Double) {
        var writer = JSONWriter()
        writer.value(number)
        let text = String(decoding: writer.bytes, as: UTF8.self)
        #expect(Double(text) == number)
        #expect(digits(of: text) <= digits(of: number.description), "\(text) for \(number)")
    }

    /// How many digits carry the value, which is what shortest means.
    private func digits(of text: String) -> Int {
        let mantissa = text.prefix { $0 != "e" }.filter(\.isNumber)
        let trimmed = mantissa.drop { $0 == "0" }
        return trimmed.reversed().drop { $0 == "0" }.count
    }
}
