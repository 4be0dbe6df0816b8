import Foundation
import HTTPServer
import Hashing
import PointsOfInterestAPI
import Testing

@testable import POIService
@testable import Program

@Suite("The page at /")
struct StartPageTests {
    /// A folder with stand-ins for Leaflet's files, which is gone with the value.
    private final class LeafletFolder {
        let url = FileManager.default.temporaryDirectory.appending(path: "leaflet-\(UUID().uuidString)")

        init(_ files: [String: String]) throws {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            for (name, text) in files { try Data(text.utf8).write(to: url.appending(path: name)) }
        }

        deinit { try? FileManager.default.removeItem(at: url) }
    }

    private static let leafletFiles = [
        "leaflet.css": "/* style */", "leaflet.js": "readable", "leaflet.min.js": "minified",
    ]

    private static func site(_ environment: [String: String] = [:]) throws -> ServiceSite {
        let folder = try LeafletFolder(leafletFiles)
        return try withExtendedLifetime(folder) {
            try ServiceSite(
                environment: ["POI_LEAFLET_DIRECTORY": folder.url.path].merging(environment) { $1 })
        }
    }

    /// The paths of the files that the page's HTML and its settings name.
    private static func assets(of page: HTTPResponse) -> [String] {
        page.text.matches(of: /(?:"|&quot;)(assets\/[^"&]*)/).map { "/" + $0.1 }
    }

    @Test("A browser asks for the page again with its entity tag, and loads only from this service")
    func fields() async throws {
        let site = try Self.site()
        let page = try await site.ask("/")
        #expect(page.status == .ok)
        #expect(page.headers.first(.contentType) == "text/html; charset=utf-8")
        #expect(page.headers.first(.cacheControl) == "no-cache")
        let style = try #require(page.text.firstMatch(of: /(?s)<style>(.*)<\/style>/)).1
        let hash = Data(SHA256.digest(of: Array(style.utf8))).base64EncodedString()
        #expect(style.contains("color-scheme"))
        #expect(
            page.headers.first("Content-Security-Policy") == """
                default-src 'none'; script-src 'self'; style-src 'self' 'sha256-\(hash)'; img-src 'self' data:; connect-src 'self'; \
                base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
                trusted-types default
                """)
        #expect(page.headers.first("X-Content-Type-Options") == "nosniff")
        #expect(page.headers.first("Referrer-Policy") == "no-referrer")
        #expect(page.headers.first("Permissions-Policy") == "camera=(), geolocation=(self), microphone=()")
        let tag = try #require(page.headers.first(.eTag))
        #expect(try await site.ask("/", headers: [.ifNoneMatch: tag]).status == .notModified)
        #expect(!page.text.contains("{{"))
    }

    @Test("The page's files may be cached for a year, and have their media types")
    func files() async throws {
        let site = try Self.site()
        let paths = Self.assets(of: try await site.ask("/"))
        #expect(Set(paths.map { $0.split(separator: "/").last }).count == 5, "\(paths)")
        let types: [String: String] = [
            "js": "text/javascript", "css": "text/css", "bin": "application/octet-stream", "svg": "image/svg",
        ]
        for path in paths {
            let file = try await site.ask(path)
            #expect(file.status == .ok)
            #expect(!file.body.isEmpty)
            #expect(file.headers.first(.cacheControl) == "public, max-age=31536000, immutable")
            #expect(file.headers.first("X-Content-Type-Options") == "nosniff")
            let type = try #require(types[String(path.split(separator: ".").last ?? "")], "\(path)")
            #expect(file.headers.first(.contentType)?.hasPrefix(type) == true)
        }
        #expect(try await site.ask(paths.first { $0.hasSuffix("leaflet.js") } ?? "").text == "minified")
    }

    @Test("The page's script is one file, with each module behind those that it imports")
    func script() async throws {
        let site = try Self.site()
        let path = try #require(Self.assets(of: try await site.ask("/")).first { $0.hasSuffix("page.js") })
        let own = try await site.ask(path).text
        let editors = try await site.ask(path.replacing("page.js", with: "edit.js")).text
        var defined: Set<Substring> = []
        for match in (own + editors).matches(of: /modules\['([a-z]+\.js)'\]( = \(|;)/) {
            if match.2 == ";" {
                #expect(defined.contains(match.1), "\(match.1) is used before it is there")
            } else {
                #expect(defined.insert(match.1).inserted, "\(match.1) is there twice")
            }
        }
        #expect(own.hasPrefix("export const modules = {};\n"))
        #expect(editors.hasPrefix("import { modules } from './page.js';\n"))
        #expect(defined.isSuperset(of: ["main.js", "edit.js"]))
        for script in [own, editors] { #expect(!script.dropFirst().contains(#/\n(import|export) /#)) }
    }

    @Test("Only where there are editors, the page names their script, and says what they may do")
    func editing() async throws {
        #expect(!(try await Self.site().ask("/").text.contains("edit.js")))
        var reader = SettingsReader(flags: [:], environment: [:])
        let configuration = try StartPageConfiguration(from: &reader)
        let page = StartPage(configuration, editing: .init(takesReports: true))
        let request = try HTTPRequest(method: .get, target: "/", headers: [:])
        let response = try page.document.response(to: request, context: RequestContext(requestID: "id-1"))
        let names = Self.assets(of: response).map { $0.split(separator: "/").last }
        #expect(names.contains("edit.js") && names.contains("edit.css"))
        #expect(response.text.contains("&quot;takesReports&quot;:true"))
    }

    @Test("A module's imports, exports and comments are replaced")
    func joinedModules() {
        let joined = PageScript.joined([
            (
                "one.js",
                "// Says one.\nexport const one = 1;\nexport async function two() {}\nconst three = 3;"
            ),
            (
                "main.js",
                "import { one, two as zwei } from './one.js';\nimport * as all from './one.js';\none; // used"
            ),
        ])
        #expect(
            joined == """
                export const modules = {};
                modules['one.js'] = (() => {
                const one = 1;
                async function two() {}
                const three = 3;
                return { one, two };
                })();
                modules['main.js'] = (() => {
                const { one, two: zwei } = modules['one.js'];
                const all = modules['one.js'];
                one; // used
                return {  };
                })();

                """)
    }

    @Test("A file's path changes with any file, and the old path is 404")
    func versions() async throws {
        let folder = try LeafletFolder(Self.leafletFiles)
        let environment = ["POI_LEAFLET_DIRECTORY": folder.url.path]
        let before = Self.assets(of: try await ServiceSite(environment: environment).ask("/"))
        try Data("newer".utf8).write(to: folder.url.appending(path: "leaflet.min.js"))
        let site = try ServiceSite(environment: environment)
        let after = Self.assets(of: try await site.ask("/"))
        #expect(Set(before).isDisjoint(with: after))
        for path in before { #expect(try await site.problem(path).code == .unknownPath) }
    }

    @Test(
        "A request for a file that the page doesn't have gets a 404",
        arguments: ["index.html", "nothing.js", "..%2Fpage.js", "e%CC%81"])
    func unknownFile(name: String) async throws {
        let site = try Self.site()
        let path = try #require(Self.assets(of: try await site.ask("/")).first)
        let folder = path.prefix(through: path.lastIndex(of: "/") ?? path.startIndex)
        #expect(try await site.problem("\(folder)\(name)").code == .unknownPath)
        #expect(try await site.problem("/assets/e%CC%81/page.js").code == .unknownPath)
    }

    @Test("A file is compressed once for clients that accept gzip, and sent as it is to others")
    func compression() async throws {
        let site = try Self.site()
        let path = try #require(Self.assets(of: try await site.ask("/")).first { $0.hasSuffix("page.js") })
        let plain = try await site.ask(path)
        let head = try await site.ask(path, .head, headers: [.acceptEncoding: "gzip, br"])
        let first = try await site.ask(path, headers: [.acceptEncoding: "gzip, br"])
        let second = try await site.ask(path, headers: [.acceptEncoding: "gzip, br"])
        #expect(plain.headers.first(.contentEncoding) == nil)
        #expect(head.headers.first(.contentEncoding) == "gzip")
        #expect(first.headers.first(.contentEncoding) == "gzip")
        #expect(first.body.count < plain.body.count / 2)
        #expect(Array(first.body) == Array(second.body))
        #expect(try await site.ask(path).text == plain.text)
    }

    @Test("The page and its files need no key, and the files don't count towards a client's rate limit")
    func access() async throws {
        let site = try Self.site(["POI_API_KEYS": "0123456789abcdef", "POI_RATE_LIMIT": "2/h"])
        let page = try await site.ask("/", from: "192.0.2.1")
        #expect(page.status == .ok)
        for path in Self.assets(of: page) {
            #expect(try await site.ask(path, from: "192.0.2.1").status == .ok)
        }
        #expect(try await site.ask("/categories", from: "192.0.2.1").status == .unauthorized)
        #expect(try await site.ask("/categories", from: "192.0.2.1").status == .tooManyRequests)
    }

    @Test("The tiles' origin is in the page's policy, and their address and credit are in its settings")
    func tiles() async throws {
        let page = try await Self.site([
            "POI_TILES_URL": "https://tiles.example:8443/a/{z}/{x}/{y}.png?k=\"1",
            "POI_TILES_ATTRIBUTION": "© <b>People</b> https://tiles.example/",
        ]).ask("/")
        let policy = try #require(page.headers.first("Content-Security-Policy"))
        #expect(policy.contains("img-src 'self' data: https://tiles.example:8443; connect-src"))
        #expect(page.headers.first("Referrer-Policy") == "strict-origin")
        #expect(page.text.contains("https://tiles.example:8443/a/{z}/{x}/{y}.png?k=\\&quot;1"))
        #expect(page.text.contains("© &lt;b&gt;People&lt;/b&gt;"))
        #expect(!page.text.contains("base-map.bin"))
    }

    @Test(
        "Tiles may be the service's own, also others in the dark, up to a zoom, with a place for fine screens"
    )
    func ownTiles() async throws {
        let page = try await Self.site([
            "POI_TILES_URL": "tiles/{z}/{x}/{y}{r}.png",
            "POI_TILES_DARK_URL": "https://dark.example/{z}/{x}/{y}",
            "POI_TILES_MAX_ZOOM": "14",
        ]).ask("/")
        let policy = try #require(page.headers.first("Content-Security-Policy"))
        #expect(policy.contains("img-src 'self' data: https://dark.example; connect-src"))
        for member in [
            #""tiles":"tiles/{z}/{x}/{y}{r}.png""#, #""darkTiles":"https://dark.example/{z}/{x}/{y}""#,
            #""closestTiles":14"#,
        ] {
            #expect(page.text.contains(member.replacing("\"", with: "&quot;")), "\(member)")
        }
        let own = try await Self.site(["POI_TILES_URL": "/t/{z}/{x}/{y}"]).ask("/")
        #expect(
            own.headers.first("Content-Security-Policy")?.contains("img-src 'self' data:; connect-src")
                == true)
        #expect(own.headers.first("Referrer-Policy") == "no-referrer")
        #expect(throws: ConfigurationError("POI_TILES_DARK_URL: expected POI_TILES_URL to be set too")) {
            try Self.site(["POI_TILES_DARK_URL": "/t/{z}/{x}/{y}"])
        }
    }

    @Test(
        "Vector tiles and their styles are refused as such",
        arguments: [
            "https://a.example/{z}/{x}/{y}.pbf", "https://a.example/{z}/{x}/{y}.mvt?key=1", "/style.json",
            "https://a.example/a.pmtiles",
        ])
    func vectorTiles(url: String) throws {
        let error = #expect(throws: ConfigurationError.self) { try Self.site(["POI_TILES_URL": url]) }
        #expect(error?.description.contains("the page draws no vector tiles") == true)
    }

    @Test("A team's page has its title, logo, color, beginning and hosts of pictures")
    func ownLook() async throws {
        let page = try await Self.site([
            "POI_PAGE_TITLE": "Helsinki & {{assets}} <b>",
            "POI_PAGE_LOGO": "https://logo.example/a.svg?a=\"&b",
            "POI_PAGE_COLOR": "#7a1f5c", "POI_PAGE_START": "60.17, 24.94,12",
            "POI_PAGE_IMAGE_HOSTS": "images.example, b.example:8443",
        ]).ask("/")
        let title = "Helsinki &amp; {{assets}} &lt;b&gt;"
        #expect(page.text.contains("<title>\(title)</title>"))
        #expect(
            page.text.contains(
                #"<h1><img src="https://logo.example/a.svg?a=&quot;&amp;b" alt=""> \#(title)</h1>"#))
        let start = #"start":{"latitude":60.17,"longitude":24.94,"zoom":12}"#
        #expect(page.text.contains(start.replacing("\"", with: "&quot;")))
        let policy = try #require(page.headers.first("Content-Security-Policy"))
        #expect(
            policy.contains(
                "img-src 'self' data: https://b.example:8443 https://images.example https://logo.example;"))
        let style = try #require(page.text.firstMatch(of: /(?s)<style>(.*)<\/style>/)).1
        #expect(style.contains("--accent: #7a1f5c"))
        #expect(policy.contains(Data(SHA256.digest(of: Array(style.utf8))).base64EncodedString()))
    }

    @Test(
        "What a page can't have is refused",
        arguments: [
            ("POI_PAGE_COLOR", "red"), ("POI_PAGE_COLOR", "#0b6b6"), ("POI_PAGE_COLOR", "#8ab8b6"),
            ("POI_PAGE_COLOR", "#0b6b66; x"), ("POI_PAGE_START", "60.17,24.94"), ("POI_PAGE_START", "91,0,1"),
            ("POI_PAGE_START", "0,0,20"), ("POI_PAGE_START", "nan,0,2"), ("POI_PAGE_LOGO", "//a.example/b"),
            ("POI_PAGE_LOGO", "javascript:a"), ("POI_PAGE_LOGO", "a b"), ("POI_PAGE_LOGO", "\\\\a.example/b"),
            ("POI_PAGE_IMAGE_HOSTS", "https://a.example"), ("POI_PAGE_IMAGE_HOSTS", "a; script-src *"),
            ("POI_TILES_MAX_ZOOM", "0"),
        ])
    func refusedLook(name: String, value: String) throws {
        let error = #expect(throws: ConfigurationError.self) { try Self.site([name: value]) }
        #expect(error?.description.hasPrefix("\(name)=\(value): expected ") == true, "\(error as Any)")
    }

    @Test(
        "An address of tiles without zoom, column and row, or that is no URL, is refused",
        arguments: [
            "//tiles.example/{z}/{x}/{y}", "ftp://tiles.example/{z}/{x}/{y}", "https://tiles.example/{z}/{x}",
            "https://{s}.tiles.example/{z}/{x}/{y}", "https://tiles.example/{z}/{x}/{y}/{r}{r}",
            "javascript:{z}/{x}/{y}",
            "https://tiles.example; script-src */{z}/{x}/{y}", "https:///{z}/{x}/{y}",
            "https://tiles.example",
            "https://tiles.example/{z}/{x}/{y}/{z}", "https://tiles.example/{z}/{x}/{y}\u{e9}",
        ])
    func refusedTiles(url: String) throws {
        let error = #expect(throws: ConfigurationError.self) { try Self.site(["POI_TILES_URL": url]) }
        #expect(
            error?.description.hasPrefix("POI_TILES_URL=\(url): expected an http, https or relative address")
                == true)
    }

    @Test("A credit without tiles is refused")
    func creditWithoutTiles() {
        #expect(throws: ConfigurationError("POI_TILES_ATTRIBUTION: expected POI_TILES_URL to be set too")) {
            try Self.site(["POI_TILES_ATTRIBUTION": "somebody"])
        }
    }

    @Test("A folder without Leaflet is refused, and one with upstream's single script is accepted")
    func leafletFolder() async throws {
        #expect(throws: ConfigurationError.self) { try Self.site(["POI_LEAFLET_DIRECTORY": "/nowhere"]) }
        let upstream = try LeafletFolder(["leaflet.css": "/* style */", "leaflet.js": "upstream"])
        let site = try ServiceSite(environment: ["POI_LEAFLET_DIRECTORY": upstream.url.path])
        let path = Self.assets(of: try await site.ask("/")).first { $0.hasSuffix("leaflet.js") }
        #expect(try await site.ask(try #require(path)).text == "upstream")
    }

    @Test("The page has everything but the map if there is no Leaflet")
    func withoutLeaflet() async throws {
        var reader = SettingsReader(flags: [:], environment: [:])
        var configuration = try StartPageConfiguration(from: &reader)
        configuration.leaflet = nil
        let page = StartPage(configuration)
        let request = try HTTPRequest(method: .get, target: "/", headers: [:])
        let response = try page.document.response(to: request, context: RequestContext(requestID: "id-1"))
        let names = Self.assets(of: response).map { $0.split(separator: "/").last }
        #expect(names == ["base-map.bin", "map.css", "icon.svg", "page.js"])
    }
}

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
