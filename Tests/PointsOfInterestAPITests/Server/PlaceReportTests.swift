import Foundation
import Testing

@testable import PointsOfInterestAPI
@testable import PointsOfInterestServerAPI

@Suite("A report of a mistake")
struct PlaceReportTests {
    private static let id = "5c1f2e2a-7c55-4b1e-9c5e-0b6b2b2c9d11"

    /// The faults of a body, as pointer and code.
    private func faults(_ body: String) -> [String] {
        do throws(EditContentError) {
            _ = try PlaceReport.decode(body: Array(body.utf8))
            return []
        } catch {
            guard case .invalid(let faults) = error else { return ["malformed"] }
            return faults.map { "\($0.pointer) \($0.code.rawValue)" }
        }
    }

    private func report(_ members: String) -> String { #"{"id":"\#(Self.id)",\#(members)}"# }

    @Test("What an app sends is what the service reads, and what a test of the app decodes")
    func roundTrip() throws {
        let position = try Coordinate(latitude: -12.5, longitude: 179.999)
        let reports = [
            PlaceReport(place: 42, reason: .closed),
            PlaceReport(
                place: .max, position: position, reason: .moved, text: "now\r\nover \"there\"\u{1F30D}\t/"),
            PlaceReport(
                position: position, reason: .missing, text: String(repeating: "\u{1F30D}", count: 500)),
        ]
        for report in reports {
            #expect(try PlaceReport.decode(body: report.json) == report)
            #expect(try JSONDecoder().decode(PlaceReport.self, from: Data(report.json)) == report)
            let encoded = try JSONEncoder().encode(report)
            #expect(try PlaceReport.decode(body: Array(encoded)) == report)
            #expect(encoded.count <= ReportLimits.bodyBytes)
            #expect(!report.json.contains(UInt8(ascii: "\n")), "the queue has a line for each")
        }
        #expect(PlaceReport(place: 1, reason: .other, text: "").text == nil)
        #expect(
            String(
                decoding: PlaceReport(id: UUID(uuidString: Self.id) ?? UUID(), place: 1, reason: .wrong).json,
                as: UTF8.self)
                == #"{"id":"\#(Self.id)","place":1,"reason":"wrong"}"#)
    }

    @Test("A body at its limit has a text of the maximum length, each character escaped")
    func escapedText() {
        let text = String(repeating: #"\ud83c\udf0d"#, count: 500)
        let body = report(#""place":1,"reason":"other","text":"\#(text)""#)
        #expect(faults(body) == [])
        #expect(body.utf8.count <= ReportLimits.bodyBytes)
    }

    @Test("Every fault is named, by a pointer to its member")
    func allFaults() {
        #expect(faults("{}") == ["/id missing", "/reason missing", " missing"])
        #expect(faults("[]") == [" wrong-type", "/id missing", "/reason missing", " missing"])
        #expect(faults("") == ["malformed"])
        #expect(faults("{") == ["malformed"])
        #expect(faults("{} x") == ["malformed"])
        #expect(faults(report(#""reason":"other""#)) == [" missing"])
        #expect(faults(report(#""reason":"other","place":null"#)) == [" missing"])
        #expect(faults(report(#""reason":"other","latitude":1"#)) == ["/longitude missing"])
        #expect(faults(report(#""reason":"other","place":1,"longitude":1"#)) == ["/latitude missing"])
        #expect(faults(report(#""reason":"other","place":1,"text":null"#)) == [])
        #expect(faults(report(#""reason":"other","place":0"#)) == ["/place out-of-range"])
        #expect(faults(report(#""reason":"other","place":1.5"#)) == ["/place out-of-range"])
        #expect(faults(report(#""reason":"other","place":"1""#)) == ["/place wrong-type"])
        #expect(faults(report(#""reason":"bad","place":1"#)) == ["/reason not-a-choice"])
        #expect(faults(report(#""reason":1,"place":1"#)) == ["/reason wrong-type"])
        #expect(faults(report(#""reason":"other","place":1,"place":2"#)) == ["/place repeated"])
        #expect(faults(report(#""reason":"other","place":1,"a/b~":2"#)) == ["/a~1b~0 unknown"])
        #expect(faults(#"{"id":"x","reason":"other","place":1}"#) == ["/id not-a-uuid"])
        #expect(
            faults(report(#""reason":"other","latitude":90.1,"longitude":-180.1"#))
                == ["/latitude out-of-range", "/longitude out-of-range"])
        for text in [#"a\u0000b"#, #"a\ud800b"#, "a\u{1}b"] {
            #expect(
                faults(report(#""reason":"other","place":1,"text":"\#(text)""#)) == ["/text malformed-text"])
        }
        for text in ["", String(repeating: "x", count: 501)] {
            #expect(
                faults(report(#""reason":"other","place":1,"text":"\#(text)""#)) == ["/text out-of-range"])
        }
        let many = (0..<500).map { #""x\#($0)":1"# }.joined(separator: ",")
        #expect(faults(report(many)).count == 100)
    }

    @Test("An editor's change has a status, a note, or both; a note of null takes it away")
    func changes() throws {
        func decode(_ body: String) throws -> ReportChange { try ReportChange.decode(body: Array(body.utf8)) }
        #expect(try decode(#"{"status":"done"}"#) == ReportChange(status: .done))
        #expect(try decode(#"{"note":null}"#) == ReportChange(note: .some(nil)))
        #expect(
            try decode(#"{"note":"a\nb","status":"rejected"}"#)
                == ReportChange(status: .rejected, note: "a\nb"))
        for body in [
            "{}", #"{"status":null}"#, #"{"status":"new"}"#, #"{"note":""}"#, #"{"reason":"other"}"#,
        ] {
            #expect(throws: EditContentError.self) { try decode(body) }
        }
    }

    @Test("The query of a page that follows reads back as that page")
    func pages() throws {
        for request in [
            ReportsRequest(status: .open, limit: 20), ReportsRequest(status: .done, limit: 3),
        ] {
            var next = request
            next.position = 77
            #expect(try ReportsRequest.decode(query: request.query(from: 77).utf8, ignoring: []) == next)
        }
        #expect(
            try ReportsRequest.decode(query: "".utf8, ignoring: [])
                == ReportsRequest(status: .open, limit: 20))
        for query in [
            "status=new", "status=", "limit=0", "limit=101", "before=-1", "x=1", "status=done&status=done",
        ] {
            #expect(throws: ParameterError.self, "\(query)") {
                try ReportsRequest.decode(query: query.utf8, ignoring: [])
            }
        }
    }
}
