import Foundation

/// A source for `ogr2ogr`. Unless it is unconfined, it was checked to lead to no other source.
struct GDALSource {
    let name: String
    /// The source's format; nil for standard input, and if GDAL decides.
    let format: GDALFormat?
    /// The file and those beside it that belong to it.
    let files: [String]
    /// GDAL's names of the drivers that may read it; nil leaves the choice to GDAL.
    let drivers: [String]?
    /// The sheets of a workbook; nil for other formats.
    private(set) var sheets: WorkbookSheets?

    /// What `--unconfined-source` allows: anything that GDAL can open, and all that it leads to.
    private init(unconfined path: String) {
        name = path == "-" ? "/vsistdin/" : path
        // GDAL recognises the format by the content, and this by the name.
        format = path.hasSuffix(".pbf") || path.hasSuffix(".osm") ? .openStreetMap : nil
        (files, drivers) = ([], nil)
    }

    /// Checks the file unless the options say that it is unconfined.
    init(_ path: String, _ options: ImportSource) throws(ImportError) {
        if options.isUnconfined {
            self.init(unconfined: path)
        } else {
            try self.init(path)
        }
    }

    /// The mapping that is usual for its places; nil for `columns`.
    var mapping: String? { format == .openStreetMap ? "openstreetmap" : nil }

    /// The layers that are read; none for all. Unless one is named, routes and tracks of GPX are where somebody went, and
    /// hidden sheets aren't meant to be seen.
    func layerNames(_ options: ImportSource) -> [String] {
        if let layer = options.layer { return [layer] }
        if format == .gpx { return ["waypoints"] }
        return sheets.map { $0.hidden.isEmpty ? [] : $0.visible } ?? []
    }

    /// The layers whose features are read, in their order, as they are called in the file.
    func readLayers(
        _ path: String, _ options: ImportSource, _ confinement: ConfinedGDAL?
    ) throws(ImportError) -> [GDALLayer] {
        let names = layerNames(options)
        let all = try GDALLayer.layers(path, self, options.environment, confinement)
        return all.filter { names.isEmpty || names.contains($0.name) }.map { $0.named(among: all) }
    }

    /// Whether it has sheets, of which a row has the names of the columns.
    var isTable: Bool { format == .workbook || format == .openDocument }

    /// Checks a file; `-` is standard input.
    private init(_ path: String) throws(ImportError) {
        guard path != "-" else {
            name = "/vsistdin/"
            format = nil
            files = []
            drivers = GDALFormat.streams.flatMap(\.drivers)
            return
        }
        // A whole path: GDAL takes a relative one such as `PG:places` for a database.
        let whole = try Self.wholePath(path)
        name = whole
        let beginning = try Self.read(GDALFormat.beginningLength, of: whole)
        let format = try GDALFormat(beginning: beginning, path: path)
        self.format = format
        drivers = format.drivers
        switch format {
        case .shapefile:
            files = try [whole] + Self.sideFiles(of: whole)
            for file in files where file.asciiLowercased.hasSuffix(".prj") {
                let text = try Self.read(1 << 16, of: file)
                guard text.count < 1 << 16 else { throw ImportError("it has 64 KiB or more", path: file) }
                try ReferenceSystem.check(text, path: file)
            }
        case .flatGeobuf:
            files = [whole]
            // The size of the header is behind the magic bytes, and the reference system in the header.
            let size = beginning.dropFirst(8).prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
            guard size <= 1 << 20 else { throw ImportError("its header has more than 1 MiB", path: path) }
            try ReferenceSystem.check(try Self.read(12 + size, of: whole), path: path)
        case .geoPackage:
            files = [whole]
            try GeoPackage.check(whole)
        case .kmz, .workbook, .openDocument:
            files = [whole]
            let archive = try ZIPArchive(whole)
            try archive.verify()
            if format != .kmz { sheets = try WorkbookSheets(archive, path: whole, format) }
        case .openStreetMap, .gpx, .kml: files = [whole]
        }
    }

    var openingOptions: [String] {
        switch format {
        // SQLite then neither makes nor reads files beside the source.
        case .geoPackage: ["-oo", "IMMUTABLE=YES"]
        // A sheet's first row has its columns' names, even if all cells of the sheet are texts.
        case .workbook: ["--config", "OGR_XLSX_HEADERS", "FORCE"]
        case .openDocument: ["--config", "OGR_ODS_HEADERS", "FORCE"]
        default: []
        }
    }

    /// The absolute path of a regular file; the path of its folder has no links and no dots.
    private static func wholePath(_ path: String) throws(ImportError) -> String {
        var status = stat()
        guard stat(path, &status) == 0 else {
            let reason = String(cString: strerror(errno))
            let isName = path.contains(":") || path.hasPrefix("/vsi")
            throw ImportError(isName ? "\(reason). \(ImportError.seeUnconfined)" : reason, path: path)
        }
        let url = URL(fileURLWithPath: path)
        guard status.st_mode & S_IFMT == S_IFREG,
            let folder = realPath(url.deletingLastPathComponent().path), !folder.hasPrefix("/vsi")
        else { throw ImportError("it isn't a regular file. \(ImportError.seeUnconfined)", path: path) }
        return (folder == "/" ? "" : folder) + "/" + url.lastPathComponent
    }

    private static func realPath(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    private static func read(_ count: Int, of path: String) throws(ImportError) -> [UInt8] {
        do {
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            return Array(try file.read(upToCount: count) ?? Data())
        } catch {
            throw ImportError("it can't be read: \(error.localizedDescription)", path: path)
        }
    }
}

// MARK: - Shapefiles

extension GDALSource {
    private static let sideExtensions: Set<String> = ["dbf", "shx", "prj", "cpg", "cst", "qix", "sbn", "sbx"]

    /// The files that make a Shapefile together with the one that has its shapes.
    private static func sideFiles(of path: String) throws(ImportError) -> [String] {
        let url = URL(fileURLWithPath: path)
        let folder = url.deletingLastPathComponent()
        let stem = url.deletingPathExtension().lastPathComponent.asciiLowercased
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        let home = realPath(path).map { URL(fileURLWithPath: $0).deletingLastPathComponent().path }
        return try names.sorted().map { folder.appendingPathComponent($0) }.filter { file in
            file.deletingPathExtension().lastPathComponent.asciiLowercased == stem
                && sideExtensions.contains(file.pathExtension.asciiLowercased)
        }.map { file throws(ImportError) in
            var status = stat()
            guard let real = realPath(file.path), stat(real, &status) == 0,
                status.st_mode & S_IFMT == S_IFREG,
                URL(fileURLWithPath: real).deletingLastPathComponent().path == home
            else {
                throw ImportError(
                    "it isn't a file in the folder of \(url.lastPathComponent). \(ImportError.seeUnconfined)",
                    path: file.path)
            }
            return file.path
        }
    }
}

// MARK: - Reference systems

enum ReferenceSystem {
    /// Keywords that name a file in WKT, in PROJ's strings and in its JSON.
    private static let marks = [
        "grids", "parameterfile", "init=", "file=", "model=", "catalog=", "difference file", "model file",
    ]

    /// Refuses a text with a reference system that names a file: PROJ would open it, wherever it is.
    static func check(_ text: [UInt8], path: String) throws(ImportError) {
        // Spherical Mercator in GDAL's WKT: it names no file.
        let text = text.asciiLowercased.replacing("+nadgrids=@null ".utf8, with: [])
            .replacing("+nadgrids=@null\"".utf8, with: [])
        guard let mark = marks.first(where: { text.contains($0.utf8) }) else { return }
        throw ImportError(
            "its reference system names another file (“\(mark)”). \(ImportError.seeUnconfined)", path: path)
    }
}

extension ImportError {
    static let seeUnconfined = "If you trust where it comes from: --unconfined-source"
    static let seeEncoding = "give the right one by --encoding NAME, of those that iconv -l lists"
    static let seeReferenceSystem =
        "say by --crs EPSG:CODE in which coordinate system its positions are, EPSG:4326 for degrees"
}
