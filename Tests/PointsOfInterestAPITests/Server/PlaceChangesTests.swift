import Foundation
import PointsOfInterestAPI
import Randomness
import Testing

@testable import PointsOfInterestServerAPI

@Suite("The body of an edit")
struct PlaceChangesTests {
    private static func decode(_ body: String, isNew: Bool = false) throws -> PlaceChanges {
        try PlaceChanges.decode(body: Array(body.utf8), isNew: isNew)
    }

    private func members(_ body: String, isNew: Bool = false) throws -> String {
        String(decoding: try Self.decode(body, isNew: isNew).members, as: UTF8.self)
    }

    /// The faults of a body as `pointer code`; none where it is accepted.
    private static func faults(_ body: [UInt8], isNew: Bool = false) throws -> [String] {
        do throws(EditContentError) {
            _ = try PlaceChanges.decode(body: body, isNew: isNew)
            return []
        } catch {
            guard case .invalid(let faults) = error else { throw error }
            return faults.map { "\($0.pointer) \($0.code.rawValue)" }
        }
    }

    private static func faults(_ body: String, isNew: Bool = false) throws -> [String] {
        try faults(Array(body.utf8), isNew: isNew)
    }

    // MARK: What is accepted

    @Test("Members become those of the database, in their order; both coordinates are one, at the end")
    func mapping() throws {
        #expect(
            try members(
                #"""
                {"longitude": 2.5, "name": "Café \"A\"", "category": "cafe", "address": "1 St", "website": "https://a.example/",
                 "operatingStatus": "temporarilyClosed", "featured": true, "importance": 7, "names": {"de": "B", "zh-Hant": "C"},
                 "otherNames": ["D", "E"], "properties": {"a.b": [1, {"c": null}], "d": "e"}, "latitude": -0.0}
                """#)
                == #"{"name":"Café \"A\"","category":"cafe","address":"1 St","website":"https://a.example/","#
                + #""operating_status":"temporarilyClosed","featured":true,"importance":7,"names.de":"B","names.zh-Hant":"C","#
                + #""other_names":["D","E"],"properties.a.b":[1, {"c": null}],"properties.d":"e","position":[0,2.5]}"#
        )
        // A coordinate that isn't given stays as it is.
        #expect(try members(#"{"latitude":90}"#) == #"{"position":[90,null]}"#)
        #expect(try members("{}") == "{}")
        #expect(try members(#" { "importance" : 3.0e1 } "#) == #"{"importance":30}"#)
    }

    @Test("A new place is of the dataset of people, or of one whose name begins with its name")
    func dataset() throws {
        let place = #"{"name": "A", "category": "zoo", "latitude": 1, "longitude": 2"#
        func of(_ dataset: String) -> String { place + #", "dataset": "\#(dataset)"}"# }
        #expect(try Self.decode(place + "}", isNew: true).dataset == nil)
        for dataset in [
            "editorial", "editorial-a", "editorial-9-z", "editorial-" + String(repeating: "a", count: 90),
        ] {
            #expect(try Self.decode(of(dataset), isNew: true).dataset == dataset)
        }
        for dataset in [
            "", "osm", "editorial-", "editorials", "editorial-A", "editorial-ä", "editorial a",
            "editorial-" + String(repeating: "a", count: 91),
        ] {
            #expect(try Self.faults(of(dataset), isNew: true) == ["/dataset malformed"], "\(dataset)")
        }
        #expect(try Self.faults(of("editorial"), isNew: false) == ["/dataset unknown"])
        #expect(try Self.faults(place + #", "dataset": null}"#, isNew: true) == ["/dataset wrong-type"])
    }

    @Test("Null takes a value away from a place, and says nothing of a new one")
    func nulls() throws {
        let body = #"""
            "address": null, "website": null, "operatingStatus": null, "featured": null, "importance": null,
            "otherNames": null, "names": {"de": null}, "properties": {"phone": null}
            """#
        #expect(
            try members("{\(body)}")
                == #"{"address":null,"website":null,"operating_status":null,"featured":null,"importance":null,"#
                + #""other_names":null,"names.de":null,"properties.phone":null}"#)
        #expect(
            try members(#"{"names": null, "properties": null, "otherNames": []}"#)
                == #"{"names":null,"properties":null,"other_names":null}"#)
        let whole = #""name": "A", "category": "b", "latitude": 1, "longitude": 2"#
        #expect(
            try members("{\(whole), \(body)}", isNew: true)
                == #"{"name":"A","category":"b","position":[1,2]}"#)
        #expect(
            try members(#"{\#(whole), "names": null, "properties": null, "otherNames": []}"#, isNew: true)
                == #"{"name":"A","category":"b","position":[1,2]}"#)
    }

    @Test("Resets are members by the names that responses have")
    func resets() throws {
        let changes = try Self.decode(
            #"""
            {"reset": ["name", "otherNames", "operatingStatus", "latitude", "names", "names.de", "properties",
                       "properties.a.b", "*"]}
            """#)
        #expect(
            changes.resets == [
                "name", "other_names", "operating_status", "position", "names", "names.de", "properties",
                "properties.a.b", "*",
            ])
        #expect(
            try Self.faults(
                #"{"reset": ["nmae", "", "names.", "id", "source", "reset", "operating_status", 1]}"#)
                == (0...6).map { "/reset/\($0) malformed" } + ["/reset/7 wrong-type"])
        #expect(try Self.faults(#"{"reset": "name"}"#) == ["/reset wrong-type"])
    }

    @Test("Members that nobody edits are kept as they were sent, and no part of a new place")
    func readOnly() throws {
        let body =
            #"{"id": 7, "version":1, "updatedAt": "x", "source" : {"a": [ ]}, "sourceValues": {}, "import": null}"#
        let changes = try Self.decode(body)
        #expect(
            changes.readOnly.map(\.name) == [
                "id", "version", "updatedAt", "source", "sourceValues", "import",
            ])
        #expect(changes.readOnly.map { String(decoding: $0.json, as: UTF8.self) }[3] == #"{"a": [ ]}"#)
        #expect(String(decoding: changes.members, as: UTF8.self) == "{}")
        #expect(
            try Self.faults(body, isNew: true).filter { $0.hasSuffix(" read-only-member") }
                == ["id", "version", "updatedAt", "source", "sourceValues", "import"].map {
                    "/\($0) read-only-member"
                })
    }

    // MARK: Faults

    @Test("All faults are named, in the order of the members")
    func allFaults() throws {
        #expect(
            try Self.faults(
                #"""
                {"nmae": 1, "name": "", "name": "A", "category": "No", "latitude": 91, "longitude": "2", "address": 3,
                 "website": "ftp://a", "operatingStatus": "open", "featured": 1, "importance": 1001,
                 "names": {"x": "A", "de": 4, "en": " A", "en": "B"}, "otherNames": ["A", "\n"], "properties": []}
                """#) == [
                    "/nmae unknown", "/name malformed", "/name repeated", "/category malformed",
                    "/latitude out-of-range", "/longitude wrong-type", "/address wrong-type",
                    "/website malformed", "/operatingStatus malformed", "/featured wrong-type",
                    "/importance out-of-range", "/names/x malformed", "/names/de wrong-type",
                    "/names/en malformed", "/names/en repeated", "/otherNames/1 malformed",
                    "/properties wrong-type",
                ])
        // What has to be there can't be taken away, and a new place has to have it.
        #expect(
            try Self.faults(#"{"name": null, "category": null, "latitude": null, "longitude": null}"#)
                == ["/name missing", "/category missing", "/latitude missing", "/longitude missing"])
        #expect(
            try Self.faults(#"{"latitude": 1, "reset": []}"#, isNew: true)
                == ["/reset unknown", "/name missing", "/category missing", "/longitude missing"])
    }

    @Test(
        "Numbers have to be what they are for",
        arguments: [
            (#"{"importance": 0.5}"#, "/importance out-of-range"),
            (#"{"importance": -1}"#, "/importance out-of-range"),
            (#"{"importance": 1e300}"#, "/importance out-of-range"),
            (#"{"importance": 1e999}"#, "/importance out-of-range"),
            (#"{"importance": "1"}"#, "/importance wrong-type"),
            (#"{"latitude": -90.0000001}"#, "/latitude out-of-range"),
            (#"{"longitude": 180.1}"#, "/longitude out-of-range"),
            (#"{"longitude": true}"#, "/longitude wrong-type"),
        ])
    func numbers(body: String, fault: String) throws {
        #expect(try Self.faults(body) == [fault])
    }

    @Test("A body is an object, and JSON to its end")
    func syntax() throws {
        for body in ["[]", "1", "null", #""a""#, #"[{"name": "A"}]"#] {
            #expect(try Self.faults(body) == [" wrong-type"])
        }
        for body in [
            "", " ", "{", #"{"name"}"#, #"{"name": "A"} x"#, #"{"name": "A",}"#, #"{"name": 'A'}"#, "nul",
        ] {
            #expect(throws: EditContentError.self, "\(body)") {
                do throws(EditContentError) { _ = try Self.decodeExactly(body) } catch {
                    guard case .malformed = error else { throw CancellationError() }
                    throw error
                }
            }
        }
    }

    private static func decodeExactly(_ body: String) throws(EditContentError) -> PlaceChanges {
        try PlaceChanges.decode(body: Array(body.utf8), isNew: false)
    }

    @Test("Pointers escape what RFC 6901 says")
    func pointers() throws {
        #expect(JSONPointer.text(of: []) == "")
        #expect(JSONPointer.text(of: ["a/b", "c~d", "", "~1"]) == "/a~1b/c~0d//~01")
        #expect(
            try Self.faults(#"{"a/b": 1, "c~d": 2, "": 3, "properties": {"e/f~": "\u0000"}}"#)
                == ["/a~1b unknown", "/c~0d unknown", "/ unknown", "/properties/e~1f~0 malformed-text"])
    }

    @Test("Text that can't be stored is refused where it is")
    func texts() throws {
        #expect(
            try Self.faults(
                #"{"name": "a\u0000", "address": "\ud800", "names": {"de": "\udc00"}, "reset": ["\ud800"]}"#)
                == [
                    "/name malformed-text", "/address malformed-text", "/names/de malformed-text",
                    "/reset/0 malformed-text",
                ])
        #expect(
            try Self.faults(Array(#"{"name": ""#.utf8) + [0xff] + Array(#""}"#.utf8)) == [
                "/name malformed-text"
            ])
        #expect(
            try Self.faults(#"{"properties": {"": 1, "a\u0000": 1}}"#)
                == ["/properties/ malformed-text", "/properties/a\u{0} malformed-text"])
    }

    @Test("Texts have at most as many characters as the tables allow")
    func lengths() throws {
        func text(_ count: Int, _ character: String = "é") -> String {
            String(repeating: character, count: count)
        }
        #expect(try Self.faults(#"{"name": "\#(text(200))", "address": "\#(text(300))"}"#) == [])
        #expect(
            try Self.faults(#"{"name": "\#(text(201))", "address": "\#(text(301))"}"#)
                == ["/name malformed", "/address malformed"])
        let website = "https://a.example/"
        #expect(try Self.faults(#"{"website": "\#(website)\#(text(2048 - website.count, "a"))"}"#) == [])
        #expect(
            try Self.faults(#"{"website": "\#(website)\#(text(2049 - website.count, "a"))"}"#)
                == ["/website malformed"])
        // Escaped, a text is longer in the body than in the table.
        #expect(try Self.faults(#"{"name": "\#(String(repeating: #"\u00e9"#, count: 200))"}"#) == [])
        #expect(try Self.faults(#"{"properties": {"a": "\#(text(4094, "a"))"}}"#) == [])
        #expect(
            try Self.faults(#"{"properties": {"a": "\#(text(4095, "a"))"}}"#) == ["/properties/a too-large"])
        let names = (0..<301).map { "\"n\($0)\"" }.joined(separator: ",")
        #expect(try Self.faults(#"{"otherNames": [\#(names)]}"#) == ["/otherNames too-large"])
        let members = (0..<302).map { "\"n\($0)\":1" }.joined(separator: ",")
        #expect(try Self.faults(#"{"properties": {\#(members)}}"#) == ["/properties too-large"])
    }

    // MARK: Hostile bodies

    /// Bodies of 128 KiB of which each byte could cost more than the one before.
    private static let hostile: [(name: String, body: [UInt8])] = {
        let size = EditLimits.bodyBytes
        // Unicode sorts them, each run by itself.
        let marks = "\u{301}\u{323}"
        func filled(_ start: String, _ part: String, _ end: String) -> [UInt8] {
            let count = (size - start.utf8.count - end.utf8.count) / part.utf8.count
            return Array((start + String(repeating: part, count: count) + end).utf8)
        }
        let numbered = (0..<9000).map { #""p\#($0)":1"# }.joined(separator: ",")
        return [
            ("repeated members", filled("{", #""name":"A","#, #""name":"A"}"#)),
            ("unknown members", filled("{", #""naem":1,"#, #""naem":1}"#)),
            ("repeated properties", filled(#"{"properties":{"#, #""a":1,"#, #""a":1}}"#)),
            ("many properties", Array(#"{"properties":{\#(numbered)}}"#.utf8)),
            ("repeated names in a value", filled(#"{"properties":{"a":{"#, #""a":1,"#, #""a":1}}}"#)),
            ("names of combining marks", filled(#"{""#, marks, #"":1}"#)),
            ("a property of combining marks", filled(#"{"properties":{""#, marks, #"":1}}"#)),
            ("a language of combining marks", filled(#"{"names":{""#, marks, #"":"a"}}"#)),
            ("a name of combining marks", filled(#"{"name":"e"#, marks, #""}"#)),
            ("short names of combining marks", filled("{", "\"\u{301}\u{302}\u{303}\":1,", #""a":1}"#)),
            ("escaped names", filled(#"{""#, #"\u0301\u0323"#, #"":1}"#)),
            ("deep arrays", filled(#"{"properties":{"a":"#, "[", "")),
            ("deep objects", filled(#"{"properties":{"a":"#, #"{"a":"#, "")),
            ("deep read-only members", filled(#"{"source":"#, "[", "")),
            ("deep unknown members", filled(#"{"nmae":"#, "[", "")),
            ("many resets", filled(#"{"reset":["#, #""nmae","#, #""nmae"]}"#)),
            ("resets of combining marks", filled(#"{"reset":["properties."#, marks, #""]}"#)),
            ("long numbers", filled(#"{"latitude":"#, "1", "}")),
            ("many numbers", filled(#"{"properties":{"a":["#, "1e308,", "1]}}")),
            ("other names", filled(#"{"otherNames":["#, "\"\u{301}\",", #""a"]}"#)),
            ("blanks", filled("{", " ", "}")),
        ]
    }()

    @Test(
        "A hostile body takes a time in proportion to its bytes", .timeLimit(.minutes(1)),
        arguments: hostile.map(\.name))
    func hostileBodies(name: String) throws {
        let body = try #require(Self.hostile.first { $0.name == name }?.body)
        #expect(body.count <= EditLimits.bodyBytes)
        // A cost that grows with the square would take minutes: 128 KiB of combining marks hash in 6 s.
        for number in 0..<12 {
            do throws(EditContentError) {
                let changes = try PlaceChanges.decode(body: body, isNew: number % 2 == 0)
                #expect(changes.members.count <= body.count + 100)
            } catch {
                guard case .invalid(let faults) = error else { continue }
                #expect((1...100).contains(faults.count))
                #expect(faults.allSatisfy { $0.pointer.utf8.count <= 2000 })
            }
        }
    }

    @Test("A body with any byte changed is accepted, has faults, or isn't JSON")
    func damaged() throws {
        var random = SeededGenerator()
        let whole = Array(
            #"{"name":"A","latitude":1.5,"names":{"de":"B"},"otherNames":["C"],"properties":{"a":[{"b":1}]},"reset":["*"]}"#
                .utf8)
        for _ in 0..<5000 {
            var body = whole
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                body[Int.random(in: body.indices, using: &random)] = .random(
                    in: .min ... .max, using: &random)
            }
            guard let changes = try? PlaceChanges.decode(body: body, isNew: false) else { continue }
            #expect((try? JSONSerialization.jsonObject(with: Data(changes.members))) != nil, "\(body)")
        }
    }

    // MARK: Bodies of one number

    @Test("A body with one number is that number, and nothing else")
    func oneNumber() throws {
        func faults(_ body: String) -> [String] {
            do throws(EditContentError) {
                _ = try NumberBody.decode(Array(body.utf8), member: "version")
                return []
            } catch {
                guard case .invalid(let faults) = error else { return ["malformed"] }
                return faults.map { "\($0.pointer) \($0.code.rawValue)" }
            }
        }
        #expect(
            try NumberBody.decode(Array(#" {"version": 9007199254740991} "#.utf8), member: "version") == 1
                << 53 - 1)
        #expect(try NumberBody.decode(Array(#"{"version":0}"#.utf8), member: "version") == 0)
        #expect(faults("{}") == ["/version missing"])
        #expect(faults("[]") == [" wrong-type"])
        #expect(faults(#"{"version": "1"}"#) == ["/version wrong-type"])
        #expect(faults(#"{"version": -1}"#) == ["/version out-of-range"])
        #expect(faults(#"{"version": 1.5}"#) == ["/version out-of-range"])
        #expect(faults(#"{"version": 1e30}"#) == ["/version out-of-range"])
        #expect(faults(#"{"version": 1, "version": 2}"#) == ["/version repeated"])
        #expect(faults(#"{"version": 1, "into": 2}"#) == [" unknown"])
        for body in ["", "{", #"{"version": 1"#, #"{"version": 1} {}"#] {
            #expect(faults(body) == ["malformed"])
        }
    }

    // MARK: Pages of versions

    @Test("A page of versions has a limit and a beginning, as Link has it")
    func versions() throws {
        func decode(_ query: String) throws(ParameterError) -> VersionsRequest {
            try VersionsRequest.decode(query: query.utf8, ignoring: [])
        }
        #expect(try decode("") == VersionsRequest(limit: 20, position: nil))
        #expect(try decode("limit=1&before=0") == VersionsRequest(limit: 1, position: 0))
        for (query, parameters) in [
            ("limit=0", ["limit"]), ("limit=101&before=-1", ["limit", "before"]), ("before=x", ["before"]),
            ("page=1", ["page"]),
        ] {
            let error = #expect(throws: ParameterError.self) { try decode(query) }
            #expect(error?.faults.map(\.parameter).sorted() == parameters.sorted())
        }
        for request in [
            VersionsRequest(limit: 20, position: 3), VersionsRequest(limit: 7, position: 1 << 52),
        ] {
            #expect(try decode(request.query(from: try #require(request.position))) == request)
        }
    }

    @Test("A page of all changes may have a box, which its link keeps")
    func changes() throws {
        func decode(_ query: String) throws(ParameterError) -> ChangesRequest {
            try ChangesRequest.decode(query: query.utf8, ignoring: [])
        }
        let box = try #require(BoundingBox(west: 179.5, south: -1, east: -1e-7, north: 2))
        #expect(try decode("") == ChangesRequest(box: nil, limit: 20, position: nil))
        #expect(
            try decode("bbox=179.5,-1,-0.0000001,2&limit=100&before=5")
                == ChangesRequest(box: box, limit: 100, position: 5))
        for (query, parameters) in [
            ("bbox=1,2,3", ["bbox"]), ("bbox=", ["bbox"]), ("bbox=1,3,2,2&limit=101", ["bbox", "limit"]),
            ("before=-1", ["before"]), ("lat=1", ["lat"]),
        ] {
            let error = #expect(throws: ParameterError.self) { try decode(query) }
            #expect(error?.faults.map(\.parameter).sorted() == parameters.sorted())
        }
        for request in [
            ChangesRequest(box: nil, limit: 20, position: 3),
            ChangesRequest(box: box, limit: 7, position: 1 << 52),
        ] {
            #expect(try decode(request.query(from: try #require(request.position))) == request)
        }
    }
}
