import Foundation
import PlaceImport
import Testing

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
