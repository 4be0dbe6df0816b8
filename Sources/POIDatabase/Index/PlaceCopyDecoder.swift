import Places
import PointsOfInterestServerAPI
import Postgres
import SpatialIndex

/// Reads places from the bytes of a binary COPY into a builder, without making a value for each place or text. Its rows have the
/// columns of `PlaceColumn`; if all but the id are null, the place with that id is gone.
struct PlaceCopyDecoder {
    /// The ids that were named but have no place any more.
    private(set) var removedIDs: [Int64] = []
    private var rows = CopyRows(columnCount: PlaceColumn.allCases.count)

    /// Adds the rows of a piece of COPY's data, which PostgreSQL sends in whole rows.
    ///
    /// - Throws: `unexpectedResult` for what isn't such a row.
    mutating func decode(
        _ data: [UInt8], into builder: inout IndexPartBuilder
    ) throws(PostgresError) {
        try rows.begin(data)
        while try rows.next() {
            if rows[PlaceColumn.latitude.rawValue] == nil {
                removedIDs.append(try rows.int64(at: PlaceColumn.id.rawValue))
                continue
            }
            let place = try PlaceFields { rows[$0.rawValue] }
            guard builder.add(place) else { throw PostgresError(.unexpectedResult) }
        }
    }
}

/// Reads the ids of removed places from the bytes of a binary COPY, each with that of the place that it was merged into, or null.
struct FormerIDDecoder {
    private var (ids, survivors): ([Int64], [Int64: Int64]) = ([], [:])
    private var rows = CopyRows(columnCount: 2)

    /// What was read so far.
    var formerIDs: FormerIDs { FormerIDs(ids, survivors: survivors) }

    /// Adds the rows of a piece of COPY's data.
    ///
    /// - Throws: `unexpectedResult` for what isn't such a row.
    mutating func decode(_ data: [UInt8]) throws(PostgresError) {
        try rows.begin(data)
        while try rows.next() {
            let id = try rows.int64(at: 0)
            ids.append(id)
            if rows[1] != nil { survivors[id] = try rows.int64(at: 1) }
        }
    }
}

/// Goes from row to row of a binary COPY (PostgreSQL manual, "COPY", "Binary Format").
private struct CopyRows {
    /// The values of the row; reused.
    private var values: [ArraySlice<UInt8>?]
    private var reader = Reader(rest: [])
    private var isPastHeader = false

    private static let headerSize = 19

    init(columnCount: Int) { values = Array(repeating: nil, count: columnCount) }

    /// The bytes of one of the row's values; nil for null.
    subscript(_ column: Int) -> ArraySlice<UInt8>? { values[column] }

    func int64(at column: Int) throws(PostgresError) -> Int64 {
        guard let bytes = values[column], bytes.count == 8 else { throw PostgresError(.unexpectedResult) }
        return Int64(bitPattern: bytes.bigEndianNumber)
    }

    /// Begins a piece of the data, which has whole rows.
    mutating func begin(_ data: [UInt8]) throws(PostgresError) {
        reader = Reader(rest: data[...])
        guard !isPastHeader else { return }
        // The signature and flags, and the length of an extension, which has to be skipped.
        guard reader.take(Self.headerSize - 4) != nil, let length = reader.int32(), length >= 0,
            reader.take(length) != nil
        else { throw PostgresError(.unexpectedResult) }
        isPastHeader = true
    }

    /// Goes to the next row; false where the piece, or all of the data, ends.
    mutating func next() throws(PostgresError) -> Bool {
        guard let count = reader.int16(), count != -1 else { return false }
        guard count == values.count else { throw PostgresError(.unexpectedResult) }
        for index in values.indices {
            guard let length = reader.int32() else { throw PostgresError(.unexpectedResult) }
            values[index] = nil
            guard length >= 0 else { continue }
            guard let value = reader.take(length) else { throw PostgresError(.unexpectedResult) }
            values[index] = value
        }
        return true
    }
}

/// Reads bytes from front to back; its functions return nil where the bytes end too early.
private struct Reader {
    var rest: ArraySlice<UInt8>

    mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    mutating func int16() -> Int? {
        take(2).map { Int(Int16(truncatingIfNeeded: $0.bigEndianNumber)) }
    }

    mutating func int32() -> Int? {
        take(4).map { Int(Int32(truncatingIfNeeded: $0.bigEndianNumber)) }
    }
}
