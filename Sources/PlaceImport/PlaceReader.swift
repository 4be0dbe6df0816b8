import Foundation

/// Reads the places of files, one row after the other, in bounded memory. For one thread. Rows that aren't selected are
/// counted and passed over.
package final class PlaceReader {
    private let source: ImportSource
    private let totalBytes: Int?
    private var waiting: ArraySlice<String>
    private var file: PlaceFile?
    /// The confinement of `ogr2ogr` to its files; nil if it isn't used, or isn't confined.
    private let confinement: ConfinedGDAL?
    private var finished = ReadProgress()
    private var rejectedRows: RejectedRows

    package init(_ source: ImportSource) throws(ImportError) {
        self.source = source
        waiting = source.paths[...]
        // The size of an archive, or of a file that `ogr2ogr` reads, says nothing about what comes out of it.
        let sizes = source.paths.map { path in
            source.isForGDAL(path) || source.isArchive(path) ? nil : ByteInput.size(ofFile: path)
        }
        if !source.isUnconfined, let index = source.paths.firstIndex(where: source.isForGDAL) {
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
        let file = try PlaceFile(first, source, confinement)
        rejectedRows = RejectedRows(isDelimited: source.paths.count == 1 && file.isDelimited)
        self.file = file
    }

    /// Returns the next row that is selected, as a place or with the reason why it is none; nil at the end.
    package func next() throws(ImportError) -> ImportItem? {
        while let file {
            if let item = try file.next() { return item }
            finished = progress
            let unseenHere = file.builder.unseen
            unseen = unseen?.intersection(unseenHere) ?? unseenHere
            self.file = nil
            if let path = waiting.popFirst() { self.file = try PlaceFile(path, source, confinement) }
        }
        return nil
    }

    /// The row that was returned last, as bytes for a file of rejected rows; the first one has that file's header before it.
    /// - Throws: ``ImportError`` where the rows of the files can't be in one file.
    package func bytes(ofRejected row: RejectedRow) throws(ImportError) -> [UInt8] {
        guard let file else { return [] }
        return try rejectedRows.bytes(of: row, read: file.rows, from: path, file.context)
    }

    /// What no row of the files that are read to their end has, although a mapping or an option names it; nil before that.
    package private(set) var unseen: UnseenMembers?

    /// A warning for people about how the files are read; nil if there is none.
    package var remark: String? { confinement?.remark }

    /// The file that the last row was read from, as people know it; empty after the end.
    package var path: String { file.map { source.name ?? $0.input.path } ?? "" }

    package var progress: ReadProgress {
        var progress = finished
        progress.totalBytes = totalBytes
        guard let file else { return progress }
        progress.bytes += file.input.bytesRead
        progress.rows += file.rowCount
        progress.notSelected += file.builder.notSelected
        progress.normalised.merge(file.builder.normalised, uniquingKeysWith: +)
        progress.leftOut.merge(file.builder.leftOut, uniquingKeysWith: +)
        if !file.hiddenSheets.isEmpty {
            progress.remarks.append(
                "\(file.input.path): hidden sheets aren't read: \(file.hiddenSheets.map(\.printable).joined(separator: ", ")); --layer NAME reads one"
            )
        }
        if let encoding = file.input.encoding, encoding != source.encoding {
            progress.remarks.append(
                "\(path): the text is \(encoding) and was read as that, not as UTF-8")
        }
        return progress
    }
}

protocol RowReader {
    mutating func next(into row: inout Row) throws(ImportError) -> ReadRow

    /// The row that was read last, as an object of JSON; nil where it is none, or isn't kept.
    var rowObject: [UInt8]? { get }
    /// The text of the row that was read last; nil where it isn't kept.
    var rowText: [UInt8]? { get }
}

enum ReadRow {
    case row
    case rejected(RejectionReason, detail: String)
    case end
}

private final class PlaceFile {
    let input: ByteInput
    private(set) var rows: any RowReader
    /// What rejected rows have to say of the file.
    let context: RejectedRows.Context
    var isDelimited: Bool { rows is CSVReader }
    private let converter: GDALProcess?
    /// The sheets that aren't read.
    let hiddenSheets: [String]
    private var row: Row
    private(set) var builder: PlaceBuilder
    private(set) var rowCount = 0

    init(_ path: String, _ source: ImportSource, _ confinement: ConfinedGDAL?) throws(ImportError) {
        let opened = try OpenedFile(path, source)
        var format = opened.format
        let foreign = try format == .gdal ? GDALSource(path, source) : nil
        let usual = foreign?.mapping ?? opened.usualMapping
        var mapping = try source.mapping(unlessNamed: usual ?? "columns")
        hiddenSheets = source.layer == nil ? foreign?.sheets?.hidden ?? [] : []
        var layers: [GDALLayer] = []
        if let foreign {
            if mapping.fieldNames.contains(GDALLayer.field) {
                layers = try foreign.readLayers(path, source, confinement)
            }
            let converter = try GDALProcess(
                path, foreign, mapping: mapping, source: source, confinement: confinement)
            self.converter = converter
            input = try ByteInput(descriptor: converter.outputDescriptor, path: path, closes: true)
            format = .geojson
        } else if let opened = opened.input {
            converter = nil
            input = opened
        } else {
            throw ImportError("it can't be read", path: path)
        }
        // GDAL's GeoJSON is in degrees.
        let named = foreign == nil ? opened.beginning?.referenceSystem : nil
        let system = source.referenceSystem ?? named
        if system == nil, foreign == nil, let unknown = opened.beginning?.unknownSystem {
            throw ImportError(
                "its coordinate system isn't known, \(unknown.printable): \(ImportError.seeReferenceSystem)",
                path: path)
        }
        context = RejectedRows.Context(
            mapping: source.mapping == nil ? usual : nil,
            referenceSystem: source.referenceSystem == nil ? named : nil)
        var projection: Projection?
        do throws(ImportError) {
            projection = try system.map { code throws(ImportError) in try Projection(code) }
        } catch {
            throw ImportError(error.message, path: path)
        }
        if format == .csv {
            rows = try CSVReader(
                input, mapping: &mapping, delimiter: source.delimiter, headerRow: source.headerRow)
        } else {
            let shape = foreign == nil ? opened.beginning?.shape : nil
            var reader = GeoJSONReader(
                input, mapping: mapping, shape: source.shape(unlessNamed: shape),
                isProjected: projection != nil, layers: layers)
            if foreign?.isTable == true { try reader.findHeader(mapping, row: source.headerRow) }
            rows = reader
        }
        row = Row(fieldCount: mapping.fieldNames.count)
        builder = PlaceBuilder(
            mapping: mapping, isTable: rows is CSVReader || foreign.map { $0.mapping == nil } ?? false,
            boundingBox: source.boundingBox, categories: source.categories,
            projection: projection)
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

struct OpenedFile {
    let format: ImportFormat
    /// What it has from its start; nil where GDAL reads it.
    let input: ByteInput?
    /// What its beginning says of it; nil where it isn't JSON.
    let beginning: JSONBeginning?
    /// The mapping that is usual for its places; nil for `columns`, and where GDAL reads it.
    var usualMapping: String? { beginning?.mapping ?? (isStops ? "gtfs" : nil) }
    /// Whether it is the `stops.txt` of GTFS, or rejected rows of it.
    private let isStops: Bool

    init(_ path: String, _ source: ImportSource) throws(ImportError) {
        let isURL = ["http://", "https://", "ftp://"].contains(where: path.asciiLowercased.hasPrefix)
        guard source.isUnconfined || !isURL else {
            throw ImportError(
                "it is a URL: download the file first, curl -LO \(path.quotedForShell)", path: path)
        }
        // Rejected rows keep the options of the import that rejected them, its format too.
        let isRejected = Self.hasRejectedObjects(path)
        guard isRejected || !source.isForGDAL(path) else {
            (format, input, beginning, isStops) = (.gdal, nil, nil, false)
            return
        }
        var format = isRejected ? .geojson : source.format ?? ImportFormat(extensionOf: path)
        let input: ByteInput
        if !isRejected, source.isArchive(path) {
            let member = try ZIPArchive(path).onlyMember()
            format = ImportFormat(extensionOf: member.name)
            guard format != .gdal else {
                throw ImportError("the archive has \(member.shownName): unpack it first", path: path)
            }
            input = try ByteInput(member: member, path: path)
        } else {
            input = try ByteInput(path: path)
        }
        // Skips a byte order mark.
        if input.startsWith([0xef, 0xbb, 0xbf]) {
            input.consume(3)
        } else if let (encoding, markLength) = TextDecoder.utf16(input.unread) {
            input.consume(markLength)
            try input.read(as: encoding)
        } else if let encoding = source.encoding, !RejectedRows.areBeginning(ofColumns: input.unread) {
            try input.read(as: encoding)
        }
        self.input = input
        self.format = format ?? ImportFormat(beginningOf: input)
        beginning = self.format == .geojson ? JSONBeginning(input.unread) : nil
        let name = path.split(separator: "/").last.map { String($0).asciiLowercased }
        isStops =
            self.format == .csv && (name == "stops.txt" || RejectedRows.areBeginning(ofColumns: input.unread))
            && Self.hasStops(input.unread)
    }

    /// Whether a header has the columns that each file of stops has.
    private static func hasStops(_ bytes: ArraySlice<UInt8>) -> Bool {
        let header = bytes.prefix { $0 != 0x0a }.prefix(4096).filter { $0 > 0x20 && $0 != UInt8(ascii: "\"") }
        let columns = Set(header.asciiLowercased.split(separator: UInt8(ascii: ",")))
        return ["stop_id", "stop_lat", "stop_lon"].allSatisfy { columns.contains(ArraySlice($0.utf8)) }
    }

    private static func hasRejectedObjects(_ path: String) -> Bool {
        guard ByteInput.size(ofFile: path) != nil, let file = FileHandle(forReadingAtPath: path) else {
            return false
        }
        return (try? file.read(upToCount: RejectedRows.beginningLength)).map { RejectedRows.areBeginning($0) }
            ?? false
    }
}

extension ImportSource {
    func isForGDAL(_ path: String) -> Bool {
        (format ?? ImportFormat(extensionOf: path)) == .gdal && !isArchive(path)
    }

    /// Whether a file is an archive of one that is read without GDAL.
    func isArchive(_ path: String) -> Bool {
        format == nil && path.asciiLowercased.hasSuffix(".zip") && !isUnconfined
    }

    /// The mapping of its files, with what options change.
    func mapping(unlessNamed usual: String) throws(ImportError) -> Mapping {
        var mapping = try Mapping.named(mapping ?? usual, tables: tables)
        // That one only guesses.
        if (self.mapping ?? usual) != "columns" { mapping.nameAll() }
        for (field, column) in columns { mapping.take(field, from: column) }
        for (field, text) in fixedTexts { mapping.set(field, to: text) }
        for column in properties { mapping.takeProperty(from: column) }
        for member in cleared { mapping.clear(member) }
        return mapping
    }

    /// Where JSON has its places.
    func shape(unlessNamed shape: JSONShape?) -> JSONShape {
        layer.map { .collection($0) } ?? shape ?? .collection("features")
    }
}

extension ImportFormat {
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

    /// The format of bytes: JSON begins with a brace, a bracket or a record separator.
    fileprivate init(beginningOf input: ByteInput) {
        let first = input.unread.first { $0 > 0x20 || $0 == 0x1e }
        self =
            first.map { [UInt8(ascii: "{"), UInt8(ascii: "["), 0x1e].contains($0) } == true ? .geojson : .csv
    }
}
