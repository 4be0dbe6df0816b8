/// Reads the places of files, one row after the other, in bounded memory. For one thread.
///
/// Rows that aren't selected are counted and passed over.
package final class PlaceReader {
    private let source: ImportSource
    private let totalBytes: Int?
    private var waiting: ArraySlice<String>
    private var file: PlaceFile?
    /// The confinement of `ogr2ogr` to its files; nil if it isn't used, or isn't confined.
    private let confinement: ConfinedGDAL?
    /// What was read of the files before the current one.
    private var finished = ReadProgress()

    /// Opens the first file and looks at its beginning.
    ///
    /// - Throws: ``ImportError`` where it can't be read, or the options don't fit.
    package init(_ source: ImportSource) throws(ImportError) {
        self.source = source
        waiting = source.paths[...]
        // The size of a file that `ogr2ogr` reads says nothing about its output.
        let needsGDAL = source.paths.map { (source.format ?? ImportFormat(extensionOf: $0)) == .gdal }
        let sizes = zip(source.paths, needsGDAL).map { $1 ? nil : ByteInput.size(ofFile: $0) }
        if !source.isUnconfined, let index = needsGDAL.firstIndex(of: true) {
            do throws(ImportError) {
                confinement = try ConfinedGDAL(environment: source.environment)
            } catch {
                throw ImportError(error.message, path: source.paths[index])
            }
        } else {
            confinement = nil
        }
        totalBytes = sizes.contains(nil) ? nil : sizes.reduce(0) { $0 + ($1 ?? 0) }
        guard let first = waiting.popFirst() else { throw ImportError("there is no file to read") }
        file = try PlaceFile(first, source, confinement)
    }

    /// Returns the next row that is selected, as a place or with the reason why it is none; nil at the end.
    ///
    /// - Throws: ``ImportError`` where the file can't be read any further.
    package func next() throws(ImportError) -> ImportItem? {
        while let file {
            if let item = try file.next() { return item }
            finished = progress
            self.file = nil
            if let path = waiting.popFirst() { self.file = try PlaceFile(path, source, confinement) }
        }
        return nil
    }

    /// A warning for people about how the files are read; nil if there is none.
    package var remark: String? { confinement?.remark }

    /// The file that the last row was read from; empty after the end.
    package var path: String { file?.input.path ?? "" }

    /// How far the reading is.
    package var progress: ReadProgress {
        var progress = finished
        progress.totalBytes = totalBytes
        guard let file else { return progress }
        progress.bytes += file.input.bytesRead
        progress.rows += file.rowCount
        progress.notSelected += file.builder.notSelected
        progress.normalised.merge(file.builder.normalised, uniquingKeysWith: +)
        return progress
    }
}

/// Reads the rows of a format.
protocol RowReader {
    /// Reads the next row's fields.
    mutating func next(into row: inout Row) throws(ImportError) -> ReadRow
}

/// What a row reader found next.
enum ReadRow {
    case row
    case rejected(RejectionReason, detail: String)
    case end
}

/// One of the files, and the places in it.
private final class PlaceFile {
    let input: ByteInput
    private var rows: any RowReader
    private let converter: GDALProcess?
    private var row: Row
    private(set) var builder: PlaceBuilder
    private(set) var rowCount = 0

    init(_ path: String, _ source: ImportSource, _ confinement: ConfinedGDAL?) throws(ImportError) {
        var format = source.format ?? ImportFormat(extensionOf: path)
        var foreign: GDALSource?
        if format == .gdal {
            foreign = source.isUnconfined ? GDALSource(unconfined: path) : try GDALSource(path)
        }
        let usual = foreign?.format == .openStreetMap ? "openstreetmap" : "columns"
        var mapping = try Mapping.named(source.mapping ?? usual)
        for (field, column) in source.columns { mapping.take(field, from: column) }
        for column in source.properties { mapping.takeProperty(from: column) }
        if let foreign {
            let converter = try GDALProcess(
                path, foreign, mapping: mapping, boundingBox: source.boundingBox, confinement: confinement,
                environment: source.environment)
            self.converter = converter
            input = try ByteInput(descriptor: converter.outputDescriptor, path: path, closes: true)
            format = .geojson
        } else {
            converter = nil
            input = try ByteInput(path: path)
        }
        // Skips a byte order mark.
        if input.startsWith([0xef, 0xbb, 0xbf]) { input.consume(3) }
        if format ?? ImportFormat(beginningOf: input) == .csv {
            rows = try CSVReader(input, mapping: &mapping, delimiter: source.delimiter)
        } else {
            rows = GeoJSONReader(input, mapping: mapping)
        }
        row = Row(fieldCount: mapping.fieldNames.count)
        builder = PlaceBuilder(
            mapping: mapping, boundingBox: source.boundingBox, categories: source.categories)
    }

    func next() throws(ImportError) -> ImportItem? {
        while true {
            switch try nextRow() {
            case .end:
                try converter?.finish()
                return nil
            case .rejected(let reason, let detail):
                rowCount += 1
                return .rejected(RejectedRow(line: row.line, reason: reason, detail: detail))
            case .row:
                rowCount += 1
                if let item = builder.item(from: &row) { return item }
            }
        }
    }

    private func nextRow() throws(ImportError) -> ReadRow {
        do throws(ImportError) {
            return try rows.next(into: &row)
        } catch {
            // The converter's error is nearer to the cause.
            if input.isAtEnd { try converter?.finish() }
            throw error
        }
    }
}

extension ImportFormat {
    /// The format of a path's extension; nil if the first byte decides.
    fileprivate init?(extensionOf path: String) {
        var name = path.split(separator: "/").last.map { String($0).asciiLowercased } ?? ""
        if name.hasSuffix(".gz") { name.removeLast(3) }
        let parts = name.split(separator: ".")
        switch parts.count > 1 ? parts.last : nil {
        case "csv", "tsv", "txt": self = .csv
        case "geojson", "json", "geojsons", "geojsonl", "geojsonseq", "ndjson", "jsonl": self = .geojson
        // No extension and no colon: a path with a colon, such as `PG:dbname=places`, is one for GDAL.
        case nil where path == "-" || !path.contains(":"): return nil
        default: self = .gdal
        }
    }

    /// The format of bytes: GeoJSON begins with a brace or a record separator.
    fileprivate init(beginningOf input: ByteInput) {
        let first = input.withUnread { $0.first { $0 > 0x20 || $0 == 0x1e } }
        self = first == UInt8(ascii: "{") || first == 0x1e ? .geojson : .csv
    }
}
