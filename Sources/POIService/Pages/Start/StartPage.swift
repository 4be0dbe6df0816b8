import CBaseMap
import Foundation
import HTTPServer
import Hashing
import PointsOfInterestAPI

/// `GET /`: the places on a map and in a list, for people who open the service's address.
///
/// The page is `Web/index.html` with the style `Web/page.css` in it, since nothing is drawn without it, and its scripts are
/// one file, `page.js`, made of the modules of `Web/`. All its files are below a path with a hash over their contents, so
/// that browsers keep them for a year, and files of two versions are never mixed.
struct StartPage {
    let document: StaticDocument
    let files: StartPageFiles

    init(_ configuration: StartPageConfiguration) {
        files = StartPageFiles(leaflet: configuration.leaflet)
        let assets = "assets/\(files.version)"
        let html = String(decoding: PackageResources.index_html, as: UTF8.self)
            .replacing("{{style}}", with: String(decoding: PackageResources.page_css, as: UTF8.self))
            .replacing("{{assets}}", with: assets)
            .replacing("{{settings}}", with: HTMLPage.escaped(Self.settings(configuration, assets: assets)))
        document = StaticDocument(
            [.html(Array(html.utf8), Self.securityFields(configuration.tiles))], cacheControl: "no-cache")
    }

    private static func settings(_ configuration: StartPageConfiguration, assets: String) -> String {
        var writer = JSONWriter(capacity: 256)
        writer.beginObject()
        if let tiles = configuration.tiles {
            writer.member("tiles", tiles.template)
        } else {
            writer.member("baseMap", "\(assets)/base-map.bin")
        }
        if let attribution = configuration.tilesAttribution { writer.member("attribution", attribution) }
        writer.member("style", "\(assets)/map.css")
        if configuration.leaflet != nil { writer.member("script", "\(assets)/leaflet.js") }
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// Fields that let the page load scripts, styles and data only from this service, and pictures from the tiles'
    /// origin too; of styles in the page itself, its own is allowed, by its hash (CSP level 3).
    private static func securityFields(_ tiles: TileSource?) -> HTTPHeaders {
        let pictures = ["'self'", "data:", tiles?.origin].compactMap(\.self).joined(separator: " ")
        let style = Data(SHA256.digest(of: PackageResources.page_css)).base64EncodedString()
        return [
            "Content-Security-Policy":
                """
            default-src 'none'; script-src 'self'; style-src 'self' 'sha256-\(style)'; img-src \(pictures); connect-src 'self'; \
            base-uri 'none'; form-action 'none'; frame-ancestors 'none'
            """,
            "Permissions-Policy": "camera=(), geolocation=(self), microphone=()",
            // Hosts of tiles want to know which site requests them. No other host learns it: links have `noreferrer`.
            "Referrer-Policy": tiles == nil ? "no-referrer" : "strict-origin",
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
    ]
}
