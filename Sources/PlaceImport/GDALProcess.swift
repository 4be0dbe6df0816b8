import ChildProcesses
import Foundation
import PointsOfInterestAPI

/// `ogr2ogr`, GDAL's converter, as a program beside ours: it writes what it reads as a sequence of features.
///
/// Foreign formats are read in another process, so that what is wrong with a file or with its reader ends that one.
final class GDALProcess {
    /// Where it writes; whoever reads it closes it.
    let outputDescriptor: Int32

    private let path: String
    private let process: ChildProcess
    private let messages: FileHandle
    private var hasEnded = false

    /// Starts to convert a file.
    init(_ path: String, mapping: Mapping, boundingBox: BoundingBox?) throws(ImportError) {
        self.path = path
        let program = Self.searchPath.map { "\($0)/ogr2ogr" }.first {
            FileManager.default.isExecutableFile(atPath: $0)
        }
        guard let program else {
            throw ImportError("ogr2ogr reads this format: install gdal-bin (with Homebrew, gdal)", path: path)
        }
        let source = path == "-" ? "/vsistdin/" : path
        var arguments = [program, "-f", "GeoJSONSeq", "/vsistdout/", source]
        var configuration = ""
        if Self.isOpenStreetMap(path) {
            configuration = mapping.openStreetMapConfiguration
            // A descriptor of its own, see below: there is no file to clean up.
            arguments += ["--config", "OSM_CONFIG_FILE", "/dev/fd/3"]
            if let condition = mapping.openStreetMapCondition { arguments += ["-where", condition] }
            // No box: the OSM driver would leave a way's nodes outside it out, and the way be elsewhere.
            arguments += Self.openStreetMapLayers
        } else if let box = boundingBox, !box.crossesAntimeridian {
            arguments += ["-spat_srs", "EPSG:4326", "-spat"]
            arguments += [box.west, box.south, box.east, box.north].map { "\($0)" }
        }
        do {
            messages = try Self.temporaryFile(with: "")
            let settings = try Self.temporaryFile(with: configuration)
            let (ours, theirs) = try socketPair()
            // Closed before anything is read: the end comes when nobody has it open.
            defer { close(theirs) }
            let input =
                path == "-" ? STDIN_FILENO : try check(open("/dev/null", O_RDONLY | O_CLOEXEC), "open")
            defer { if path != "-" { close(input) } }
            outputDescriptor = ours
            process = try ChildProcess(
                arguments: arguments, environment: ProcessInfo.processInfo.environment,
                descriptors: [input, theirs, messages.fileDescriptor, settings.fileDescriptor])
        } catch {
            throw ImportError("ogr2ogr can't be started: \(error)", path: path)
        }
    }

    deinit {
        guard !hasEnded else { return }
        // Its group's id, which is free only once it was waited for.
        kill(-process.processID, SIGKILL)
        _ = process.wait()
    }

    /// Waits for the end, after that of the output.
    ///
    /// - Throws: what it says went wrong.
    func finish() throws(ImportError) {
        guard !hasEnded else { return }
        hasEnded = true
        let code = process.wait()
        try? messages.seek(toOffset: 0)
        let text = (try? messages.read(upToCount: 64 * 1024)) ?? Data()
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n").filter {
            $0 != "FAILURE:" && !$0.hasPrefix("Warning")
        }
        // A file that is cut off is an error to GDAL's drivers, and none to `ogr2ogr`.
        let error = lines.first { $0.hasPrefix("ERROR") }
        guard code != 0 || error != nil else { return }
        throw ImportError("ogr2ogr: \(error ?? lines.first ?? "it failed and said nothing")", path: path)
    }

    private static var searchPath: [String] {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
        return path.split(separator: ":").map(String.init)
    }

    /// A file without a name, which disappears with its descriptor.
    private static func temporaryFile(with content: String) throws -> FileHandle {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data(content.utf8).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        return try FileHandle(forUpdating: url)
    }
}

// MARK: - OpenStreetMap

extension GDALProcess {
    /// Whether GDAL reads a file with its OSM driver.
    static func isOpenStreetMap(_ path: String) -> Bool { path.hasSuffix(".pbf") || path.hasSuffix(".osm") }

    fileprivate static let openStreetMapLayers = [
        "points", "lines", "multilinestrings", "multipolygons", "other_relations",
    ]
}

extension Mapping {
    /// Which tags become properties of which name, for GDAL's OSM driver: those that the mapping uses, as they are.
    fileprivate var openStreetMapConfiguration: String {
        let tags = fieldNames.filter { !$0.hasPrefix("@") && $0 != "osm_id" && $0 != "osm_way_id" }
        let layer = "osm_id=yes\nattributes=\(tags.joined(separator: ","))\nother_tags=no\n"
        return
            "closed_ways_are_polygons=\(categoryTags.joined(separator: ","))\nattribute_name_laundering=no\n"
            + GDALProcess.openStreetMapLayers.map { "[\($0)]\n\(layer)" }.joined()
    }

    /// What every place has to have; nil where the mapping doesn't say it. It spares the roads of a whole country.
    fileprivate var openStreetMapCondition: String? {
        guard selectsByCategory else { return nil }
        return categoryTags.map { "\"\($0)\" IS NOT NULL" }.joined(separator: " OR ")
    }

    /// The tags that categories depend on.
    private var categoryTags: [String] {
        Set(self[.category].compactMap { $0.conditions.first?.field }).sorted().map { fieldNames[$0] }
    }
}
