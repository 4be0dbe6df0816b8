import Foundation
import PointsOfInterestAPI
import Testing

@testable import PlaceImport

/// What GDAL converts. Where `ogr2ogr` is missing, the message says so.
@Suite("Files that ogr2ogr reads", .serialized)
struct GDALTests {
    private let openStreetMap = """
        <osm version="0.6">
        <node id="1" lat="60" lon="25" version="1"><tag k="name" v="Museo"/><tag k="tourism" v="museum"/>
        <tag k="addr:street" v="Katu"/><tag k="addr:housenumber" v="1"/><tag k="website" v="museo.example"/>
        <tag k="name:en" v='A "Museum"'/><tag k="name:sv" v="Muséet"/><tag k="alt_name" v="B;C"/></node>
        <node id="2" lat="60" lon="25.2" version="1"/><node id="3" lat="60.2" lon="25.2" version="1"/>
        <node id="4" lat="60" lon="25" version="1"><tag k="amenity" v="bench"/></node>
        <node id="5" lat="10" lon="10" version="1"><tag k="amenity" v="cafe"/></node>
        <way id="1" version="1"><nd ref="1"/><nd ref="2"/><nd ref="3"/><nd ref="1"/>
        <tag k="name" v="Puisto"/><tag k="leisure" v="park"/></way>
        <way id="2" version="1"><nd ref="1"/><nd ref="2"/><tag k="name" v="Katu"/><tag k="highway" v="road"/></way>
        <way id="3" version="1"><nd ref="1"/><nd ref="3"/><tag k="name" v="Silta"/><tag k="man_made" v="bridge"/></way>
        <relation id="1" version="1"><member type="node" ref="2" role=""/><tag k="type" v="site"/>
        <tag k="name" v="Koulu"/><tag k="amenity" v="school"/></relation>
        </osm>
        """

    @Test("Nodes, ways and relations of OpenStreetMap become places", .enabled(if: hasGDAL))
    func openStreetMapFile() throws {
        let result = try read(openStreetMap, as: "a.osm")
        let expected = [
            ImportedPlace(
                sourceID: "node/1", name: "Museo", category: "museum", latitude: 60, longitude: 25,
                address: "Katu 1", website: "https://museo.example",
                names: #"{"en":"A \"Museum\"","sv":"Muséet"}"#, otherNames: ["B", "C"]),
            ImportedPlace(
                sourceID: "way/3", name: "Silta", category: "bridge", latitude: 60.1, longitude: 25.1),
            ImportedPlace(
                sourceID: "way/1", name: "Puisto", category: "park", latitude: 60.1, longitude: 25.1),
            ImportedPlace(
                sourceID: "relation/1", name: "Koulu", category: "school", latitude: 60, longitude: 25.2),
        ]
        #expect(result.places.sorted { $0.name < $1.name } == expected.sorted { $0.name < $1.name })
        #expect(result.reasons == [.noName])
        #expect(result.rejected.first?.sourceID == "node/5")
        #expect(result.progress.totalBytes == nil)
    }

    @Test("A box doesn't change where the places in it are", .enabled(if: hasGDAL))
    func box() throws {
        let result = try read(openStreetMap, as: "a.osm") {
            $0.boundingBox = BoundingBox(west: 24, south: 59, east: 25.05, north: 61)
        }
        #expect(result.places.map(\.name) == ["Museo"])
        #expect(result.rejected.isEmpty)
        let points = ["1", "2"].map { "<wpt lat='1' lon='\($0)'><name>A</name><type>cafe</type></wpt>" }
        let converted = try read("<gpx version='1.1'>\(points.joined())</gpx>", as: "a.gpx") {
            $0.columns = [.category: "type"]
            $0.boundingBox = BoundingBox(west: 1.5, south: 0, east: 3, north: 2)
        }
        #expect(converted.places.map(\.longitude) == [2])
        #expect(converted.progress.rows == 1)
    }

    @Test("An explanation lists the layers that have something", .enabled(if: hasGDAL))
    func layers() throws {
        let point = "lat='1' lon='2'><name>A</name></"
        let waypoints = "<wpt \(point)wpt>"
        let track = "<trk><trkseg><trkpt \(point)trkpt><trkpt lat='1' lon='3'/></trkseg></trk>"
        func lines(_ content: String) throws -> [Substring] {
            try explain("<gpx version='1.1'>\(content)</gpx>", as: "a.gpx").split(separator: "\n")
        }
        let one = try lines(waypoints)
        #expect(one.dropFirst().first == "  layer waypoints, 1 feature, in WGS 84 (EPSG:4326)")
        #expect(!one.contains { $0.contains("--layer") })
        let two = try lines(waypoints + track)
        #expect(two.filter { $0.hasPrefix("  layer ") }.count == 3)
        #expect(two.contains("  layer track_points, 2 features, in WGS 84 (EPSG:4326)"))
        #expect(!two.contains { $0.contains("--layer") })
    }

    @Test("The error of a failed conversion has the message of ogr2ogr", .enabled(if: hasGDAL))
    func failure() {
        let broken = error { try read("<gpx version='1.1'><wpt lat='1'", as: "a.gpx") }
        #expect(broken?.message.hasPrefix("ogr2ogr: ") == true)
        #expect(broken?.path?.hasSuffix("a.gpx") == true)
        #expect(error { try read("<osm version=\"0.6\"><node", as: "a.osm") } != nil)
    }

    @Test("The error of a failed conversion names the file as the import did", .enabled(if: hasGDAL))
    func failedPath() throws {
        try withFile(Array("<gpx version='1.1'><wpt lat='1'".utf8), "a.gpx") { path in
            // GDAL is given another name for it, without the dots.
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
            let path = folder.path + "/../\(folder.lastPathComponent)/a.gpx"
            let broken = error { try read(ImportSource(paths: [path])) }
            #expect(broken?.message.hasPrefix("ogr2ogr: ") == true)
            #expect(broken?.path == path)
        }
    }

    @Test("An import that ends early leaves no process behind", .enabled(if: hasGDAL))
    func endedEarly() throws {
        let nodes = (1...50_000).map {
            "<node id=\"\($0)\" lat=\"1\" lon=\"2\" version=\"1\"><tag k=\"amenity\" v=\"cafe\"/></node>"
        }
        let text = "<osm version=\"0.6\">\(nodes.joined())</osm>"
        try withFile(Array(text.utf8), "a.osm") { path in
            var reader: PlaceReader? = try PlaceReader(ImportSource(paths: [path]))
            #expect(try reader?.next() != nil)
            let converters = try children { process in
                let command = FileManager.default.contents(atPath: "/proc/\(process)/cmdline") ?? Data()
                return String(decoding: command, as: UTF8.self).contains(path)
            }
            #expect(converters.count == 1)
            reader = nil
            // One that has ended and wasn't waited for would be there still.
            #expect(try children { converters.contains($0) } == [])
        }
    }

    /// The ids of this process's children to which a condition applies.
    private func children(_ condition: (String) -> Bool) throws -> [String] {
        let processes = try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { Int($0) != nil }
        return processes.filter { process in
            let status = FileManager.default.contents(atPath: "/proc/\(process)/stat") ?? Data()
            // The program's name in parentheses, which may have blanks; then the state, and the parent's id.
            let fields = String(decoding: status, as: UTF8.self).split(separator: ")").last?.split(
                separator: " ")
            return fields?.dropFirst().first == "\(getpid())" && condition(process)
        }
    }
}
