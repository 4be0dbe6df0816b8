import Foundation
import HTTPServer
import Hashing
import MockService
import PointsOfInterestAPI
import PointsOfInterestServerAPI
import Testing

@testable import POIService
@testable import Places

/// A service with editors whose places nobody edits here.
private final class NoEdits: EditStore {
    func record(of id: Int64) async throws(EditError) -> EditedPlace { throw .notFound }
    func edit(_ edit: PlaceEdit) async throws(EditError) -> EditOutcome { throw .notFound }
    func versions(of id: Int64, from position: Int64?, count: Int) async throws(EditError) -> VersionsPage {
        throw .notFound
    }
    func changes(
        in box: BoundingBox?, from position: Int64?, count: Int
    ) async throws(EditError) -> VersionsPage { throw .notFound }
    func close() async {}
}

/// A store that fails.
private final class FailingReportStore: ReportStore {
    private let error: EditError

    init(_ error: EditError) { self.error = error }

    func store(_ report: PlaceReport) async throws(EditError) { throw error }
    func reports(
        _ status: ReportStatus, from position: Int64?, count: Int
    ) async throws(EditError) -> ReportsPage { throw error }
    func change(
        _ id: UUID, _ change: ReportChange, editor: String
    ) async throws(EditError) -> ReceivedReport? { throw error }
    func remove(_ id: UUID) async throws(EditError) -> Bool { throw error }
}

@Suite("Reports of people")
struct ReportsTests {
    private static let json: HTTPHeaders = [.contentType: "application/json"]
    private static let dataKey = "0123456789abcdef"
    private static let editorKey = "abcdefghijklmnop"
    private static let asReader: HTTPHeaders = [.authorization: "Bearer \(dataKey)"]
    private static let asEditor: HTTPHeaders = [.authorization: "Bearer \(editorKey)"]
    private static let patch: HTTPHeaders = [
        .authorization: "Bearer \(editorKey)", .contentType: "application/merge-patch+json",
    ]

    private static func id(_ number: Int) -> String {
        "00000000-0000-4000-8000-" + String(format: "%012d", number)
    }

    private static func body(_ number: Int = 1, _ members: String = #""place":42,"reason":"closed""#)
        -> [UInt8]
    {
        Array(#"{"id":"\#(id(number))",\#(members)}"#.utf8)
    }

    /// A service that takes reports, with or without an editor.
    private func site(
        _ store: any ReportStore = MemoryReportStore(), hasEditor: Bool = true,
        environment: [String: String] = [:]
    ) throws -> ServiceSite {
        var environment = environment.merging(["POI_REPORTS": "on"]) { own, _ in own }
        let file = FileManager.default.temporaryDirectory.appending(path: "poi-\(UUID()).editors")
        defer { try? FileManager.default.removeItem(at: file) }
        if hasEditor {
            let digest = SHA256.digest(of: Array(Self.editorKey.utf8)).hexadecimal
            try Data("Anna B. \(digest)\n".utf8).write(to: file)
            environment["POI_EDITORS_FILE"] = file.path
        }
        return try ServiceSite(edits: hasEditor ? NoEdits() : nil, reports: store, environment: environment)
    }

    @Test("A report is stored once, whatever was sent before, and the response is the same")
    func storedOnce() async throws {
        let store = MemoryReportStore()
        let site = try site(store)
        for _ in 0..<2 {
            let response = try await site.ask("/reports", .post, headers: Self.json, body: Self.body())
            #expect(response.status == .created)
            #expect(response.text == #"{"id":"\#(Self.id(1))"}"#)
            #expect(response.headers.first(.contentType) == "application/json")
            #expect(response.headers.first(.cacheControl) == "no-store")
        }
        // Another report of somebody who knows the id: nothing shows what is there.
        let other = try await site.ask(
            "/reports", .post, headers: Self.json, body: Self.body(1, #""place":43,"reason":"other""#))
        #expect(other.status == .created && other.text == #"{"id":"\#(Self.id(1))"}"#)
        #expect(store.reports.map(\.place) == [42])
    }

    @Test(
        "What can't be stored is refused: 415, 400 and 422 with pointers; 406, 412 and unknown parameters, too"
    )
    func refused() async throws {
        let store = MemoryReportStore()
        let site = try site(store)
        func status(
            _ headers: HTTPHeaders, _ body: [UInt8] = Self.body(), _ target: String = "/reports"
        ) async throws -> Int {
            try await site.ask(
                target, .post, headers: headers, body: body, from: "192.0.2.\(Int.random(in: 1...254))"
            )
            .status.code
        }
        #expect(try await status([.contentType: "text/plain"]) == 415)
        #expect(try await status([.contentType: "application/json", .contentEncoding: "gzip"]) == 415)
        #expect(try await status([.contentType: "application/json", .accept: "text/html"]) == 406)
        #expect(try await status([.contentType: "application/json", .ifMatch: "*"]) == 412)
        #expect(try await status(Self.json, Array("{".utf8)) == 400)
        #expect(try await status(Self.json, Self.body(), "/reports?x=1") == 400)
        let response = try await site.ask(
            "/reports", .post, headers: Self.json,
            body: Self.body(1, #""reason":"bad","text":"a\u0000","place":1"#))
        let problem = try response.problem()
        #expect(response.status.code == 422 && problem.code == .invalidContent)
        #expect(problem.memberErrors.map(\.pointer) == ["/reason", "/text"])
        #expect(store.reports == [])
    }

    @Test("A client reports ten times a minute, and is then told when to come again; others aren't")
    func limited() async throws {
        let site = try site()
        func send(_ number: Int, from address: String) async throws -> HTTPResponse {
            try await site.ask("/reports", .post, headers: Self.json, body: Self.body(number), from: address)
        }
        for number in 1...10 { #expect(try await send(number, from: "192.0.2.1").status == .created) }
        let refused = try await send(11, from: "192.0.2.1")
        #expect(refused.status.code == 429)
        #expect((1...6).contains(try #require(Int(refused.headers.first(.retryAfter) ?? ""))))
        #expect(try await send(12, from: "192.0.2.2").status == .created)
        // The limit is of reporting alone.
        #expect(try await site.ask("/reports", headers: Self.asEditor, from: "192.0.2.1").status == .ok)
    }

    @Test("Reporting needs what reading needs; the rest needs an editor's key")
    func keys() async throws {
        let site = try site(environment: ["POI_API_KEYS": Self.dataKey])
        func ask(_ method: HTTPMethod, _ target: String, _ headers: HTTPHeaders, body: [UInt8] = [])
            async throws -> Int
        {
            try await site.ask(target, method, headers: headers, body: body).status.code
        }
        #expect(try await ask(.post, "/reports", Self.json, body: Self.body()) == 401)
        for (number, key) in [Self.dataKey, Self.editorKey].enumerated() {
            let headers: HTTPHeaders = [.contentType: "application/json", .authorization: "Bearer \(key)"]
            #expect(try await ask(.post, "/reports", headers, body: Self.body(number)) == 201)
        }
        let path = "/reports/\(Self.id(1))"
        for (method, target) in [(HTTPMethod.get, "/reports"), (.patch, path), (.delete, path)] {
            #expect(try await ask(method, target, [:]) == 401)
            #expect(try await ask(method, target, Self.asReader) == 403)
        }
        #expect(try await ask(.get, "/reports", Self.asEditor) == 200)
    }

    @Test("Without the setting there are no such paths, and without editors nobody reads by HTTP")
    func routes() async throws {
        let off = try site(environment: ["POI_REPORTS": "off"])
        let response = try await off.ask("/reports", .post, headers: Self.json, body: Self.body())
        #expect(response.status.code == 404)
        #expect(try response.problem().code == .unknownPath)
        let alone = try site(hasEditor: false)
        #expect(
            try await alone.ask("/reports", .post, headers: Self.json, body: Self.body()).status == .created)
        let refused = try await alone.ask("/reports")
        #expect(refused.status.code == 405)
        #expect(refused.headers.first(.allow) == "OPTIONS, POST")
        #expect(try await alone.ask("/reports/\(Self.id(1))", .delete).status.code == 404)
    }

    @Test("Editors read a page at a time, the newest first, by what became of the reports")
    func pages() async throws {
        let site = try site()
        for number in 1...5 {
            _ = try await site.ask(
                "/reports", .post, headers: Self.json, body: Self.body(number), from: "192.0.2.\(number)")
        }
        _ = try await site.ask(
            "/reports/\(Self.id(4))", .patch, headers: Self.patch, body: Array(#"{"status":"done"}"#.utf8))
        var (target, pages) = ("/reports?limit=2", [[String]]())
        while true {
            let response = try await site.ask(target, headers: Self.asEditor)
            #expect(response.headers.first(.cacheControl) == "no-store")
            pages.append(try ids(response))
            guard let link = response.headers.first(.link) else { break }
            target = "/reports" + link.dropFirst().prefix { $0 != ">" }
        }
        #expect(pages == [[5, 3], [2, 1]].map { $0.map(Self.id) })
        #expect(try ids(await site.ask("/reports?status=done", headers: Self.asEditor)) == [Self.id(4)])
        #expect(try ids(await site.ask("/reports?status=rejected", headers: Self.asEditor)) == [])
        #expect(try await site.ask("/reports?status=new", headers: Self.asEditor).status.code == 400)
    }

    private func ids(_ response: HTTPResponse) throws -> [String] {
        let items = try JSONSerialization.jsonObject(with: Data(response.body)) as? [[String: Any]]
        return try #require(items).compactMap { $0["id"] as? String }
    }

    @Test("An editor settles a report with a note, by name, and removes all that is known of it")
    func settled() async throws {
        let store = MemoryReportStore()
        let site = try site(store)
        _ = try await site.ask(
            "/reports", .post, headers: Self.json,
            body: Self.body(1, #""place":42,"latitude":1.5,"longitude":2,"reason":"moved","text":"a\nb""#))
        let path = "/reports/\(Self.id(1))"
        let changed = try await site.ask(
            path, .patch, headers: Self.patch, body: Array(#"{"status":"rejected","note":"is right"}"#.utf8))
        let members = try #require(
            try JSONSerialization.jsonObject(with: Data(changed.body)) as? [String: Any])
        #expect(members["status"] as? String == "rejected" && members["note"] as? String == "is right")
        #expect(members["changedBy"] as? String == "Anna B." && members["changedAt"] is String)
        #expect(members["text"] as? String == "a\nb" && members["latitude"] as? Double == 1.5)
        // What isn't named stays.
        let again = try await site.ask(path, .patch, headers: Self.patch, body: Array(#"{"note":null}"#.utf8))
        #expect(again.text.contains(#""status":"rejected""#) && !again.text.contains("note"))

        #expect(try await site.ask(path, .delete, headers: Self.asEditor).status == .noContent)
        #expect(store.reports == [])
        for (method, body) in [(HTTPMethod.delete, ""), (.patch, #"{"status":"done"}"#)] {
            let response = try await site.ask(path, method, headers: Self.patch, body: Array(body.utf8))
            #expect(response.status.code == 404)
            #expect(try response.problem().code == .notFound)
        }
        #expect(try await site.ask("/reports/x", .delete, headers: Self.asEditor).status.code == 404)
        let other = try await site.ask(path, .patch, headers: Self.asEditor, body: Array("{}".utf8))
        #expect(
            other.status.code == 415 && other.headers.first("Accept-Patch") == "application/merge-patch+json")
    }

    @Test("A database that is away is 503, and what failed is 500 without a reason")
    func failures() async throws {
        for (error, status) in [
            (EditError.unavailable(reason: "secret"), 503), (.busy, 503), (.failed(reason: "secret"), 500),
        ] {
            let site = try site(FailingReportStore(error))
            let response = try await site.ask("/reports", .post, headers: Self.json, body: Self.body())
            #expect(response.status.code == status && !response.text.contains("secret"))
        }
    }

    @Test("A body beyond 8 KiB is refused")
    func bodyLimit() async throws {
        let padding = [UInt8](repeating: UInt8(ascii: " "), count: ReportLimits.bodyBytes - Self.body().count)
        let site = try site()
        for (body, status) in [(Self.body() + padding, 201), (Self.body() + padding + [0x20], 413)] {
            let response = try await site.ask("/reports", .post, headers: Self.json, body: body)
            #expect(response.status.code == status)
        }
    }
}
