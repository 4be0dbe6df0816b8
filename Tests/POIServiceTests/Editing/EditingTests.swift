import Foundation
import HTTPServer
import Places
import PointsOfInterestAPI
import PointsOfInterestServerAPI
import Testing

@testable import POIService

@Suite("Editing over HTTP", .timeLimit(.minutes(1)))
struct EditingTests {
    /// The problem of a request, whose status is that of its code.
    private func problem(_ response: HTTPResponse, _ status: Int) throws -> Problem {
        let problem = try response.problem()
        #expect(response.status.code == status && problem.status == status)
        return problem
    }

    private func faults(_ response: HTTPResponse) throws -> [String] {
        let problem = try problem(response, 422)
        #expect(problem.code == .invalidContent)
        return problem.memberErrors.map { "\($0.pointer) \($0.code.rawValue)" }
    }

    // MARK: Records

    @Test("A record has its version as a strong tag, and no cache keeps it")
    func record() async throws {
        let response = try await EditingSite().ask("/locations/5/record")
        #expect(response.status == .ok)
        #expect(response.headers.first(.eTag) == #""7""#)
        #expect(response.headers.first(.cacheControl) == "no-store")
        #expect(response.headers.first(.contentType) == MediaType.json)
        #expect(response.headers.first("Accept-Patch") == EditingSite.mergePatch)
        #expect(try response.record()["name"] == "Test Cafe")
        let compressed = try await EditingSite().ask(
            "/locations/5/record", headers: [.acceptEncoding: "gzip"])
        #expect(compressed.headers.first(.eTag) == #""7""#)
    }

    @Test("A reader may ask for a version")
    func recordOfVersion() async throws {
        let site = try EditingSite()
        func status(_ tag: String) async throws -> Int {
            try await site.ask("/locations/5/record", headers: [.ifMatch: tag]).status.code
        }
        #expect(try await status(#""7""#) == 200)
        #expect(try await status("*") == 200)
        #expect(try await status(#""8""#) == 412)
        #expect(try await status(#"W/"7""#) == 412)
    }

    @Test("A place that isn't there says why, to readers of its record and to its editors")
    func absence() async throws {
        let site = try EditingSite()
        for id in ["99", "0", "x", "05", "9223372036854775808"] {
            #expect(try problem(await site.ask("/locations/\(id)/record"), 404).code == .notFound)
            #expect(try problem(await site.ask("/locations/\(id)", .patch, "{}"), 404).code == .notFound)
            #expect(try problem(await site.ask("/locations/\(id)/versions"), 404).code == .notFound)
        }
        _ = try await site.ask("/locations/9", .delete)
        _ = try await site.ask("/locations/6/merge", .post, #"{"into": 5}"#)
        for (target, method, body) in [
            ("/record", HTTPMethod.get, ""), ("", .patch, "{}"), ("", .delete, ""),
            ("/merge", .post, #"{"into": 5}"#),
        ] {
            #expect(try problem(await site.ask("/locations/9\(target)", method, body), 410).code == .gone)
            let merged = try problem(await site.ask("/locations/6\(target)", method, body), 409)
            #expect(merged.code == .merged && merged.mergedInto == 5)
        }
    }

    // MARK: Versions that were seen

    @Test("An edit says which version was seen, and is refused where there is another one")
    func preconditions() async throws {
        let site = try EditingSite()
        let writes: [(String, HTTPMethod, String)] = [
            ("/locations/5", .patch, #"{"name": "A"}"#), ("/locations/5", .delete, ""),
            ("/locations/5/restore", .post, #"{"version": 7}"#),
            ("/locations/5/merge", .post, #"{"into": 9}"#),
        ]
        for (target, method, body) in writes {
            let missing = try await site.ask(target, method, body, ifMatch: nil)
            #expect(try problem(missing, 428).code == .preconditionRequired)
            for tag in [
                #""6""#, #"W/"7""#, "7", #""""#, #""a""#, "", " , ", #""-1""#, #""07""#, #""+7""#,
                #""6", W/"7", "8""#,
            ] {
                let stale = try await site.ask(target, method, body, ifMatch: tag)
                #expect(try problem(stale, 412).code == .preconditionFailed, "\(tag)")
                #expect(stale.headers.first(.eTag) == #""7""#, "\(tag)")
            }
        }
        #expect(try await site.ask("/locations/5/versions").text == "[]")
    }

    @Test(
        "A list of tags with the place's one is as good as that one, and an asterisk is any",
        arguments: [#""7""#, #""6","7""#, #" "6" , "7" "#, #"W/"7", "7""#, "*", #""6", *"#])
    func lists(tag: String) async throws {
        let site = try EditingSite()
        let response = try await site.ask("/locations/5", .patch, #"{"name": "A"}"#, ifMatch: tag)
        #expect(response.status == .ok)
        #expect(response.headers.first(.eTag) == #""8""#)
    }

    @Test("So many tags that it would cost much to look at them are none")
    func manyTags() async throws {
        let tags = Array(repeating: #""7""#, count: 21).joined(separator: ",")
        let response = try await EditingSite().ask("/locations/5", .patch, "{}", ifMatch: tags)
        #expect(try problem(response, 412).code == .preconditionFailed)
    }

    // MARK: Corrections

    @Test("A correction responds with the record, whose tag is that of the new version")
    func correction() async throws {
        let site = try EditingSite()
        let response = try await site.ask(
            "/locations/5", .patch, #"{"name": "A", "properties": {"phone": null}}"#, ifMatch: #""7""#)
        #expect(response.status == .ok)
        #expect(response.headers.first(.eTag) == #""8""#)
        #expect(response.headers.first(.cacheControl) == "no-store")
        let record = try response.record()
        #expect(record["name"] == "A" && record["properties"] == [:])
        #expect(record["sourceValues"] == ["name": "Test Cafe", "properties.phone": "1"])
        #expect(try await site.ask("/locations/5/record").body == response.body)
        let reset = try await site.ask("/locations/5", .patch, #"{"reset": ["*"]}"#, ifMatch: #""8""#)
        #expect(try reset.record()["sourceValues"] == [:])
    }

    @Test("A record that is sent back changes nothing, whatever its members' order and form")
    func readOnlyMembers() async throws {
        let site = try EditingSite()
        let record = try await site.ask("/locations/5/record")
        let same = try await site.ask("/locations/5", .patch, record.text)
        #expect(same.status == .ok && same.headers.first(.eTag) == #""7""#)
        let form =
            #"{"source": {"license":"\u0043C0-1.0", "id":"c-5", "dataset":"cafes"}, "id": 5.0, "import": null}"#
        #expect(try await site.ask("/locations/5", .patch, form).headers.first(.eTag) == #""7""#)
        let others = #"""
            {"id": 6, "version": 8, "updatedAt": null, "source": {"dataset": "cafes"}, "sourceValues": [], "import": 0, "name": "A"}
            """#
        #expect(
            try faults(await site.ask("/locations/5", .patch, others))
                == ["id", "version", "updatedAt", "source", "sourceValues", "import"].map {
                    "/\($0) read-only-member"
                })
        // A value that is longer than the record could be, or too deep, is another one.
        let long = String(repeating: "e\u{301}", count: 40_000)
        for value in [
            #""\#(long)""#, #"{"\#(long)": 1}"#,
            String(repeating: "[", count: 3000) + String(repeating: "]", count: 3000),
        ] {
            #expect(
                try faults(await site.ask("/locations/5", .patch, #"{"source": \#(value)}"#))
                    == ["/source read-only-member"])
        }
        #expect(try await site.ask("/locations/5/record").body == record.body)
    }

    @Test("All faults of a body are named by their pointers")
    func invalidContent() async throws {
        let site = try EditingSite()
        #expect(
            try faults(
                await site.ask(
                    "/locations/5", .patch, #"{"name": "", "properties": {"a/b": "\u0000"}, "nmae": 1}"#))
                == ["/name malformed", "/properties/a~1b malformed-text", "/nmae unknown"])
        // What only the store knows.
        #expect(
            try faults(await site.ask("/locations/5", .patch, #"{"category": "nowhere"}"#)) == [
                "/category malformed"
            ])
        #expect(try faults(await site.ask("/locations", .post, #"{"name": "A"}"#)).count == 3)
        #expect(
            try faults(await site.ask("/locations/5/restore", .post, #"{"version": 1}"#)) == [
                "/version out-of-range"
            ])
        #expect(
            try faults(await site.ask("/locations/5/merge", .post, #"{"into": 5}"#)) == ["/into out-of-range"]
        )
        #expect(try faults(await site.ask("/locations/5/merge", .post, "{}")) == ["/into missing"])
        #expect(try problem(await site.ask("/locations/5", .patch, "{"), 400).code == .malformedBody)
        #expect(try problem(await site.ask("/locations/5/merge", .post, "{"), 400).code == .malformedBody)
    }

    @Test("An edit has its media type, no content coding, no parameters, and a body that isn't too long")
    func form() async throws {
        let site = try EditingSite()
        for type in ["application/json", "application/json-patch+json", "text/plain", ""] {
            let response = try await site.ask("/locations/5", .patch, "{}", headers: [.contentType: type])
            #expect(try problem(response, 415).code == .unsupportedMediaType)
            #expect(response.headers.first("Accept-Patch") == EditingSite.mergePatch)
        }
        let parameters: HTTPHeaders = [.contentType: "Application/Merge-Patch+JSON; charset=utf-8"]
        #expect(try await site.ask("/locations/5", .patch, "{}", headers: parameters).status == .ok)
        for target in ["/locations", "/locations/5/restore", "/locations/5/merge"] {
            let response = try await site.ask(
                target, .post, "{}", headers: [.contentType: EditingSite.mergePatch])
            #expect(try problem(response, 415).code == .unsupportedMediaType)
        }
        let coded = try await site.ask("/locations/5", .patch, "{}", headers: [.contentEncoding: "gzip"])
        #expect(try problem(coded, 415).code == .unsupportedContentEncoding)
        for (target, method) in [("/locations/5", HTTPMethod.patch), ("/locations/5", .delete)] {
            let response = try await site.ask("\(target)?a=1", method, method == .patch ? "{}" : "")
            #expect(try problem(response, 400).errors.map(\.parameter) == ["a"])
        }
        #expect(try await site.ask("/locations/5/record?a=1").status.code == 400)
        let html = try await site.ask("/locations/5", .patch, "{}", headers: [.accept: "text/html"])
        #expect(try problem(html, 406).code == .notAcceptable)
        let full = #"{"name": "A"\#(String(repeating: " ", count: EditLimits.bodyBytes - 13))}"#
        #expect(full.utf8.count == EditLimits.bodyBytes)
        #expect(try await site.ask("/locations/5", .patch, full).status == .ok)
        #expect(try await site.ask("/locations/5", .patch, full + " ").status.code == 413)
        #expect(try await site.ask("/locations/9", .delete, "{}").status.code == 413)
        #expect(try await site.ask("/locations/9/record").status == .ok)
    }

    // MARK: Other edits

    @Test("A new place has its address and its tag")
    func creation() async throws {
        let site = try EditingSite(["POI_EDITORIAL_LICENSE": "CC0-1.0"])
        let response = try await site.ask(
            "/locations", .post, #"{"name": "A", "category": "zoo", "latitude": 1, "longitude": 2}"#)
        #expect(response.status == .created)
        // Relative to /locations, whatever a proxy has in front of it.
        #expect(response.headers.first("Location") == "locations/10")
        #expect(response.headers.first(.eTag) == #""1""#)
        let record = try response.record()
        #expect(record["source"] == ["dataset": "editorial", "id": "10", "license": "CC0-1.0"])
        #expect(try await site.ask("/locations/10/record").body == response.body)
        let other = try await site.ask(
            "/locations", .post,
            #"{"name": "A", "category": "zoo", "latitude": 1, "longitude": 2, "dataset": "editorial-berlin"}"#
        )
        #expect(
            try other.record()["source"] == ["dataset": "editorial-berlin", "id": "11", "license": "CC0-1.0"])
    }

    @Test("A removed place is restored with the tag of the version that its removal ended")
    func removal() async throws {
        let site = try EditingSite()
        let removed = try await site.ask("/locations/5", .delete, ifMatch: #""7""#)
        #expect(removed.status == .noContent && removed.body.isEmpty)
        #expect(removed.headers.first(.cacheControl) == "no-store" && !removed.headers.contains(.eTag))
        let versions = try JSONDecoder().decode(
            [JSONValue.Object].self, from: Data(try await site.ask("/locations/5/versions").body))
        #expect(versions.map { $0["version"] } == [7] && versions[0]["isRemoval"] == true)
        #expect(versions[0]["who"] == "Ada Lovelace (poi_edit)")
        let restored = try await site.ask(
            "/locations/5/restore", .post, #"{"version": 7}"#, ifMatch: #""7""#)
        #expect(restored.status == .ok && restored.headers.first(.eTag) == #""8""#)
        #expect(try restored.record()["name"] == "Test Cafe")
    }

    @Test("A merge responds with the survivor")
    func merging() async throws {
        let site = try EditingSite()
        let response = try await site.ask("/locations/6/merge", .post, #"{"into": 5}"#, ifMatch: #""0""#)
        #expect(response.status == .ok && response.headers.first(.eTag) == #""8""#)
        let record = try response.record()
        #expect(record["id"] == 5 && record["address"] == "1 Main St")
    }

    @Test("The versions come page by page, by a link that keeps the limit")
    func versions() async throws {
        let site = try EditingSite()
        for name in ["A", "B", "C"] {
            _ = try await site.ask("/locations/5", .patch, #"{"name": "\#(name)"}"#)
        }
        var (target, numbers) = ("/locations/5/versions?limit=2", [JSONValue]())
        for _ in 0..<2 {
            let response = try await site.ask(target)
            #expect(response.status == .ok && response.headers.first(.cacheControl) == "no-store")
            let page = try JSONDecoder().decode([JSONValue.Object].self, from: Data(response.body))
            numbers += page.compactMap { $0["version"] }
            guard let link = response.headers.first(.link) else { break }
            let match = try #require(link.wholeMatch(of: /<([^>]+)>; rel="next"/))
            target = try #require(
                URL(string: String(match.1), relativeTo: URL(string: "http://a/locations/5/versions"))
            ).relativeString
            target = "/locations/5/" + target
        }
        #expect(numbers == [9, 8, 7])
        #expect(target == "/locations/5/versions?limit=2&before=2")
        #expect(
            try problem(await site.ask("/locations/5/versions?limit=0"), 400).errors.map(\.parameter) == [
                "limit"
            ])
        #expect(try await site.ask("/locations/5/versions", .head).status == .ok)
    }

    @Test("The newest changes come page by page, by a link that keeps the box and the limit")
    func changes() async throws {
        let site = try EditingSite()
        for name in ["A", "B", "C"] {
            _ = try await site.ask("/locations/5", .patch, #"{"name": "\#(name)"}"#)
        }
        _ = try await site.ask("/locations/9", .delete)
        var (target, versions) = ("/changes?limit=2&bbox=1,0,3,2", [JSONValue]())
        for _ in 0..<2 {
            let response = try await site.ask(target)
            #expect(response.status == .ok && response.headers.first(.cacheControl) == "no-store")
            let page = try JSONDecoder().decode([JSONValue.Object].self, from: Data(response.body))
            #expect(page.allSatisfy { $0["id"] == 5 && $0["name"] == "C" })
            versions += page.compactMap { $0["version"] }
            guard let link = response.headers.first(.link) else { break }
            target = "/changes" + String(try #require(link.wholeMatch(of: /<([^>]+)>; rel="next"/)).1)
        }
        #expect(versions == [9, 8, 7])
        #expect(target == "/changes?bbox=1%2C0%2C3%2C2&limit=2&before=2")
        let all = try await site.ask("/changes")
        #expect(try JSONDecoder().decode([JSONValue.Object].self, from: Data(all.body)).count == 4)
        for (query, code) in [
            ("bbox=1,2,3", ProblemCode.malformedBox), ("bbox=1,3,2,2", .malformedBox),
            ("bbox=1,2,3,91", .outOfRange), ("limit=0", .outOfRange), ("near=1", .unknownParameter),
        ] {
            #expect(try problem(await site.ask("/changes?\(query)"), 400).errors.map(\.code) == [code])
        }
        #expect(try await site.ask("/changes", .head).status == .ok)
    }

    // MARK: Requests that are sent again

    @Test("An edit that is sent again with its key has the same response and is done once")
    func idempotency() async throws {
        let site = try EditingSite()
        let body = #"{"name": "A", "category": "zoo", "latitude": 1, "longitude": 2}"#
        let first = try await site.ask("/locations", .post, body, headers: ["Idempotency-Key": "key-1"])
        // Quotes around it are no part of the key (RFC 8941, section 3.3.3).
        let again = try await site.ask("/locations", .post, body, headers: ["Idempotency-Key": #""key-1""#])
        #expect(again.status == .created && again.body == first.body)
        #expect(again.headers.first("Location") == first.headers.first("Location"))
        #expect(try await site.ask("/locations/11/record").status.code == 404)
        let key: HTTPHeaders = ["Idempotency-Key": "key-1"]
        for response in [
            try await site.ask("/locations", .post, body + " ", headers: key),
            try await site.ask("/locations/5", .delete, headers: key),
        ] { #expect(try problem(response, 422).code == .idempotencyKeyReused) }
        // Its tag is of before the edit, as it was the first time.
        let patch: HTTPHeaders = ["Idempotency-Key": "key-2"]
        for _ in 0..<2 {
            let response = try await site.ask(
                "/locations/5", .patch, #"{"name": "B"}"#, ifMatch: #""7""#, headers: patch)
            #expect(response.status == .ok && response.headers.first(.eTag) == #""8""#)
        }
        let removal: HTTPHeaders = ["Idempotency-Key": "key-3"]
        for _ in 0..<2 {
            #expect(try await site.ask("/locations/9", .delete, headers: removal).status == .noContent)
        }
    }

    @Test("An edit that is sent again isn't refused for what it has changed itself")
    func idempotencyOfWholeRecords() async throws {
        let site = try EditingSite()
        // The record as it was, with another name: version and time are others afterwards.
        let record = try await site.ask("/locations/5/record").text.replacing("Test Cafe", with: "A")
        for _ in 0..<2 {
            let response = try await site.ask(
                "/locations/5", .patch, record, ifMatch: #""7""#, headers: ["Idempotency-Key": "key-1"])
            #expect(response.status == .ok && response.headers.first(.eTag) == #""8""#)
        }
        // A list of tags is compared with the place's, which is gone.
        for _ in 0..<2 {
            let response = try await site.ask(
                "/locations/9", .delete, ifMatch: #""0", "5""#, headers: ["Idempotency-Key": "key-2"])
            #expect(response.status == .noContent)
        }
        // With another body, or for the first time, it is refused as without a key.
        let reused = try await site.ask(
            "/locations/5", .patch, record + " ", headers: ["Idempotency-Key": "key-1"])
        #expect(try problem(reused, 422).code == .idempotencyKeyReused)
        let first = try await site.ask("/locations/5", .patch, record, headers: ["Idempotency-Key": "key-3"])
        #expect(
            try faults(first) == ["version", "updatedAt", "sourceValues"].map { "/\($0) read-only-member" })
        let list = try await site.ask(
            "/locations/5", .delete, ifMatch: #""0", "5""#, headers: ["Idempotency-Key": "key-4"])
        #expect(try problem(list, 412).code == .preconditionFailed)
        let other = try await site.ask("/locations/5", .patch, "{}", headers: ["Idempotency-Key": "key-4"])
        #expect(other.status == .ok && other.headers.first(.eTag) == #""8""#)
    }

    @Test("A key has 1 to 255 visible characters, and is there once")
    func malformedKeys() async throws {
        let site = try EditingSite()
        let longest = String(repeating: "~", count: 255)
        for key in ["!", longest, "\"\(longest)\"", "\"", "\"\""] {
            let response = try await site.ask("/locations/5", .patch, "{}", headers: ["Idempotency-Key": key])
            #expect(response.status == .ok, "\(key)")
        }
        for key in ["", "a b", "\"a b\"", "é", longest + "~"] {
            let response = try await site.ask("/locations/5", .patch, "{}", headers: ["Idempotency-Key": key])
            #expect(try problem(response, 400).code == .badRequest, "\(key)")
        }
        var two: HTTPHeaders = ["Idempotency-Key": "a"]
        two.add("Idempotency-Key", "a")
        #expect(
            try problem(await site.ask("/locations/5", .patch, "{}", headers: two), 400).code == .badRequest)
    }

    @Test("A response says where this server doesn't serve the edit yet")
    func visibility() async throws {
        let site = try EditingSite()
        #expect(
            !(try await site.ask("/locations/5", .patch, #"{"name": "A"}"#)).headers.contains("Poi-Visible"))
        site.places.servesEdits = false
        let body = #"{"name": "A", "category": "zoo", "latitude": 1, "longitude": 2}"#
        for response in [
            try await site.ask("/locations/5", .patch, #"{"name": "B"}"#),
            try await site.ask("/locations", .post, body), try await site.ask("/locations/5", .delete),
        ] {
            #expect(response.headers.first("Poi-Visible") == "no")
            #expect(response.status.code < 300)
        }
        #expect(!(try await site.ask("/locations/9/record")).headers.contains("Poi-Visible"))
    }

    // MARK: Failures

    /// A store in which everything fails.
    private final class FailingStore: EditStore {
        let error: EditError

        init(_ error: EditError) { self.error = error }

        func record(of id: Int64) async throws(EditError) -> EditedPlace { throw error }
        func edit(_ edit: PlaceEdit) async throws(EditError) -> EditOutcome { throw error }
        func versions(
            of id: Int64, from position: Int64?, count: Int
        ) async throws(EditError) -> VersionsPage { throw error }
        func changes(
            in box: BoundingBox?, from position: Int64?, count: Int
        ) async throws(EditError) -> VersionsPage { throw error }
        func close() async {}
    }

    @Test("A store that fails is a problem without its reason")
    func failures() async throws {
        for (error, status, code) in [
            (EditError.busy, 503, ProblemCode.databaseBusy),
            (.unavailable(reason: "secret"), 503, .databaseUnavailable),
            (.failed(reason: "secret"), 500, .internalError),
        ] {
            let site = try EditingSite(edits: FailingStore(error))
            for response in [
                try await site.ask("/locations/5/record"), try await site.ask("/locations/5/versions"),
                try await site.ask("/changes"), try await site.ask("/locations/5", .delete),
            ] {
                #expect(try problem(response, status).code == code)
                #expect(!response.text.contains("secret"))
                #expect(response.headers.contains(.retryAfter) == (status == 503))
            }
        }
        // Somebody else was faster, and what the version is now isn't known.
        let stale = try await EditingSite(edits: FailingStore(.stale(version: nil))).ask(
            "/locations/5", .delete)
        #expect(stale.status.code == 412 && !stale.headers.contains(.eTag))
    }

    @Test("Where nobody may edit, the methods aren't there")
    func withoutEditors() async throws {
        let site = try ServiceSite(StubStore())
        for (target, method) in [
            ("/locations", HTTPMethod.post), ("/locations/5", .patch), ("/locations/5", .delete),
        ] {
            let response = try await site.ask(
                target, method, headers: [.authorization: "Bearer \(EditorsFile.key)"])
            #expect(try problem(response, 405).code == .methodNotAllowed)
            #expect(response.headers.first("Allow") == "GET, HEAD, OPTIONS")
        }
        #expect(try await site.ask("/locations/5/record").status.code == 404)
        let allowed = try await EditingSite().ask("/locations/5", .put)
        #expect(try problem(allowed, 405).code == .methodNotAllowed)
        #expect(allowed.headers.first("Allow") == "DELETE, GET, HEAD, OPTIONS, PATCH")
    }
}
