import Foundation
import HTTPServer
import PointsOfInterestAPI
import Testing

@testable import POIService

@Suite("Pages")
struct PageTests {
    private static let htmlType = "text/html; charset=utf-8"

    @Test("Every problem's type is the path of a page with its meaning and remedy")
    func problemPages() async throws {
        let site = try ServiceSite(StubStore())
        for (code, definition) in ProblemCode.definitions {
            let page = try await site.ask(Problem(code).type)
            #expect(page.status == .ok)
            #expect(page.headers.first(.contentType) == Self.htmlType)
            for text in [code.rawValue, definition.title, definition.meaning, definition.remedy] {
                #expect(page.text.contains(HTMLPage.escaped(text)), "\(code.rawValue)")
            }
        }
    }

    @Test("A page is JSON if the client prefers that")
    func json() async throws {
        struct Page: Decodable {
            let type, code, title, meaning, remedy: String
            let status: Int
        }
        let site = try ServiceSite(StubStore())
        let accept: HTTPHeaders = [.accept: "application/json"]
        let page = try await site.ask("/problems/not-found", headers: accept)
        #expect(page.headers.first(.contentType) == "application/json")
        let decoded = try JSONDecoder().decode(Page.self, from: Data(page.body))
        #expect(decoded.type == "/problems/not-found")
        #expect(decoded.status == 404)
        #expect(decoded.title == ProblemCode.definitions[.notFound]?.title)

        let index = try await site.ask("/problems", headers: accept)
        let all = try JSONDecoder().decode([Page].self, from: Data(index.body))
        #expect(Set(all.map(\.code)) == Set(ProblemCode.definitions.keys.map(\.rawValue)))
        #expect(all.map(\.status) == all.map(\.status).sorted())
    }

    @Test("The index links to every page, relative to itself, and the start page to the index")
    func links() async throws {
        let site = try ServiceSite(StubStore())
        let index = try await site.ask("/problems").text
        for code in ProblemCode.definitions.keys {
            #expect(index.contains("<a href=\"problems/\(code.rawValue)\">"))
        }
        let start = try await site.ask("/").text
        #expect(start.contains("href=\"problems\"") && start.contains("href=\"openapi.json\""))
    }

    @Test(
        "An unknown code is 404",
        arguments: ["nothing", "Not-Found", "not-found%20", "unspecified", "%3Cscript%3E"])
    func unknownCode(code: String) async throws {
        let answer = try await ServiceSite(StubStore()).ask("/problems/\(code)")
        #expect(answer.status == .notFound)
        #expect(try answer.problem().code == .notFound)
        #expect(!answer.text.contains("script"))
    }

    @Test(
        "Pages load nothing, can be cached, and have entity tags",
        arguments: ["/problems", "/problems/not-found"])
    func fields(target: String) async throws {
        let site = try ServiceSite(StubStore(), environment: ["POI_CACHE_PUBLIC_MAX_AGE": "60m"])
        let page = try await site.ask(target)
        #expect(page.headers.first("Content-Security-Policy")?.hasPrefix("default-src 'none'") == true)
        #expect(page.headers.first("X-Content-Type-Options") == "nosniff")
        #expect(page.headers.first(.cacheControl) == "public, max-age=3600")
        #expect(!page.text.contains("<script") && !page.text.contains("style"))
        let tag = try #require(page.headers.first(.eTag))
        let unchanged = try await site.ask(target, headers: [.ifNoneMatch: tag])
        #expect(unchanged.status == .notModified)
        #expect(unchanged.body.isEmpty)
        #expect(unchanged.headers.first(.eTag) == tag)
        #expect(unchanged.headers.first(.cacheControl) == "public, max-age=3600")
        let json = try await site.ask(target, headers: [.accept: "application/json", .ifNoneMatch: tag])
        #expect(json.status == .ok)
        #expect(json.headers.first(.eTag) != tag)
        #expect(try await site.ask(target, headers: [.accept: "image/png"]).status == .notAcceptable)
    }

    @Test("Text is escaped for HTML")
    func escaping() {
        #expect(HTMLPage.escaped("a<b>&\"c\"'") == "a&lt;b&gt;&amp;&quot;c&quot;'")
        // Each with a combining mark is one character, and still what a browser looks for.
        #expect(
            HTMLPage.escaped("\"\u{301}<\u{338}&\u{fe0f}>\u{20d2}")
                == "&quot;\u{301}&lt;\u{338}&amp;\u{fe0f}&gt;\u{20d2}")
    }
}
