import Foundation
import PlaceImport
import Testing

/// The file of `poi import --except`.
@Suite("Refused changes")
struct RefusedChangesTests {
    private static let header =
        #"{"import": {"dataset": "cafés", "files": [{"dataset": 1}]}, "dataset": "b"}"#

    private static func read(_ lines: [String], _ end: String = "\n") throws -> RefusedChanges {
        let text = lines.joined(separator: "\n") + end
        return try withFile(Array(text.utf8), "refused") { try RefusedChanges(path: $0, of: "cafés") }
    }

    @Test("A line's sourceId and change are read, and nothing else of it", arguments: ["", "\n", "\r\n"])
    func lines(end: String) throws {
        let refused = try Self.read(
            [
                Self.header,
                #"{"sourceId": "k1", "change": "added", "members": {"sourceId": "x", "a": [1e999]}}"#,
                #" {"change":"removed","id":null,"source\u0049d":"\u00e9\ud83d\ude00"} "#,
                #"{"sourceId": "k1", "change": "changed"}"#,
            ], end)
        #expect(refused.sourceIDs == ["k1", "é😀", "k1"])
        #expect(refused.changes == [.added, .removed, .changed])
        #expect(try Self.read([Self.header], end).isEmpty)
    }

    @Test(
        "What isn't as it should be is an error that names the line",
        arguments: [
            ([""], 1, "there should be an object at byte 0"),
            (["{}"], 1, "expected {\"import\""),
            ([#"{"import": 1}"#], 1, "there should be an object at byte 11"),
            ([#"{"import": {"files": []}}"#], 1, "expected {\"import\""),
            (
                [#"{"import": {"dataset": "bars\u001b"}}"#], 1,
                "it is of the dataset bars?, and the import is of cafés"
            ),
            // The database compares names by their bytes.
            ([#"{"import": {"dataset": "cafe\u0301s"}}"#], 1, "and the import is of cafés"),
            ([header, #"{"sourceId": "1", "change": "added""#], 2, "a comma or the object's end at byte 35"),
            ([header, #"{"sourceId": "1", "change": "added"} x"#], 2, "there should be the line's end"),
            ([header, #"{"sourceId": "1", "change": "added"}"#, ""], 3, "there should be an object"),
            ([header, "[]"], 2, "there should be an object"),
            ([header, #"{"change": "added"}"#], 2, "expected a sourceId of 1 to 200 characters"),
            ([header, #"{"sourceId": 1, "change": "added"}"#], 2, "there should be a string"),
            ([header, #"{"sourceId": "", "change": "added"}"#], 2, "expected a sourceId"),
            ([header, #"{"sourceId": "\u0000", "change": "added"}"#], 2, "expected a sourceId"),
            (
                [header, #"{"sourceId": "\#(String(repeating: "x", count: 201))", "change": "added"}"#], 2,
                "expected a sourceId"
            ),
            ([header, #"{"sourceId": "1"}"#], 2, "expected a change of added, changed, removed"),
            ([header, #"{"sourceId": "1", "change": "kept"}"#], 2, "the change kept can't be refused"),
            ([header, #"{"sourceId": "1", "change": "suppressed"}"#], 2, "the change suppressed can't"),
            ([header, header], 2, "expected a sourceId"),
            ([header, #"{"a": ""# + String(repeating: "x", count: 1 << 20)], 2, "more than 1 MiB"),
        ])
    func faults(lines: [String], line: Int, message: String) throws {
        let error = #expect(throws: ImportError.self) { try Self.read(lines) }
        #expect(
            error?.line == line && error?.message.contains(message) == true, "\(String(describing: error))")
    }

    @Test("A file has so many lines behind the first at most, and none may be missing")
    func limits() throws {
        let line = "\n" + #"{"sourceId": "1", "change": "added"}"#
        for count in [3, 4] {
            let text = Self.header + String(repeating: line, count: count)
            let result = Result {
                try withFile(Array(text.utf8), "refused") {
                    try RefusedChanges(path: $0, of: "cafés", atMost: 3)
                }
            }
            #expect((try? result.get())?.changes.count == (count == 3 ? 3 : nil))
            if case .failure(let error) = result { #expect((error as? ImportError)?.line == 5) }
        }
        #expect(throws: ImportError.self) {
            try withFile([], "refused") { try RefusedChanges(path: $0, of: "cafés") }
        }
        #expect(throws: ImportError.self) { try RefusedChanges(path: "/nowhere", of: "cafés") }
    }
}
