import Foundation

struct GDALLayer: Equatable {
    private(set) var name: String
    /// How many features it has; nil where that isn't known.
    private(set) var count: Int?
    /// The name of its coordinate reference system, with its code where it has one; nil if the file doesn't name it.
    private(set) var referenceSystem: String?

    /// The field that has the name of the layer that a feature is in.
    static let field = "@layer"
    /// How many bytes of what `ogrinfo` prints are read.
    private static let maximumBytes = 16 << 20

    /// The layers of a source; none of OpenStreetMap's, which are always the same five, and whose features GDAL
    /// would have to read to count them.
    static func layers(
        _ path: String, _ source: GDALSource, _ environment: [String: String], _ confinement: ConfinedGDAL?
    ) throws(ImportError) -> [GDALLayer] {
        guard source.format != .openStreetMap else { return [] }
        let process = try GDALProcess(.describer, path, source, environment, confinement) { _ in
            ["-ro", "-so", "-al", "-nomd", "-noextent"] + source.openingOptions + [source.name]
        }
        let output = FileHandle(fileDescriptor: process.outputDescriptor, closeOnDealloc: true)
        var text = Data()
        do {
            while text.count < maximumBytes, let read = try output.read(upToCount: 1 << 16), !read.isEmpty {
                text += read
            }
        } catch {
            throw ImportError("ogrinfo can't be read: \(error.localizedDescription)", path: path)
        }
        // What prints more is ended with the process.
        if text.count < maximumBytes { try process.finish() }
        guard text.count < maximumBytes else { throw ImportError("it has too many layers", path: path) }
        return layers(describedBy: String(decoding: text, as: UTF8.self))
    }

    /// The same as it is called in the file: GDAL adds a number to a name that is there twice.
    func named(among layers: [GDALLayer]) -> GDALLayer {
        var layer = self
        if let found = name.wholeMatch(of: /(.+) \(#[0-9]+\)/)?.output.1,
            layers.contains(where: { $0.name == found })
        {
            layer.name = String(found)
        }
        return layer
    }

    /// Reads what `ogrinfo` prints: lines such as `Layer name: cafes` and `Feature Count: 2`, and behind `Layer SRS WKT:` the
    /// system in WKT, whose first line has its name and whose last its code.
    static func layers(describedBy text: String) -> [GDALLayer] {
        var layers: [GDALLayer] = []
        var isSystemNext = false
        for line in text.split(separator: "\n") {
            if let name = line.rest(behind: "Layer name: ") {
                layers.append(GDALLayer(name: String(name)))
            } else if layers.isEmpty {
                continue
            } else if let count = line.rest(behind: "Feature Count: ") {
                layers[layers.count - 1].count = Int(count)
            } else if isSystemNext {
                // PROJCRS["WGS 84 / Pseudo-Mercator",
                let parts = line.split(separator: "\"")
                layers[layers.count - 1].referenceSystem = parts.count > 1 ? String(parts[1]) : nil
            } else if let code = line.rest(behind: "    ID[\"EPSG\",")?.prefix(while: \.isNumber),
                !code.isEmpty
            {
                layers[layers.count - 1].referenceSystem?.append(" (EPSG:\(code))")
            }
            isSystemNext = line == "Layer SRS WKT:"
        }
        return layers
    }
}

extension Substring {
    /// What follows a text that it begins with; nil if it doesn't.
    fileprivate func rest(behind beginning: String) -> Substring? {
        hasPrefix(beginning) ? dropFirst(beginning.count) : nil
    }
}
