import CZlib
import Foundation
import PlaceImport
import Testing

/// Whether GDAL is installed, which reads some formats.
let hasGDAL = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    .contains { FileManager.default.isExecutableFile(atPath: "\($0)/ogr2ogr") }

/// What a file became.
struct ReadResult {
    var places: [ImportedPlace] = []
    var rejected: [RejectedRow] = []
    var progress = ReadProgress()

    var reasons: [RejectionReason] { rejected.map(\.reason) }
}

/// Reads bytes from a file with this name.
func read(
    _ bytes: [UInt8], as name: String = "places.csv", _ change: (inout ImportSource) -> Void = { _ in }
) throws -> ReadResult {
    try withFile(bytes, name) { path in
        var source = ImportSource(paths: [path])
        change(&source)
        return try read(source)
    }
}

/// Calls `body` with the path of a file with these bytes and this name, in a folder of its own.
func withFile<Result>(_ bytes: [UInt8], _ name: String, _ body: (String) throws -> Result) throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent(name)
    try Data(bytes).write(to: file)
    return try body(file.path)
}

/// Reads a text from a file with this name.
func read(
    _ text: String, as name: String = "places.csv", _ change: (inout ImportSource) -> Void = { _ in }
) throws -> ReadResult {
    try read(Array(text.utf8), as: name, change)
}

func read(_ source: ImportSource) throws -> ReadResult {
    var result = ReadResult()
    let reader = try PlaceReader(source)
    while let item = try reader.next() {
        switch item {
        case .place(let place, _): result.places.append(place.withAllGiven)
        case .rejected(let row): result.rejected.append(row)
        }
    }
    result.progress = reader.progress
    return result
}

extension ImportedPlace {
    /// The same, whatever its row says nothing of: that has tests of its own, with a table (`GivenMembersTests`).
    var withAllGiven: ImportedPlace {
        var place = self
        (place.given, place.emptiedProperties, place.emptiedNames) = (.all, [], [])
        return place
    }
}

/// What is said of a text in a file of this name.
func explain(
    _ text: String, as name: String = "places.csv", _ change: (inout ImportSource) -> Void = { _ in }
) throws -> String {
    try withFile(Array(text.utf8), name) { path in
        var source = ImportSource(paths: [path])
        change(&source)
        return try FileExplanation(source, destination: ["--license ID"]).description
    }
}

/// The error that ends the reading; nil where there is none.
func error(_ body: () throws -> ReadResult) -> ImportError? {
    do {
        _ = try body()
        return nil
    } catch {
        return error as? ImportError
    }
}

/// Rows with the header `name,category,lat,lon,id,address,website,featured`.
func csv(_ rows: String...) -> String {
    (["name,category,lat,lon,id,address,website,featured"] + rows).joined(separator: "\n") + "\n"
}

/// The bytes as one member of gzip.
func gzip(_ bytes: [UInt8]) -> [UInt8] {
    var stream = z_stream()
    guard
        deflateInit2_(
            &stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size)) == Z_OK
    else { return [] }
    defer { deflateEnd(&stream) }
    var input = bytes
    let room = Int(deflateBound(&stream, UInt(bytes.count)))
    return [UInt8](unsafeUninitializedCapacity: room) { output, count in
        input.withUnsafeMutableBufferPointer { input in
            stream.next_in = input.baseAddress
            stream.avail_in = UInt32(input.count)
            stream.next_out = output.baseAddress
            stream.avail_out = UInt32(room)
            _ = deflate(&stream, Z_FINISH)
        }
        count = room - Int(stream.avail_out)
    }
}

/// A ZIP archive; `size` is what the directory says of each file's length instead of the truth.
func zip(_ files: [(name: String, bytes: [UInt8])], _ isCompressed: Bool = true, size: Int? = nil) -> [UInt8]
{
    func number(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    var archive: [UInt8] = []
    var directory: [UInt8] = []
    for file in files {
        // What is in a member of gzip: between its head of 10 bytes and its end of 8.
        let data = isCompressed ? Array(gzip(file.bytes).dropFirst(10).dropLast(8)) : file.bytes
        let common =
            number(20, 2) + number(0, 2) + number(isCompressed ? 8 : 0, 2) + number(0, 4)
            + number(Int(crc32_z(0, file.bytes, file.bytes.count)), 4) + number(data.count, 4)
            + number(size ?? file.bytes.count, 4) + number(file.name.utf8.count, 2) + number(0, 2)
        directory +=
            [0x50, 0x4b, 1, 2] + number(20, 2) + common + number(0, 10) + number(archive.count, 4)
            + file.name.utf8
        archive += [0x50, 0x4b, 3, 4] + common + file.name.utf8 + data
    }
    return archive + directory + [0x50, 0x4b, 5, 6] + number(0, 4) + number(files.count, 2)
        + number(files.count, 2)
        + number(directory.count, 4) + number(archive.count, 4) + number(0, 2)
}
