import Places
import PointsOfInterestAPI
import PointsOfInterestServerAPI
import Postgres
import SpatialIndex

extension RankedPage {
    /// The page of a request, from the rows of `PlaceStatements.places`.
    init(_ rows: PostgresRows, of request: NearbyPlacesRequest, after duration: Duration)
        throws(PostgresError)
    {
        guard let first = rows.first else { throw PostgresError(.decoding(.rowCount(0))) }
        let version: DatasetVersion? = try first.decode(at: PlaceRows.versionColumn)
        // If there is no place, the row of the version stands alone.
        let found = try first.decode(Int64?.self, at: PlaceRows.firstColumn) == nil ? 0 : rows.count
        let pageSize = request.ids.isEmpty ? request.limit ?? NearbyPlacesRequest.defaultLimit : found
        let places = PlaceRows(rows: rows, count: min(found, pageSize), hasMerged: !request.ids.isEmpty)
        self.init(
            places: places, end: found > pageSize ? try places.end(behind: request.start) : nil,
            datasetID: version?.datasetID, databaseDuration: duration)
    }
}

extension RankedPage {
    /// The place with an id, from the rows of `PlaceStatements.places` for it; none where it was merged into the one that is there.
    init(place id: Int64, _ rows: PostgresRows, of request: NearbyPlacesRequest, after duration: Duration)
        throws(PostgresError)
    {
        let page = try RankedPage(rows, of: request, after: duration)
        let found: Int64? = try rows.first?.decode(at: PlaceRows.firstColumn) ?? nil
        guard found != id else {
            self = page
            return
        }
        var former: FormerPlace?
        if let found {
            former = .merged(into: found)
        } else if try rows.first?.decode(Bool.self, at: PlaceRows.mergedColumn + 1) == true {
            former = .removed
        }
        self.init(
            places: NoPlaces(former: former), datasetID: page.datasetID,
            databaseDuration: page.databaseDuration)
    }
}

/// The places of a page, written from the rows that they were read in. Each row has the dataset's version, the distance, and the
/// columns of `PlaceColumn`, the words for the place's category, and where places were asked for by their ids two more.
private struct PlaceRows: PlaceSource {
    static let (versionColumn, distanceColumn, firstColumn) = (0, 1, 2)

    /// Behind these.
    static let labelsColumn = firstColumn + PlaceColumn.allCases.count
    /// Behind that, where places were asked for by their ids.
    static let mergedColumn = labelsColumn + 1

    let rows: PostgresRows
    let count: Int
    /// Whether the rows have ids of places that were merged into theirs.
    let hasMerged: Bool

    /// Where the page ends.
    func end(behind previous: PagePosition?) throws(PostgresError) -> PagePosition? {
        guard count > 0 else { return nil }
        // The count comes from a cursor, which may be forged.
        let total = (previous?.count ?? 0).addingReportingOverflow(count)
        let last = rows[count - 1]
        return PagePosition(
            distanceMeters: try last.decode(at: Self.distanceColumn),
            id: try last.decode(at: Self.firstColumn),
            count: total.overflow ? .max : total.partialValue)
    }

    /// Writes a place.
    func write(
        _ index: Int, as style: PlaceStyle, to writer: inout JSONWriter
    ) throws(PlaceStoreError) {
        let (place, distance): (PlaceFields, Double?)
        var additions = PlaceAdditions()
        do throws(PostgresError) {
            let row = rows[index]
            distance = try row.decode(at: Self.distanceColumn)
            if hasMerged { additions.mergedFrom = try row.decode(at: Self.mergedColumn) }
            if let languages = style.labelLanguages {
                let category: String = try row.decode(at: Self.firstColumn + PlaceColumn.category.rawValue)
                let label = try CategoryLabels(row, at: Self.labelsColumn).label(of: category, in: languages)
                additions.categoryLabel = label.map(PlaceAdditions.escaped)
            }
            place = try PlaceFields { (column) throws(PostgresError) in
                try row.cell(at: Self.firstColumn + column.rawValue).bytes.map { Array($0)[...] }
            }
        } catch {
            throw PlaceStoreError(error)
        }
        try style.write(place, distance: distance, additions, to: &writer)
    }
}

/// The columns that a place is read from, in their order.
enum PlaceColumn: Int, CaseIterable {
    case id, latitude, longitude, featured, name, category, address, website
    case sourceDataset, sourceID, sourceLicense, importance, properties, names, otherNames
    case operatingStatus, version, updatedAt

    /// All of them but the id, in SQL.
    static let sql: SQL =
        """
        latitude, longitude, featured, name, category, address, website, source_dataset, source_id, source_license, \
        importance, properties::text, names::text, array_to_string(other_names, chr(1)), operating_status, version, updated_at
        """
}

extension PlaceFields {
    /// Reads a row's columns in binary form; `value` returns nil for null.
    ///
    /// - Throws: `unexpectedResult` where they aren't what `PlaceColumn.sql` returns; what `value` throws.
    init(_ value: (PlaceColumn) throws(PostgresError) -> Text?) throws(PostgresError) {
        func required(_ column: PlaceColumn, count: Int? = nil) throws(PostgresError) -> Text {
            guard let value = try value(column), count.map({ $0 == value.count }) ?? true else {
                throw PostgresError(.unexpectedResult)
            }
            return value
        }
        func number(_ column: PlaceColumn, count: Int) throws(PostgresError) -> UInt64 {
            try required(column, count: count).bigEndianNumber
        }
        var source: Source?
        // The three columns are all null or none is, by the table's check.
        if let dataset = try value(.sourceDataset) {
            source = Source(
                dataset: dataset, id: try required(.sourceID), license: try required(.sourceLicense))
        }
        self.init(
            id: Int(Int64(bitPattern: try number(.id, count: 8))), name: try required(.name),
            category: try required(.category),
            latitude: Double(bitPattern: try number(.latitude, count: 8)),
            longitude: Double(bitPattern: try number(.longitude, count: 8)),
            featured: try number(.featured, count: 1) != 0,
            address: try value(.address), website: try value(.website), source: source,
            importance: Int(Int16(truncatingIfNeeded: try number(.importance, count: 2))),
            properties: try value(.properties), names: try value(.names), otherNames: try value(.otherNames),
            operatingStatus: try value(.operatingStatus).map {
                OperatingStatus(rawValue: String(decoding: $0, as: UTF8.self))
            },
            version: Int(Int64(bitPattern: try number(.version, count: 8))),
            updatedAtSeconds: PostgresTimestamp(
                microsecondsSince2000: Int64(bitPattern: try number(.updatedAt, count: 8))
            ).secondsSince1970)
    }
}

extension PostgresTimestamp {
    /// Whole seconds since 1970, rounded down; the first or last second that can be written, where it is before or behind that.
    fileprivate var secondsSince1970: Int {
        let (seconds, rest) = microsecondsSince2000.quotientAndRemainder(dividingBy: 1_000_000)
        let rounded = Int(seconds) - (rest < 0 ? 1 : 0) + 946_684_800
        let written = PlaceFields.writtenSeconds
        return min(max(rounded, written.lowerBound), written.upperBound)
    }
}

extension ArraySlice<UInt8> {
    /// At most eight bytes as a number, the most significant first.
    var bigEndianNumber: UInt64 { reduce(0) { $0 << 8 | UInt64($1) } }
}

extension DatasetID: PostgresDecodable {
    /// From `uuid`.
    package static func decode(_ cell: borrowing PostgresCell) throws(PostgresError) -> DatasetID {
        let uuid = try PostgresUUID.decode(cell)
        return DatasetID(high: uuid.high, low: uuid.low)
    }

    /// Reads a UUID as PostgreSQL writes it; nil for anything else.
    init?(text: String) {
        let digits = text.utf8.filter { $0 != UInt8(ascii: "-") }
        guard text.utf8.count == 36, digits.count == 32,
            let high = UInt64(String(decoding: digits.prefix(16), as: UTF8.self), radix: 16),
            let low = UInt64(String(decoding: digits.suffix(16), as: UTF8.self), radix: 16)
        else { return nil }
        self.init(high: high, low: low)
    }
}

extension DatasetVersion: PostgresDecodable {
    private static let byteCount = 40

    /// Decodes `bytea`: the id, the revision and the incarnation, as `Migrations/0205_create_dataset_log.sql` writes them.
    package static func decode(_ cell: borrowing PostgresCell) throws(PostgresError) -> DatasetVersion {
        guard cell.type == .bytea else { throw cell.wrongType }
        let bytes = try cell.nonNullBytes()
        guard bytes.count == byteCount else { throw cell.malformed }
        func word(at offset: Int) -> UInt64 {
            UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        return DatasetVersion(
            datasetID: DatasetID(high: word(at: 0), low: word(at: 8)),
            revision: Int64(bitPattern: word(at: 16)),
            incarnation: DatasetID(high: word(at: 24), low: word(at: 32)))
    }
}
