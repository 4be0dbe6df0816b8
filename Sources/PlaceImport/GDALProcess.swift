import ChildProcesses
import Foundation
import PointsOfInterestAPI

/// A program of GDAL in a process of its own. Foreign formats are read in another process, so that a fault of a file or of
/// its reader can end only that process.
final class GDALProcess {
    /// The descriptor of its output, which the reader has to close.
    let outputDescriptor: Int32

    private let path: String
    private let program: GDALProgram
    /// Whether its memory is bounded, among others.
    private let isConfined: Bool
    private let process: ChildProcess
    private let messages: FileHandle
    /// Ends with our process, whatever ends that.
    private let lifeline: FileHandle
    private let folder: WorkFolder
    /// The names of the columns that places are made of, in lower case.
    private var usedNames: Set<String> = []
    private var hasEnded = false

    /// Starts to convert a source to a sequence of features.
    /// - Parameter confinement: nil: it may open whatever the source leads to, and gets all of `environment`.
    convenience init(
        _ path: String, _ source: GDALSource, mapping: Mapping, source options: ImportSource,
        confinement: ConfinedGDAL?
    ) throws(ImportError) {
        try self.init(.converter, path, source, options.environment, confinement) { folder in
            try Self.arguments(source, mapping: mapping, options: options, folder: folder)
        }
        usedNames = mapping.usedNames
    }

    /// Starts a program, with arguments that may name files in its folder.
    init(
        _ program: GDALProgram, _ path: String, _ source: GDALSource, _ environment: [String: String],
        _ confinement: ConfinedGDAL?, arguments: (WorkFolder) throws -> [String]
    ) throws(ImportError) {
        (self.program, self.path, isConfined) = (program, path, confinement != nil)
        do {
            var environment = try confinement?.environment(of: program, for: source) ?? environment
            messages = try WorkFolder.unlinkedFile()
            let (ours, theirs) = try socketPair()
            outputDescriptor = ours
            let (life, watch) = try socketPair()
            lifeline = FileHandle(fileDescriptor: life, closeOnDealloc: true)
            // Closed before reading, since the output ends only when no process has it open.
            defer { for descriptor in [theirs, watch] { close(descriptor) } }
            let input =
                path == "-" ? STDIN_FILENO : try check(open("/dev/null", O_RDONLY | O_CLOEXEC), "open")
            defer { if path != "-" { close(input) } }
            folder = try WorkFolder()
            if confinement != nil {
                for name in ["HOME", "TMPDIR", "CPL_TMPDIR"] { environment[name] = folder.path }
            }
            let arguments = try arguments(folder)
            let command =
                try confinement?.command(
                    program, arguments, source: source, folder: folder, environment: environment)
                ?? [ConfinedGDAL.path(of: program, in: environment)] + arguments
            process = try ChildProcess(
                arguments: ["/bin/sh", "-c", Self.watched, "sh", folder.path] + command,
                environment: environment, descriptors: [input, theirs, messages.fileDescriptor, watch])
        } catch let error as ImportError { throw ImportError(error.message, path: path) } catch {
            throw ImportError("\(program.rawValue) can't be started: \(error)", path: path)
        }
    }

    /// Runs a command. If our process ends, so that the other end of descriptor 3 is closed, it ends the command, too, and
    /// removes its folder, whose path comes first: a signal leaves us no time for it, and SIGKILL none at all.
    private static let watched = """
        folder=$1; shift
        { read -r _ <&3; trap '' TERM; kill -TERM 0; /bin/rm -rf "$folder"; } >/dev/null 2>&1 &
        "$@" 3<&-
        code=$?
        kill $!
        exit $code
        """

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
        } else if let box = options.boundingBox, !box.crossesAntimeridian, options.referenceSystem == nil,
            // Features are counted to know their layers.
            !mapping.fieldNames.contains(GDALLayer.field)
        {
            arguments += ["-spat_srs", "EPSG:4326", "-spat"]
            arguments += [box.west, box.south, box.east, box.north].map { "\($0)" }
        }
        arguments += source.openingOptions
        for layer in source.layerNames(options) {
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
    func finish() throws(ImportError) {
        guard !hasEnded else { return }
        hasEnded = true
        let code = process.wait()
        try? messages.seek(toOffset: 0)
        let text = (try? messages.read(upToCount: 64 * 1024)) ?? Data()
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
        if let fault = fault(in: lines, code: code) {
            throw ImportError("\(program.rawValue)\(fault)", path: path)
        }
    }

    private func fault(in lines: [Substring], code: Int32) -> String? {
        // The second of two columns gets another name, which nothing would read.
        let duplicate = lines.compactMap {
            $0.wholeMatch(of: /Warning 1: Field '(.*)' already exists\. .*/)?.output.1
        }
        .first { usedNames.contains(String($0).asciiLowercased) }
        if let duplicate { return ": two columns are both called \(duplicate.printable): rename one of them" }
        let messages = lines.filter { $0 != "FAILURE:" && !$0.hasPrefix("Warning") }
        // A truncated file is an error of GDAL's drivers, but not of `ogr2ogr`.
        let error = messages.first { $0.hasPrefix("ERROR") }
        guard code != 0 || error != nil else { return nil }
        let outOfMemory = /bad_alloc|[Oo]ut of memory|[Cc]an(no|')t allocate|malloc/
        if isConfined, messages.contains(where: { $0.contains(outOfMemory) }) {
            return
                " would take more than \(ConfinedGDAL.maximumMemory >> 30) GiB of memory for it: convert it to CSV or "
                + "GeoPackage first"
        }
        return ": \((error ?? messages.first ?? "it failed and said nothing").printable)"
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
        guard selectsByCategory, self[.category].allSatisfy({ $0.conditions.contains(where: \.needsField) })
        else { return nil }
        return categoryTags.map { "\"\($0)\" IS NOT NULL" }.joined(separator: " OR ")
    }

    /// The tags that categories depend on.
    private var categoryTags: [String] {
        Set(self[.category].compactMap { $0.conditions.first(where: \.needsField)?.field }).sorted()
            .map { fieldNames[$0] }
    }
}
