import Foundation
import Program

/// The settings of the page at `/`: where its map comes from, and what it looks like.
package struct StartPageConfiguration: Sendable {
    var tiles: TileSource?
    /// The tiles where the dark is preferred; nil where those of the day are darkened.
    var darkTiles: TileSource?
    /// The closest zoom that there are tiles of, which closer ones are enlarged from.
    var closestTiles: Int
    var tilesAttribution: String?
    /// The library that draws the map; nil if it isn't installed. Without it the page has only the list.
    var leaflet: Leaflet?
    var title: String
    var logo: PageAddress?
    var color: PageColor?
    /// Where the map begins; nil is all places.
    var start: MapView?
    /// The hosts that pictures of places may come from.
    var imageHosts: [String]

    package init(from reader: inout SettingsReader) throws(ConfigurationError) {
        tiles = try reader.readIfPresent(Self.tiles(.tilesURL, "address of the map's tiles"))
        darkTiles = try reader.readIfPresent(
            Self.tiles(.tilesDarkURL, "address of the map's tiles in the dark"))
        closestTiles = try reader.read(
            .integer(.tilesMaxZoom, "closest zoom of the tiles", in: 1...19, default: 19))
        tilesAttribution = try reader.readIfPresent(
            .text(.tilesAttribution, "who is to be named for the map's tiles"))
        for (isGiven, name) in [
            (tilesAttribution != nil, SettingName.tilesAttribution), (darkTiles != nil, .tilesDarkURL),
        ]
        where isGiven && tiles == nil {
            throw ConfigurationError("\(name): expected POI_TILES_URL to be set too")
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
        title = try reader.read(.text(.pageTitle, "title of the start page", default: "Points of interest"))
        logo = try reader.readIfPresent(
            Setting(.pageLogo, "address of the start page's logo") { (text) throws(SettingRejection) in
                guard let logo = PageAddress(settingText: text) else {
                    throw SettingRejection(expected: "an http, https or relative address in ASCII")
                }
                return logo
            })
        color = try reader.readIfPresent(
            Setting(.pageColor, "color of the start page") { (text) throws(SettingRejection) in
                guard let color = PageColor(settingText: text) else {
                    throw SettingRejection(
                        expected: "a color such as #0b6b66, so dark that white text on it can be read (4.5:1)"
                    )
                }
                return color
            })
        start = try reader.readIfPresent(
            Setting(.pageStart, "where the start page's map begins") { (text) throws(SettingRejection) in
                guard let view = MapView(settingText: text) else {
                    throw SettingRejection(
                        expected: "a latitude, a longitude and a zoom of 0 to 19, such as 60.17,24.94,12")
                }
                return view
            })
        imageHosts = try reader.read(
            .list(
                .pageImageHosts, "hosts of places' pictures",
                expected: "names of hosts with commas between, such as images.example"
            ) { text in
                guard case .origin? = AllowedOrigin(settingText: "https://\(text)") else { return nil }
                return text
            })
    }

    private static func tiles(_ name: SettingName, _ purpose: String) -> Setting<TileSource> {
        Setting(name, purpose) { (text) throws(SettingRejection) in
            guard !TileSource.isOfVectors(text) else {
                throw SettingRejection(
                    expected:
                        "tiles that are pictures: the page draws no vector tiles, of which this is an address"
                )
            }
            guard let tiles = TileSource(settingText: text) else {
                throw SettingRejection(
                    expected:
                        "an http, https or relative address with {z}, {x} and {y}, perhaps {r}, and no other braces"
                )
            }
            return tiles
        }
    }
}

/// An address that the page loads something from.
struct PageAddress: Hashable, Sendable {
    let text: String
    /// `scheme://host[:port]`, which the page's policy has to allow; nil for one of the service itself.
    let origin: String?

    /// Parses an http or https address with a path, or one that is relative to the page; nil unless it is ASCII.
    init?(settingText text: String) {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        self.text = text
        guard let scheme = text.firstRange(of: "://") else {
            // What begins with two slashes is another host's.
            guard !text.hasPrefix("//"), text.first != "\\", !text.prefix(while: { $0 != "/" }).contains(":")
            else {
                return nil
            }
            origin = nil
            return
        }
        guard text.hasPrefix("https://") || text.hasPrefix("http://"),
            let path = text[scheme.upperBound...].firstIndex(of: "/"),
            case .origin(let origin)? = AllowedOrigin(settingText: String(text[..<path]))
        else { return nil }
        self.origin = origin
    }
}

struct TileSource: Hashable, Sendable {
    /// The address of a tile, with `{z}`, `{x}` and `{y}`.
    let address: PageAddress

    /// Parses an address; nil unless its path has each of `{z}`, `{x}` and `{y}` exactly once, and `{r}` once at most, which stands
    /// for `@2x` where pixels are small. It refuses `{s}`, which stood for subdomains in earlier times: the policy names one origin.
    init?(settingText text: String) {
        guard let address = PageAddress(settingText: text) else { return nil }
        var rest = text.dropFirst(address.origin?.count ?? 0)
        for placeholder in ["{z}", "{x}", "{y}", "{r}"] {
            guard let range = rest.firstRange(of: placeholder) else {
                guard placeholder == "{r}" else { return nil }
                continue
            }
            rest.removeSubrange(range)
        }
        guard !rest.contains("{"), !rest.contains("}") else { return nil }
        self.address = address
    }

    /// Whether an address is one of vector tiles, or of a style of them.
    static func isOfVectors(_ text: String) -> Bool {
        let path = text.prefix { $0 != "?" && $0 != "#" }.lowercased()
        return [".pbf", ".mvt", ".json", ".pmtiles"].contains { path.hasSuffix($0) }
    }
}

/// The color of buttons, links and places in the light; in the dark a lighter one is made of it.
struct PageColor: Hashable, Sendable {
    /// `#rrggbb`.
    let text: String

    /// Parses six hexadecimal digits behind `#`; nil where white text on it has a contrast below 4.5 (WCAG 2.2, 1.4.3).
    init?(settingText text: String) {
        let digits = text.dropFirst()
        guard text.hasPrefix("#"), digits.utf8.count == 6, digits.allSatisfy(\.isHexDigit),
            let number = Int(digits, radix: 16)
        else { return nil }
        let linear = [16, 8, 0].map { shift -> Double in
            let value = Double(number >> shift & 0xFF) / 255
            return value <= 0.040_45 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
        }
        let luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
        guard 1.05 / (luminance + 0.05) >= 4.5 else { return nil }
        self.text = text
    }
}

/// What a map shows: its middle and zoom.
struct MapView: Hashable, Sendable {
    let latitude, longitude: Double
    let zoom: Int

    init?(settingText text: String) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
            .map { $0.trimmingCharacters(in: .whitespaces) }
        guard parts.count == 3, let latitude = Double(parts[0]), let longitude = Double(parts[1]),
            let zoom = Int(parts[2]), (-90...90).contains(latitude), (-180...180).contains(longitude),
            (0...19).contains(zoom)
        else { return nil }
        (self.latitude, self.longitude, self.zoom) = (latitude, longitude, zoom)
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
