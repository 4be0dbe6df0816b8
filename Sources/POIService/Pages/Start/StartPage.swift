import CBaseMap
import Foundation
import HTTPServer
import Hashing
import PointsOfInterestAPI

/// `GET /`: the places on a map and in a list, for people who open the service's address.
///
/// The page is `Web/index.html` with the style `Web/page.css` in it, since nothing is drawn without it, and its scripts are
/// one file, `page.js`, made of the modules of `Web/`; those of `Web/Edit/` are another, `edit.js`, which only editors load. All its files are below a path with a hash over their contents, so
/// that browsers keep them for a year, and files of two versions are never mixed.
struct StartPage {
    let document: StaticDocument
    let files: StartPageFiles

    /// - Parameter editing: what editors may do on the page; nil where there are none.
    init(_ configuration: StartPageConfiguration, editing: Editing? = nil) {
        files = StartPageFiles(leaflet: configuration.leaflet)
        let assets = "assets/\(files.version)"
        let style = Self.style(configuration.color)
        let logo = configuration.logo.map { #"<img src="\#(HTMLPage.escaped($0.text))" alt=""> "# } ?? ""
        // Placeholders are replaced once: what a setting says is never one.
        let texts = [
            "style": style, "assets": assets, "logo": logo, "title": HTMLPage.escaped(configuration.title),
            "settings": HTMLPage.escaped(Self.settings(configuration, editing, assets: assets)),
        ]
        let html = String(decoding: PackageResources.index_html, as: UTF8.self)
            .replacing(/\{\{(\w+)\}\}/) { texts[String($0.output.1)] ?? String($0.output.0) }
        document = StaticDocument(
            [.html(Array(html.utf8), Self.securityFields(configuration, style: style))],
            cacheControl: "no-cache")
    }

    /// The page's style, with a color of its own.
    private static func style(_ color: PageColor?) -> String {
        let style = String(decoding: PackageResources.page_css, as: UTF8.self)
        guard let color = color?.text else { return style }
        return style + """
            :root { --accent: \(color); --tint: color-mix(in srgb, \(color) 12%, white); }
            @media (prefers-color-scheme: dark) {
                :root { --accent: color-mix(in srgb, \(color) 40%, white); --on-accent: #0a1214;
                    --tint: color-mix(in srgb, \(color) 45%, black); }
            }

            """
    }

    private static func settings(
        _ configuration: StartPageConfiguration, _ editing: Editing?, assets: String
    ) -> String {
        var writer = JSONWriter(capacity: 256)
        writer.beginObject()
        if let tiles = configuration.tiles {
            writer.member("tiles", tiles.address.text)
            writer.member("closestTiles", configuration.closestTiles)
        } else {
            writer.member("baseMap", "\(assets)/base-map.bin")
        }
        if let tiles = configuration.darkTiles { writer.member("darkTiles", tiles.address.text) }
        if let start = configuration.start {
            writer.name("start")
            writer.beginObject()
            writer.member("latitude", start.latitude)
            writer.member("longitude", start.longitude)
            writer.member("zoom", start.zoom)
            writer.endObject()
        }
        if !configuration.imageHosts.isEmpty {
            writer.name("imageHosts")
            writer.beginArray()
            for host in configuration.imageHosts { writer.value(host) }
            writer.endArray()
        }
        if let attribution = configuration.tilesAttribution { writer.member("attribution", attribution) }
        writer.member("style", "\(assets)/map.css")
        if configuration.leaflet != nil { writer.member("script", "\(assets)/leaflet.js") }
        if let editing {
            writer.name("editing")
            writer.beginObject()
            writer.member("script", "\(assets)/edit.js")
            writer.member("style", "\(assets)/edit.css")
            writer.member("takesReports", editing.takesReports)
            writer.endObject()
        }
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// What editors may do on the page.
    struct Editing {
        let takesReports: Bool
    }

    /// Fields that let the page load scripts, styles and data only from this service, and pictures from the origins that settings
    /// name, too; of styles in the page itself, its own is allowed, by its hash (CSP level 3). No string becomes a script or markup
    /// (Trusted Types) but by the policy in `map.js`.
    private static func securityFields(
        _ configuration: StartPageConfiguration, style: String
    ) -> HTTPHeaders {
        let (tiles, dark) = (configuration.tiles?.address, configuration.darkTiles?.address)
        let origins = [tiles, dark, configuration.logo].compactMap { $0?.origin }
        let hosts = configuration.imageHosts.map { "https://\($0)" }
        let pictures = ["'self'", "data:"] + (origins + hosts).uniqueInByteOrder
        let style = Data(SHA256.digest(of: Array(style.utf8))).base64EncodedString()
        return [
            "Content-Security-Policy":
                """
            default-src 'none'; script-src 'self'; style-src 'self' 'sha256-\(style)'; img-src \(pictures.joined(separator: " ")); connect-src 'self'; \
            base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
            trusted-types default
            """,
            "Permissions-Policy": "camera=(), geolocation=(self), microphone=()",
            // Hosts of tiles want to know which site requests them. No other host learns it: links have `noreferrer`.
            "Referrer-Policy": [tiles, dark].contains { $0?.origin != nil } ? "strict-origin" : "no-referrer",
            "X-Content-Type-Options": "nosniff",
        ]
    }
}

/// `GET /assets/{version}/{file}`: the scripts, the map's style and data, and the icon of the page at `/`.
///
/// Belongs to one loop.
final class StartPageFiles: ImmediateHandler {
    static let path = "/assets/{version}/{file}"

    /// The hash of all files.
    let version: String

    private struct File {
        let body: [UInt8]
        let fields: PreparedFields
        /// The response with its body compressed, kept from the first request for it: compressing Leaflet takes
        /// milliseconds, during which the loop serves nobody.
        var compressed: HTTPResponse?
    }

    private var files: [String: File] = [:]

    private static let unknown = HTTPError(.notFound, .unknownPath, "There is nothing at this path.")

    init(leaflet: Leaflet?) {
        var contents = Self.own
        if let leaflet { contents.append(("leaflet.js", leaflet.script)) }
        // One file, since a response costs a browser more time than its bytes.
        contents.append(("map.css", (leaflet?.style ?? []) + [UInt8(ascii: "\n")] + PackageResources.map_css))
        version = String(SHA256.hexDigest(of: contents.map { SHA256.digest(of: $1) }.joined()).prefix(16))
        for (name, body) in contents { files[name] = File(body: body, fields: Self.fields(of: name)) }
    }

    func response(to request: HTTPRequest, context: RequestContext) throws -> HTTPResponse {
        guard let version = context.pathParameter("version"), version.isASCII, version == self.version,
            let name = context.pathParameter("file"), name.isASCII, let file = files[name]
        else { throw Self.unknown }
        guard ResponseCompression.isPreferred(by: request) else {
            return HTTPResponse(.ok, prepared: file.fields, body: file.body)
        }
        if let compressed = file.compressed { return compressed }
        var response = HTTPResponse(.ok, prepared: file.fields, body: file.body)
        try ResponseCompression(minimumBytes: 1, keepsBodies: true).apply(to: &response, for: request)
        // For HEAD, nothing is compressed.
        if request.method == .get { files[name]?.compressed = response }
        return response
    }

    private static func fields(of name: String) -> PreparedFields {
        PreparedFields([
            .contentType: mediaType(of: name), .cacheControl: "public, max-age=31536000, immutable",
            "X-Content-Type-Options": "nosniff",
        ])
    }

    private static func mediaType(of name: String) -> String {
        if name.hasSuffix(".css") { return "text/css; charset=utf-8" }
        if name.hasSuffix(".svg") { return "image/svg+xml" }
        if name.hasSuffix(".bin") { return "application/octet-stream" }
        return "text/javascript; charset=utf-8"
    }

    /// The files of `Web/`, which are in the program itself. Made once: a mock has a page for each of its sessions.
    private static let own: [(name: String, body: [UInt8])] = [
        ("base-map.bin", Array(UnsafeBufferPointer(start: poi_base_map(), count: poi_base_map_size()))),
        ("icon.svg", PackageResources.icon_svg),
        ("page.js", Array(PageScript.joined(PageScript.modules).utf8)),
        ("edit.js", Array(PageScript.joined(PageScript.editingModules, to: "page.js").utf8)),
        ("edit.css", PackageResources.edit_css),
    ]
}
