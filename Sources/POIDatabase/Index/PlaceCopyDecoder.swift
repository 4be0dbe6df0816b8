import PointsOfInterestServerAPI
import Postgres
import SpatialIndex

/// Reads places from the bytes of a binary COPY (PostgreSQL manual, "COPY", "Binary Format") into a builder, without making a
/// value for each place or text.
struct PlaceCopyDecoder {
    /// The columns, in their order. If all but `id` are null, the place with that id is gone.
    enum Column: Int, CaseIterable {
        case id, latitude, longitude, featured, name, category, address, website
        case sourceDataset, sourceID, sourceLicense, importance, properties, names, otherNames
    }

    /// The columns of `Column`, but for the id.
    static let columns: SQL =
        """
        latitude, longitude, featured, name, category, address, website, source_dataset, source_id, source_license, \
        importance, properties::text, names::text, array_to_string(other_names, chr(1))
        """

    /// The ids that were named but have no place any more.
    private(set) var removedIDs: [Int64] = []
    private var isPastHeader = false
    /// The values of a row; reused.
    private var values = [UnsafeRawBufferPointer?](repeating: nil, count: Column.allCases.count)

    private static let headerSize = 19

    /// Adds the rows of a piece of COPY's data, which PostgreSQL sends in whole rows.
    ///
    /// - Throws: `unexpectedResult` for what isn't such a row.
    mutating func decode(
        _ data: UnsafeRawBufferPointer, into builder: inout IndexPartBuilder
    ) throws(PostgresError) {
        var reader = Reader(bytes: data)
        if !isPastHeader {
            // The signature and flags, and the length of an extension, which has to be skipped.
            guard reader.take(Self.headerSize - 4) != nil, let length = reader.int32(), length >= 0,
                reader.take(Int(length)) != nil
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
                guard let value = reader.take(Int(length)) else { throw PostgresError(.unexpectedResult) }
                values[index] = value
            }
            try addRow(to: &builder)
        }
    }

    private mutating func addRow(to builder: inout IndexPartBuilder) throws(PostgresError) {
        let id = Int64(bitPattern: try word(.id))
        guard self[.latitude] != nil else { return removedIDs.append(id) }
        let latitude = Double(bitPattern: try word(.latitude))
        let longitude = Double(bitPattern: try word(.longitude))
        guard let featured = self[.featured]?.first else { throw PostgresError(.unexpectedResult) }
        let (name, category) = (try text(.name), try text(.category))
        let place = PlaceFields(
            id: Int(id), name: name, category: category, latitude: latitude, longitude: longitude,
            featured: featured != 0, distance: nil, address: optionalText(.address),
            website: optionalText(.website), source: source, importance: try importance(),
            properties: optionalText(.properties), names: optionalText(.names),
            otherNames: optionalText(.otherNames))
        guard builder.add(place) else { throw PostgresError(.unexpectedResult) }
    }

    /// The three columns are all null or none is, by the table's check.
    private var source: PlaceFields.Source? {
        guard let dataset = optionalText(.sourceDataset), let id = optionalText(.sourceID),
            let license = optionalText(.sourceLicense)
        else { return nil }
        return PlaceFields.Source(dataset: dataset, id: id, license: license)
    }

    private func importance() throws(PostgresError) -> Int {
        guard let bytes = self[.importance], bytes.count == 2 else { throw PostgresError(.unexpectedResult) }
        return Int(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
    }

    private subscript(column: Column) -> UnsafeRawBufferPointer? { values[column.rawValue] }

    private func optionalText(_ column: Column) -> PlaceFields.Text? {
        self[column].map { $0.assumingMemoryBound(to: UInt8.self) }
    }

    private func text(_ column: Column) throws(PostgresError) -> PlaceFields.Text {
        guard let text = optionalText(column) else { throw PostgresError(.unexpectedResult) }
        return text
    }

    private func word(_ column: Column) throws(PostgresError) -> UInt64 {
        guard let bytes = self[column], bytes.count == 8 else { throw PostgresError(.unexpectedResult) }
        return UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
    }
}

/// Reads bytes from front to back; its functions return nil where the bytes end too early.
private struct Reader {
    let bytes: UnsafeRawBufferPointer
    private var offset = 0

    init(bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    mutating func take(_ count: Int) -> UnsafeRawBufferPointer? {
        guard count <= bytes.count - offset else { return nil }
        defer { offset += count }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
    }

    mutating func int16() -> Int16? {
        take(2).map { Int16(bigEndian: $0.loadUnaligned(as: Int16.self)) }
    }

    mutating func int32() -> Int32? {
        take(4).map { Int32(bigEndian: $0.loadUnaligned(as: Int32.self)) }
    }
}
