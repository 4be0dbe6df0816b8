import ChildProcesses
import Foundation
import PointsOfInterestAPI

/// A program of GDAL in a process of its own.
///
/// Foreign formats are read in another process, so that a fault of a file or of its reader can end only that process.
final class GDALProcess {
    /// The descriptor of its output, which the reader has to close.
    let outputDescriptor: Int32

    private let path: String
    private let program: GDALProgram
    private let process: ChildProcess
    private let messages: FileHandle
    /// What it keeps in files while it runs.
    private let folder: WorkFolder
    private var hasEnded = false

    /// Starts to convert a source to a sequence of features.
    ///
    /// - Parameters:
    ///   - path: The source's name in errors.
    ///   - confinement: nil: it may open whatever the source leads to, and gets all of `environment`.
    convenience init(
        _ path: String, _ source: GDALSource, mapping: Mapping, source options: ImportSource,
        confinement: ConfinedGDAL?
    ) throws(ImportError) {
        try self.init(.converter, path, source, options.environment, confinement) { folder in
            try Self.arguments(source, mapping: mapping, options: options, folder: folder)
        }
    }

    /// Starts a program, with arguments that may name files in its folder.
    init(
        _ program: GDALProgram, _ path: String, _ source: GDALSource, _ environment: [String: String],
        _ confinement: ConfinedGDAL?, arguments: (WorkFolder) throws -> [String]
    ) throws(ImportError) {
        (self.program, self.path) = (program, path)
        do {
            folder = try WorkFolder()
            let arguments = try arguments(folder)
            let run =
                try confinement?.run(program, arguments, source: source, folder: folder)
                ?? ([ConfinedGDAL.path(of: program, in: environment)] + arguments, environment)
            messages = try WorkFolder.unlinkedFile()
            let (ours, theirs) = try socketPair()
            // Closed before reading, since the output ends only when no process has it open.
            defer { close(theirs) }
            let input =
                path == "-" ? STDIN_FILENO : try check(open("/dev/null", O_RDONLY | O_CLOEXEC), "open")
            defer { if path != "-" { close(input) } }
            outputDescriptor = ours
            process = try ChildProcess(
                arguments: run.0, environment: run.1, descriptors: [input, theirs, messages.fileDescriptor])
        } catch let error as ImportError {
            throw ImportError(error.message, path: path)
        } catch {
            throw ImportError("\(program.rawValue) can't be started: \(error)", path: path)
        }
    }

    private static func arguments(
        _ source: GDALSource, mapping: Mapping, options: ImportSource, folder: WorkFolder
    ) throws -> [String] {
        var arguments = ["-f", "GeoJSONSeq", "/vsistdout/", source.name]
        if source.format == .openStreetMap {
            let settings = folder.path + "/osmconf.ini"
            try Data(mapping.openStreetMapConfiguration.utf8).write(to: URL(fileURLWithPath: settings))
            arguments += ["--config", "OSM_CONFIG_FILE", settings]
            if let condition = mapping.openStreetMapCondition { arguments += ["-where", condition] }
            // No box is passed: the OSM driver would leave out a way's nodes outside of it, which would move the way.
            arguments += openStreetMapLayers
        } else if let box = options.boundingBox, !box.crossesAntimeridian, options.referenceSystem == nil {
            arguments += ["-spat_srs", "EPSG:4326", "-spat"]
            arguments += [box.west, box.south, box.east, box.north].map { "\($0)" }
        }
        arguments += source.openingOptions
        if let layer = options.layer {
            guard source.format != .openStreetMap, !layer.hasPrefix("-") else {
                throw ImportError("it has no layer \(layer.printable)")
            }
            arguments.append(layer)
        }
        return arguments
    }

    deinit {
        guard !hasEnded else { return }
        // The child's id is also its group's. The system doesn't reuse it before the child was waited for.
        kill(-process.processID, SIGKILL)
        _ = process.wait()
    }

    /// Waits for the end of the process. Call it after the end of the output.
    ///
    /// - Throws: ``ImportError`` with what the program says went wrong.
    func finish() throws(ImportError) {
        guard !hasEnded else { return }
        hasEnded = true
        let code = process.wait()
        try? messages.seek(toOffset: 0)
        let text = (try? messages.read(upToCount: 64 * 1024)) ?? Data()
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n").filter {
            $0 != "FAILURE:" && !$0.hasPrefix("Warning")
        }
        // A truncated file is an error of GDAL's drivers, but not of `ogr2ogr`.
        let error = lines.first { $0.hasPrefix("ERROR") }
        guard code != 0 || error != nil else { return }
        throw ImportError(
            "\(program.rawValue): \((error ?? lines.first ?? "it failed and said nothing").printable)",
            path: path)
    }
}

// MARK: - OpenStreetMap

extension GDALProcess {
    fileprivate static let openStreetMapLayers = [
        "points", "lines", "multilinestrings", "multipolygons", "other_relations",
    ]
}

extension Mapping {
    /// The configuration of GDAL's OSM driver: each tag that the mapping uses becomes a property of the same name, and all others
    /// become one where names in languages are looked for.
    fileprivate var openStreetMapConfiguration: String {
        let tags = fieldNames.filter { !$0.hasPrefix("@") && $0 != "osm_id" && $0 != "osm_way_id" }
        let layer =
            "osm_id=yes\nattributes=\(tags.joined(separator: ","))\nother_tags=\(namesPrefix == nil ? "no" : "yes")\n"
        return
            "closed_ways_are_polygons=\(categoryTags.joined(separator: ","))\nattribute_name_laundering=no\n"
            + GDALProcess.openStreetMapLayers.map { "[\($0)]\n\(layer)" }.joined()
    }

    /// A condition that every place fulfils; nil if the mapping has none. It leaves out the roads of a whole country.
    fileprivate var openStreetMapCondition: String? {
        guard selectsByCategory else { return nil }
        return categoryTags.map { "\"\($0)\" IS NOT NULL" }.joined(separator: " OR ")
    }

    /// The tags that categories depend on.
    private var categoryTags: [String] {
        Set(self[.category].compactMap { $0.conditions.first?.field }).sorted().map { fieldNames[$0] }
    }
}
