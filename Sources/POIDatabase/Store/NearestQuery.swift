import Geodesy
import PointsOfInterestAPI
import Postgres

/// A query for the places that match and are nearest to a centre by the chord.
///
/// See `Documentation/queries.md` for what each shape costs.
struct NearestQuery {
    /// Which columns the query returns of each place.
    enum Columns: Equatable {
        /// What `PlaceRows` reads, the row with the dataset's version included.
        case record(PlaceStatements.ExtraTexts)
        /// Id, and position with the chord.
        case position
        /// The same and all names, as `PlaceStatements.allNames` has them.
        case positionAndNames
    }

    /// Where distances are measured from.
    let center: Coordinate
    /// Which places match; PostgreSQL doesn't look at the search text.
    let filter: PlaceFilter
    /// The box that places are in, if the request has one.
    let box: BoundingBox?
    let columns: Columns
    /// Only places in these bounds, which an index finds; nil is everywhere.
    var bounds: SurfaceBounds?
    /// Only places in this one of `SurfaceBounds.halves`; nil is everywhere.
    var half: Int?
    /// Only places with a chord of at least this, in metres; 0 is no bound.
    var minimumChordMeters = 0.0
    /// The maximum number of places, the nearest first; nil for all of them in no order.
    var limit: Int?
    /// Whether PostgreSQL first reads the places that match by an index for the filter, and then sorts them. Otherwise a walk
    /// in the order of the chord would have to pass all other places.
    var isSorted = false

    init(_ request: NearbyPlacesRequest, _ ranking: Ranking, columns: Columns, limit: Int?) {
        center = ranking.center
        filter = request.filter
        box = request.box
        self.columns = columns
        self.limit = limit
    }

    /// Whether every place matches.
    var isUnfiltered: Bool {
        filter.categories.isEmpty && filter.datasets.isEmpty && filter.featured == nil && box == nil
    }

    /// The text of the statement. Its parameters are numbered in the order of `parameters`.
    var sql: SQL {
        let places =
            " FROM (SELECT id, " + PlaceStatements.position + " AS position, geocentric <<->> " + Self.center
            + " AS chord" + texts + " FROM " + source
            + (limit.map { " ORDER BY chord LIMIT " + SQL(integer: $0) } ?? "") + ") AS place"
        let columns: SQL = "SELECT id, circle(position, chord)"
        return switch self.columns {
        case .record:
            PlaceStatements.version + " UNION ALL " + columns + ", texts, NULL" + places
        case .position: columns + places
        case .positionAndNames: columns + ", names" + places
        }
    }

    /// A subquery, so that PostgreSQL computes the point once per statement and not once per row.
    private static let center: SQL = "(SELECT geocentric_point($1, $2))"

    private var texts: SQL {
        switch columns {
        case .record(let extras): ", " + PlaceStatements.texts(with: extras) + " AS texts"
        case .position: ""
        case .positionAndNames: ", " + PlaceStatements.allNames + " AS names"
        }
    }

    /// The table, or a subquery of the rows to be sorted: its OFFSET 0 keeps PostgreSQL from walking in the order of the
    /// chord.
    private var source: SQL {
        let rows = "locations" + conditions
        return isSorted ? "(SELECT * FROM " + rows + " OFFSET 0) AS locations" : rows
    }

    private var conditions: SQL {
        var conditions: [SQL] = []
        var next = 3
        func take(_ count: Int) -> [SQL] {
            defer { next += count }
            return (next..<next + count).map { SQL(unsafeSQL: "$\($0)") }
        }
        if bounds != nil {
            let corners = take(1)[0]
            conditions.append(Self.isIn((1...6).map { "(" + corners + ")[" + SQL(integer: $0) + "]" }))
        }
        if let half {
            let bounds = SurfaceBounds.halves[half]
            conditions.append(Self.isIn(bounds.corners.map { SQL(integer: Int($0)) }))
        }
        if minimumChordMeters > 0 {
            conditions.append("geocentric <<->> " + Self.center + " >= " + take(1)[0])
        }
        if !filter.categories.isEmpty { conditions.append("category = ANY (" + take(1)[0] + ")") }
        if !filter.datasets.isEmpty { conditions.append("source_dataset = ANY (" + take(1)[0] + ")") }
        if let featured = filter.featured { conditions.append(featured ? "featured" : "NOT featured") }
        if let box { conditions.append(.isPlace(in: box, corners: take(4))) }
        guard let first = conditions.first else { return "" }
        return conditions.dropFirst().reduce(" WHERE " + first) { $0 + " AND " + $1 }
    }

    /// Whether a place is in bounds with these corners.
    private static func isIn(_ corners: [SQL]) -> SQL {
        "geocentric &&& ST_MakeLine(ST_MakePoint(" + corners[0] + ", " + corners[1] + ", " + corners[2]
            + "), ST_MakePoint(" + corners[3] + ", " + corners[4] + ", " + corners[5] + "))"
    }

    /// The values of `$1`, `$2`, …
    var parameters: [PostgresValue] {
        var values: [PostgresValue] = []
        values.reserveCapacity(9)
        values.append(.float8(center.latitude.orZero))
        values.append(.float8(center.longitude.orZero))
        if let bounds { values.append(.float8Array(bounds.corners)) }
        if minimumChordMeters > 0 { values.append(.float8(minimumChordMeters)) }
        if !filter.categories.isEmpty { values.append(.textArray(filter.categories)) }
        if !filter.datasets.isEmpty { values.append(.textArray(filter.datasets)) }
        if let box { values += [box.west, box.south, box.east, box.north].map { .float8($0) } }
        return values
    }

    // MARK: Statements that stay prepared

    /// The numbers of candidates that a prepared statement may propose. Each is a literal in its statement: if the limit is a
    /// parameter, PostgreSQL assumes a tenth of the table, and doesn't use the index (280 ms instead of 0.2 ms).
    static let candidateLimits = [12, 24, 54, 104]

    /// The prepared statement of this query, if it has one. Only queries of a half without a filter do. With a filter or with
    /// other bounds, the plan depends on how many places match, so it is planned each time.
    ///
    /// PostgreSQL may keep a plan for any values of the parameters, but it does so only if that isn't estimated to cost more
    /// than the plans for the values at hand. Bounds as a parameter are estimated to hold a ten-thousandth of the table when
    /// they aren't known. From some 150,000 places on each request was planned anew, which took longer than to run it.
    var prepared: PreparedStatement? {
        guard let half, isUnfiltered, columns == .record([]),
            let index = Self.candidateLimits.firstIndex(where: { $0 == limit })
        else { return nil }
        return (minimumChordMeters > 0 ? Self.behindCursor : Self.fromStart)[half][index]
    }

    /// By half, then in the order of `candidateLimits`.
    private static let fromStart = unfiltered(minimumChordMeters: 0)
    private static let behindCursor = unfiltered(minimumChordMeters: 1)

    private static func unfiltered(minimumChordMeters: Double) -> [[PreparedStatement]] {
        SurfaceBounds.halves.indices.map { half in
            candidateLimits.map { unfiltered(half: half, limit: $0, minimumChordMeters: minimumChordMeters) }
        }
    }

    private static func unfiltered(half: Int, limit: Int, minimumChordMeters: Double) -> PreparedStatement {
        let center = Coordinate(validLatitude: 0, validLongitude: 0)
        var query = NearestQuery(
            NearbyPlacesRequest(center: center), Ranking(center: center, radiusMeters: nil, limit: 1),
            columns: .record([]), limit: limit)
        query.half = half
        query.minimumChordMeters = minimumChordMeters
        return PreparedStatement(query.sql, parameters: query.parameters.map(\.type))
    }
}

extension SQL {
    /// Whether a row of `locations` is in a box, as `BoundingBox.contains`: at a pole any longitude counts, and -180 and 180
    /// are one meridian.
    ///
    /// - Parameter corners: the parameters of its west, south, east and north.
    static func isPlace(in box: BoundingBox, corners: [SQL], of table: SQL = "locations") -> SQL {
        let (west, south, east, north) = (corners[0], corners[1], corners[2], corners[3])
        let both: SQL = box.crossesAntimeridian ? " OR " : " AND "
        let (latitude, longitude) = (table + ".latitude", table + ".longitude")
        func isBetween(_ longitude: SQL) -> SQL {
            "(" + longitude + " >= " + west + both + longitude + " <= " + east + ")"
        }
        return latitude + " BETWEEN " + south + " AND " + north + " AND (abs(" + latitude + ") = 90 OR "
            + isBetween(longitude) + " OR abs(" + longitude + ") = 180 AND " + isBetween("-" + longitude)
            + ")"
    }
}

extension Double {
    /// The number, or 0 if it is so small that PostgreSQL would report an underflow as an error. The candidates are the same,
    /// and their distances are measured from the centre itself.
    fileprivate var orZero: Double { magnitude < 1e-100 ? 0 : self }
}
