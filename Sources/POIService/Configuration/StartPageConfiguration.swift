import Foundation
import Program

/// The settings of the page at `/`: where its map comes from.
package struct StartPageConfiguration: Sendable {
    var tiles: TileSource?
    var tilesAttribution: String?
    /// The library that draws the map; nil if it isn't installed. Without it the page has only the list.
    var leaflet: Leaflet?

    package init(from reader: inout SettingsReader) throws(ConfigurationError) {
        tiles = try reader.readIfPresent(
            Setting(.tilesURL, "address of the map's tiles") { (text) throws(SettingRejection) in
                guard let tiles = TileSource(settingText: text) else {
                    throw SettingRejection(
                        expected: "an http or https address with {z}, {x} and {y}, and no other braces")
                }
                return tiles
            })
        tilesAttribution = try reader.readIfPresent(
            .text(.tilesAttribution, "who is to be named for the map's tiles"))
        guard tilesAttribution == nil || tiles != nil else {
            throw ConfigurationError("POI_TILES_ATTRIBUTION: expected POI_TILES_URL to be set too")
        }
        let folder = try reader.readIfPresent(
            Setting(.leafletDirectory, "folder with Leaflet's files") { (text) throws(SettingRejection) in
                guard let leaflet = Leaflet(folder: text) else {
                    throw SettingRejection(
                        expected: "a folder with leaflet.css and leaflet.js that can be read")
                }
                return leaflet
            })
        leaflet = folder ?? Leaflet(folder: Leaflet.debianFolder)
    }
}

struct TileSource: Hashable, Sendable {
    /// The address of a tile, with `{z}`, `{x}` and `{y}`.
    let template: String
    /// `scheme://host[:port]`, which the page's policy has to allow.
    let origin: String

    /// Parses an http or https address; nil unless it is ASCII, and its path has each of `{z}`, `{x}` and `{y}` exactly
    /// once. It refuses `{s}`, which stood for subdomains in earlier times: the policy names one origin.
    init?(settingText text: String) {
        guard text.hasPrefix("https://") || text.hasPrefix("http://"),
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            let scheme = text.firstRange(of: "://"),
            let path = text[scheme.upperBound...].firstIndex(of: "/"),
            case .origin(let origin)? = AllowedOrigin(settingText: String(text[..<path]))
        else { return nil }
        var rest = text[path...]
        for placeholder in ["{z}", "{x}", "{y}"] {
            guard let range = rest.firstRange(of: placeholder) else { return nil }
            rest.removeSubrange(range)
        }
        guard !rest.contains("{"), !rest.contains("}") else { return nil }
        template = text
        self.origin = origin
    }
}

/// The files of Leaflet, a library that draws maps, from the distribution's package.
struct Leaflet: Sendable {
    /// Where Debian's package `libjs-leaflet` has them.
    static let debianFolder = "/usr/share/javascript/leaflet"

    let script: [UInt8]
    let style: [UInt8]

    /// Reads the files; nil if they can't be read. It prefers `leaflet.min.js`, since Debian's `leaflet.js` isn't
    /// minified.
    init?(folder: String) {
        func file(_ name: String) -> [UInt8]? {
            FileManager.default.contents(atPath: "\(folder)/\(name)").map { Array($0) }
        }
        guard let style = file("leaflet.css"), let script = file("leaflet.min.js") ?? file("leaflet.js")
        else { return nil }
        self.script = script
        self.style = style
    }
}
