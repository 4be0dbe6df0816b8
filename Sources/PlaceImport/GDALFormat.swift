/// A format that `ogr2ogr` reads for us, recognised by the first bytes of a file. These are formats whose files contain all
/// of their data. Others, such as GDAL's virtual layers, name further files, services and databases, which GDAL would open:
/// the author of the file would decide what is read.
enum GDALFormat: CaseIterable {
    case openStreetMap
    case gpx
    case kml
    case kmz
    case geoPackage
    case shapefile
    case flatGeobuf
    case workbook
    case openDocument

    /// The formats that standard input may have: their drivers open no other files.
    static let streams: [GDALFormat] = [.openStreetMap, .gpx, .kml]

    static let names = "OpenStreetMap, GPX, KML, KMZ, GeoPackage, Shapefile, FlatGeobuf, XLSX, ODS"

    static let beginningLength = 4096

    /// GDAL's names of the drivers that may read it.
    var drivers: [String] {
        switch self {
        case .openStreetMap: ["OSM"]
        case .gpx: ["GPX"]
        case .kml: ["LIBKML", "KML"]
        case .kmz: ["LIBKML"]
        case .geoPackage: ["GPKG"]
        case .shapefile: ["ESRI Shapefile"]
        case .flatGeobuf: ["FlatGeobuf"]
        case .workbook: ["XLSX"]
        case .openDocument: ["ODS"]
        }
    }

    /// The format of a file that begins like this and has this name.
    init(beginning: [UInt8], path: String) throws(ImportError) {
        if let format = Self.binary(beginning, path) {
            self = format
            return
        }
        var reason = "its first bytes are of none of the formats that are read: \(Self.names)"
        switch XMLBeginning(beginning) {
        case .root("osm"), .root("osmChange"):
            self = .openStreetMap
            return
        case .root("gpx"):
            self = .gpx
            return
        case .root("kml"):
            self = .kml
            return
        case .root(let name):
            reason = "its root element, \(name), is of none of the formats that are read: \(Self.names)"
        case .documentType: reason = "it has a document type declaration, which could name other files"
        case .none:
            // Compound File Binary, in which Excel wrote until 2007.
            if beginning.starts(with: [0xd0, 0xcf, 0x11, 0xe0]) {
                throw ImportError("it is a file of an old Office: save it as .xlsx or as CSV", path: path)
            }
            if path.asciiLowercased.hasSuffix(".numbers") {
                throw ImportError("it is a file of Numbers: export it as .xlsx or as CSV", path: path)
            }
            if beginning.starts(with: Self.zip) { reason = "it is an archive: unpack it first" }
        }
        throw ImportError("\(reason). \(ImportError.seeUnconfined)", path: path)
    }

    private static let zip: [UInt8] = [0x50, 0x4b, 0x03, 0x04]

    private static func binary(_ beginning: [UInt8], _ path: String) -> GDALFormat? {
        // The length of a block's header, and its first field: a text of nine bytes (OpenStreetMap's PBF format).
        if beginning.dropFirst(4).starts(with: [0x0a, 0x09] + "OSMHeader".utf8) { return .openStreetMap }
        if beginning.starts(with: Array("SQLite format 3\0".utf8)) { return .geoPackage }
        // The file code 9994 and five unused integers (ESRI Shapefile Technical Description).
        if beginning.starts(with: [0, 0, 0x27, 0x0a] + [UInt8](repeating: 0, count: 20)) {
            return .shapefile
        }
        if beginning.starts(with: [0x66, 0x67, 0x62, 0x03, 0x66, 0x67, 0x62]) { return .flatGeobuf }
        guard beginning.starts(with: zip) else { return nil }
        switch path.asciiLowercased.split(separator: ".").last {
        case "kmz": return .kmz
        case "xlsx": return .workbook
        case "ods": return .openDocument
        default: return nil
        }
    }
}

/// How an XML document begins.
private enum XMLBeginning {
    /// With an element of this name, without its prefix.
    case root(String)
    case documentType

    /// nil where it isn't XML, or has more in front of its root than was read.
    init?(_ bytes: [UInt8]) {
        var rest = bytes.starts(with: [0xef, 0xbb, 0xbf]) ? bytes.dropFirst(3) : bytes[...]
        while true {
            rest = rest.drop { [0x20, 0x09, 0x0a, 0x0d].contains($0) }
            if rest.starts(with: "<?".utf8) {
                guard let end = Self.end(of: "?>", in: rest) else { return nil }
                rest = rest[end...]
            } else if rest.starts(with: "<!--".utf8) {
                guard let end = Self.end(of: "-->", in: rest.dropFirst(4)) else { return nil }
                rest = rest[end...]
            } else {
                break
            }
        }
        if rest.starts(with: "<!".utf8) {
            self = .documentType
            return
        }
        guard rest.first == UInt8(ascii: "<") else { return nil }
        let name = rest.dropFirst().prefix(64).prefix {
            UInt8(ascii: "0")...UInt8(ascii: "z") ~= $0 && !";<=>?@[\\]^`".utf8.contains($0) || $0 == 0x2d
        }
        guard let local = name.split(separator: UInt8(ascii: ":")).last else { return nil }
        self = .root(String(decoding: local, as: UTF8.self))
    }

    private static func end(of mark: String, in bytes: ArraySlice<UInt8>) -> Int? {
        let mark = Array(mark.utf8)
        return bytes.indices.first { bytes[$0...].starts(with: mark) }.map { $0 + mark.count }
    }
}
