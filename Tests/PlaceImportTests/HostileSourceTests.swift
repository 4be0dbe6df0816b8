import Foundation
import PlaceImport
import Testing

/// Files for `ogr2ogr` that would lead it elsewhere: it isn't even started with them.
///
/// A stand-in for `ogr2ogr` notes that it was. What the real one does with what gets through, with a sandbox and without,
/// Tests/System/import/test_formats.py shows.
@Suite("Hostile files for ogr2ogr")
struct HostileSourceTests {
    private let virtualLayer = """
        <OGRVRTDataSource><OGRVRTLayer name="a"><SrcDataSource>PG:dbname=a</SrcDataSource>\
        <SrcSQL>DELETE FROM a RETURNING *</SrcSQL></OGRVRTLayer></OGRVRTDataSource>
        """

    @Test(
        "A virtual layer, a service or a schema is refused by its root element, whatever the file is called")
    func rootElements() throws {
        let documents = [
            virtualLayer, "<?xml version='1.0'?>\n<!-- <gpx> -->\n" + virtualLayer, "\u{feff}" + virtualLayer,
            "<OGRWFSDataSource><URL>http://127.0.0.1:9/</URL></OGRWFSDataSource>",
            "<OGRCSWDataSource><URL>http://127.0.0.1:9/</URL></OGRCSWDataSource>",
            "<GDAL_WMS><Service name='WMS'><ServerUrl>http://127.0.0.1:9/</ServerUrl></Service></GDAL_WMS>",
            "<VRTDataset><SRS>http://127.0.0.1:9/</SRS></VRTDataset>",
            "<GMLASConfiguration><SchemaCache enabled='true'/></GMLASConfiguration>",
            "<gml:FeatureCollection xsi:schemaLocation='a http://127.0.0.1:9/wfs?request=DescribeFeatureType'/>",
            "<mapml-><link href='http://127.0.0.1:9/'/></mapml->",
        ]
        for document in documents {
            for name in ["a.gpx", "a.kml", "a.osm", "a.gpkg", "a.shp", "a.fgb", "a.vrt", "a"] {
                let converter = try StandInConverter()
                let refusal = error { try converter.read(document, as: name) { $0.format = .gdal } }
                #expect(refusal?.message.hasPrefix("its root element, ") == true, "\(document)")
                #expect(try converter.environment() == nil, "\(document)")
            }
        }
    }

    @Test(
        "A source in another format, or one that could name other files, is refused with the reason",
        arguments: [
            (
                "<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><gpx><name>&b;</name></gpx>",
                "document type"
            ),
            ("<?xml version='1.0'?><!DOCTYPE osm SYSTEM 'http://127.0.0.1:9/'><osm/>", "document type"),
            (#"{"type":"Topology","transform":"http://127.0.0.1:9/"}"#, "its first bytes"),
            (
                #"{"type":"FeatureCollection","crs":{"type":"link","properties":{"href":"http://127.0.0.1:9/"}}}"#,
                "its first"
            ),
            ("PK\u{3}\u{4}a.vrt", "it is an archive"),
            ("", "its first bytes"), ("<", "its first bytes"), ("<?xml", "its first bytes"),
            ("<!--", "its first bytes"),
        ])
    func contents(content: String, reason: String) throws {
        let converter = try StandInConverter()
        let refusal = error { try converter.read(content, as: "a.gpx") }
        #expect(refusal?.message.contains(reason) == true, "\(refusal?.message ?? "nothing")")
        #expect(try converter.environment() == nil)
    }

    @Test(
        "A source that isn't a file is refused, and the option that allows it named",
        arguments: [
            "PG:dbname=places", "MYSQL:places", "WFS:http://127.0.0.1:9/",
            "/vsicurl/http://127.0.0.1:9/a.gpx", "/vsizip//tmp/a.zip/a.shp", "/vsitar/a.tar/a.gpx",
            "/vsistdin/a.gpx",
            "GPKG:/tmp/a.gpkg:a", "CSV:/etc/passwd", "/dev/null", "/tmp",
        ])
    func sources(path: String) throws {
        let converter = try StandInConverter()
        let refusal = error {
            var source = ImportSource(paths: [path])
            (source.format, source.environment) = (.gdal, converter.variables)
            return try PlaceImportTests.read(source)
        }
        #expect(refusal?.path == path)
        #expect(refusal?.message.hasSuffix("--unconfined-source") == true)
        #expect(try converter.environment() == nil)
    }

    @Test("A pipe is refused, and nobody waits for what comes out of it")
    func pipe() throws {
        let converter = try StandInConverter()
        let path = converter.folder.appendingPathComponent("a.gpx").path
        try #require(mkfifo(path, 0o600) == 0)
        var source = ImportSource(paths: [path])
        source.environment = converter.variables
        #expect(
            error { try PlaceImportTests.read(source) }?.message.hasPrefix("it isn't a regular file") == true)
    }

    @Test("Shapefiles with files elsewhere are refused")
    func shapefiles() throws {
        let shapes = [0, 0, 0x27, 0x0a] + [UInt8](repeating: 0, count: 96)
        let projections = [
            "GEOGCS[\"a\",EXTENSION[\"PROJ4_GRIDS\",\"/etc/passwd\"]]",
            "PROJCS[\"a\",EXTENSION[\"PROJ4\",\"+proj=merc +NADGRIDS=@null,/etc/passwd\"]]",
            "BOUNDCRS[ABRIDGEDTRANSFORMATION[\"a\",PARAMETERFILE[\"a\",\"/etc/passwd\"]]]",
            String(repeating: " ", count: 1 << 16)
                + "GEOGCS[\"a\",EXTENSION[\"PROJ4_GRIDS\",\"/etc/passwd\"]]",
        ]
        for projection in projections {
            let converter = try StandInConverter()
            try Data(projection.utf8).write(to: converter.folder.appendingPathComponent("A.PRJ"))
            #expect(error { try converter.read(shapes, as: "a.shp") }?.path?.hasSuffix("A.PRJ") == true)
            #expect(try converter.environment() == nil)
        }
        for name in ["a.dbf", "a.cpg", "a.prj", "a.SHX"] {
            let converter = try StandInConverter()
            let link = converter.folder.appendingPathComponent(name)
            try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "/etc/passwd")
            #expect(error { try converter.read(shapes, as: "a.shp") }?.path?.hasSuffix(name) == true)
            #expect(try converter.environment() == nil)
        }
        let converter = try StandInConverter()
        try Data("EXTENSION[\"PROJ4\",\"+proj=merc +nadgrids=@null +wktext\"]".utf8)
            .write(to: converter.folder.appendingPathComponent("a.prj"))
        _ = error { try converter.read(shapes, as: "a.shp") }
        #expect(try converter.environment() != nil)
    }

    @Test("A FlatGeobuf whose reference system names a file is refused, and one with an endless header")
    func flatGeobuf() throws {
        let start = Array("fgb\u{3}fgb\u{0}".utf8)
        let system = Array("GEOGCS[\"a\",EXTENSION[\"PROJ4_GRIDS\",\"/etc/passwd\"]]".utf8)
        for bytes in [start + [UInt8(system.count), 0, 0, 0] + system, start + [0xff, 0xff, 0xff, 0xff]] {
            let converter = try StandInConverter()
            #expect(error { try converter.read(bytes, as: "a.fgb") } != nil)
            #expect(try converter.environment() == nil)
        }
    }

    @Test(
        "An archive is unpacked and checked before the converter sees it",
        arguments: ["a.kmz", "a.xlsx", "a.ods"])
    func archives(name: String) throws {
        let document = (0..<200).map { "<Placemark><name>Café \($0 * 7919 % 1000)</name></Placemark>" }
            .joined()
        let files = [("doc.kml", Array("<kml>\(document)</kml>".utf8)), ("files/a.txt", Array("a".utf8))]
        let good = zip(files)
        let drivers = ["LIBKML", "XLSX", "ODS", "GeoJSONSeq"]
        func refusal(_ archive: [UInt8]) throws -> String? {
            let converter = try StandInConverter(drivers: drivers)
            let message = error { try converter.read(archive, as: name) }?.message
            let isStarted = try converter.environment() != nil
            return isStarted ? nil : message
        }
        #expect(try refusal(good) == nil)
        for index in stride(from: 40, to: good.count - 250, by: 31) {
            var damaged = good
            damaged[index] ^= 1 << UInt8(index % 8)
            #expect(
                try refusal(damaged)?.hasPrefix("doc.kml in the archive is damaged: ") == true,
                "byte \(index)")
        }
        #expect(try refusal(Array(good.dropLast(30)))?.contains("no directory") == true)
        let blanks = [UInt8](repeating: 0x20, count: 8 << 20)
        #expect(try refusal(zip(files + [("xl/sharedStrings.xml", blanks)]))?.contains("100 times") == true)
        // Their sum counts, whatever each says of itself.
        #expect(try refusal(zip(files + files, false, size: 1 << 29)) != nil)
        let many = (0...10_000).map { ("\($0)", [UInt8(0x61)]) }
        #expect(try refusal(zip(many, false)) == "the archive has more than 10000 files")
        // A second directory, for programs that look for it elsewhere.
        #expect(try refusal(good[..<40] + [0x20] + good[40...])?.contains("ZIP64") == true)
    }

    @Test("The converter gets the drivers of one format, and only the environment that it needs")
    func confinement() throws {
        let converter = try StandInConverter()
        let secrets = [
            "DATABASE_URL": "a", "MIGRATE_URL": "a", "PGPASSWORD": "a", "PGSERVICEFILE": "a",
            "POI_API_KEYS": "a",
            "http_proxy": "a", "GDAL_CONFIG_FILE": "a", "OGR_SQLITE_LOAD_EXTENSIONS": "a", "LD_PRELOAD": "a",
            "GDAL_DRIVER_PATH": "a", "GDAL_DATA": "/usr/share/gdal", "HOME": "/root",
        ]
        _ = error {
            try converter.read("<gpx/>", as: "a.gpx") { $0.environment.merge(secrets) { $1 } }
        }
        let environment = try #require(try converter.environment())
        #expect(environment["GDAL_SKIP"] == "OGR_VRT,ESRI Shapefile,OSM,PostgreSQL,LIBKML,GPKG,FlatGeobuf")
        #expect(environment["GDAL_DATA"] == "/usr/share/gdal")
        #expect(environment["ALL_PROXY"] == "none://")
        #if os(Linux)
            #expect(environment["KIBIBYTES"] == "1048576")
        #endif
        #expect(environment["HOME"] != "/root")
        #expect(environment["HOME"] == environment["CPL_TMPDIR"])
        #expect(FileManager.default.fileExists(atPath: try #require(environment["HOME"])) == false)
        for name in secrets.keys where !["GDAL_DATA", "HOME"].contains(name) {
            #expect(environment[name] == nil)
        }
    }

    @Test("A GDAL that can't be restricted to a driver, or doesn't have it, isn't used")
    func drivers() throws {
        let deaf = try StandInConverter(obeys: false)
        #expect(
            error { try deaf.read("<gpx/>", as: "a.gpx") }?.message
                == "this GDAL can't be kept to its driver GPX")
        #expect(try deaf.environment() == nil)
        let strange = try StandInConverter(drivers: ["GeoJSONSeq", "GPX", "? in another way"])
        #expect(
            error { try strange.read("<gpx/>", as: "a.gpx") }?.message
                == "ogr2ogr doesn't run, or in no way that is known")
        let small = try StandInConverter(drivers: ["GeoJSONSeq", "KML"])
        let missing = error { try small.read("<gpx/>", as: "a.gpx") }
        #expect(missing?.message == "the installed GDAL has no driver GPX")
        #expect(missing?.path?.hasSuffix("a.gpx") == true)
    }

    @Test("With the option, GDAL gets the source as it is and the whole environment")
    func unconfined() throws {
        let converter = try StandInConverter(obeys: false)
        _ = error {
            var source = ImportSource(paths: ["PG:dbname=places"])
            (source.isUnconfined, source.environment) = (true, converter.variables)
            source.environment["PGPASSWORD"] = "a"
            return try PlaceImportTests.read(source)
        }
        let environment = try #require(try converter.environment())
        #expect(environment["PGPASSWORD"] == "a")
        #expect(environment["GDAL_SKIP"] == nil)
        #expect(environment["ARGUMENTS"] == "-f GeoJSONSeq /vsistdout/ PG:dbname=places")
    }
}

/// A script in the place of `ogr2ogr`: it says that it has drivers, reads nothing, and notes what it was started with.
final class StandInConverter {
    /// A folder of its own, for the script and for files.
    let folder: URL

    /// - Parameter obeys: Whether it leaves out the drivers that `GDAL_SKIP` names.
    init(
        drivers: [String] = [
            "OGR_VRT", "ESRI Shapefile", "OSM", "GPX", "PostgreSQL", "LIBKML", "GPKG", "FlatGeobuf",
            "GeoJSONSeq",
        ],
        obeys: Bool = true
    ) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // Not written here: Linux runs no file that a process has open for writing, and a child that another test starts
        // at this moment would have it.
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "StandIns/ogr2ogr")
        try FileManager.default.createSymbolicLink(
            at: folder.appendingPathComponent("ogr2ogr"), withDestinationURL: script)
        try Data(drivers.map { $0 + "\n" }.joined().utf8).write(to: folder.appendingPathComponent("drivers"))
        if !obeys { try Data().write(to: folder.appendingPathComponent("disobeys")) }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// An environment in which no other program is found.
    var variables: [String: String] { ["PATH": folder.path] }

    /// Reads bytes from a file with this name.
    func read(
        _ bytes: [UInt8], as name: String, _ change: (inout ImportSource) -> Void = { _ in }
    ) throws -> ReadResult {
        let file = folder.appendingPathComponent(name)
        try Data(bytes).write(to: file)
        var source = ImportSource(paths: [file.path])
        source.environment = variables
        change(&source)
        return try PlaceImportTests.read(source)
    }

    /// Reads a text from a file with this name.
    func read(
        _ text: String, as name: String, _ change: (inout ImportSource) -> Void = { _ in }
    ) throws -> ReadResult {
        try read(Array(text.utf8), as: name, change)
    }

    /// What it had in its environment when it was to convert, and its `ARGUMENTS`; nil where it wasn't.
    func environment() throws -> [String: String]? {
        guard let data = FileManager.default.contents(atPath: folder.path + "/environment") else {
            return nil
        }
        let lines = String(decoding: data, as: UTF8.self).split(separator: "\n")
        return Dictionary(
            lines.map { line in
                let parts = line.split(separator: "=", maxSplits: 1)
                return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
            }, uniquingKeysWith: { $1 })
    }
}
