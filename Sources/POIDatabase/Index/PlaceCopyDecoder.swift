import PointsOfInterestServerAPI
import Postgres
import SpatialIndex

/// Reads places from the bytes of a binary COPY (PostgreSQL manual, "COPY", "Binary Format") into a builder, without making a
/// value for each place or text. Its rows have the columns of `PlaceColumn`; if all but the id are null, the place with that id
/// is gone.
struct PlaceCopyDecoder {
    /// The ids that were named but have no place any more.
    private(set) var removedIDs: [Int64] = []
    private var isPastHeader = false
    /// The values of a row; reused.
    private var values = [PlaceFields.Text?](repeating: nil, count: PlaceColumn.allCases.count)

    private static let headerSize = 19

    /// Adds the rows of a piece of COPY's data, which PostgreSQL sends in whole rows.
    ///
    /// - Throws: `unexpectedResult` for what isn't such a row.
    mutating func decode(
        _ data: [UInt8], into builder: inout IndexPartBuilder
    ) throws(PostgresError) {
        var reader = Reader(rest: data[...])
        if !isPastHeader {
            // The signature and flags, and the length of an extension, which has to be skipped.
            guard reader.take(Self.headerSize - 4) != nil, let length = reader.int32(), length >= 0,
                reader.take(length) != nil
            else { throw PostgresError(.unexpectedResult) }
            isPastHeader = true
        }
        while let count = reader.int16() {
            // The end of the data.
            if count == -1 { return }
            guard count == values.count else { throw PostgresError(.unexpectedResult) }
            for index in values.indices {
                guard let length = reader.int32() else { throw PostgresError(.unexpectedResult) }
                values[index] = nil
                guard length >= 0 else { continue }
                guard let value = reader.take(length) else { throw PostgresError(.unexpectedResult) }
                values[index] = value
            }
            try addRow(to: &builder)
        }
    }

    private mutating func addRow(to builder: inout IndexPartBuilder) throws(PostgresError) {
        if values[PlaceColumn.latitude.rawValue] == nil {
            guard let id = values[PlaceColumn.id.rawValue], id.count == 8 else {
                throw PostgresError(.unexpectedResult)
            }
            return removedIDs.append(Int64(bitPattern: id.bigEndianNumber))
        }
        let place = try PlaceFields { values[$0.rawValue] }
        guard builder.add(place) else { throw PostgresError(.unexpectedResult) }
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
