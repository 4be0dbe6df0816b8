import Foundation
import PointsOfInterestAPI
import PointsOfInterestServerAPI
import Postgres

enum PlaceStatements {
    /// The places of a request, as `PlaceRows` reads them: those with its ids, or the nearest ones and one more than the page has.
    ///
    /// The dataset's version comes from the same snapshot. It has a row of its own if there is no place. With languages, each place
    /// has the words for its category. With ids, each place has those of the request that were merged into it, and every row says
    /// whether any of the ids is that of a removed place.
    static func places(_ request: NearbyPlacesRequest) -> PostgresQuery {
        var parameters: [PostgresValue] = []
        func parameter(_ value: PostgresValue) -> SQL {
            parameters.append(value)
            return SQL(unsafeSQL: "$\(parameters.count)")
        }
        var conditions: [SQL] = []
        var (distance, limit): (SQL, SQL) = ("NULL::double precision", "")
        var (merged, isFormer): (SQL, SQL) = ("", "")
        if let center = request.center {
            let latitude = parameter(.float8(center.latitude))
            let point = "location_point(" + latitude + ", " + parameter(.float8(center.longitude)) + ")"
            distance = "ST_Distance(position, " + point + ")"
            if let radiusMeters = request.radiusMeters {
                let radius = parameter(.float8(radiusMeters))
                // The first finds them by the index, and takes those a hair beyond, too.
                conditions.append("ST_DWithin(position, " + point + ", " + radius + ")")
                conditions.append(distance + " <= " + radius)
            }
            if let start = request.start {
                let last = parameter(.float8(start.distanceMeters))
                conditions.append(
                    "(" + distance + ", id) > (" + last + ", " + parameter(.int8(start.id)) + ")")
            }
        }
        if request.ids.isEmpty {
            limit = " LIMIT " + SQL(integer: (request.limit ?? NearbyPlacesRequest.defaultLimit) + 1)
            conditions.append(isListed)
        } else {
            let isAsked = " = ANY (" + parameter(.int8Array(request.ids.map(Int64.init))) + ")"
            let former: SQL = "FROM removed_locations AS former WHERE former.id" + isAsked
            // A place that is there is no former one.
            let isGone: SQL = " AND NOT EXISTS (SELECT FROM locations AS place WHERE place.id = former.id)"
            conditions.append(
                "(id" + isAsked + " OR id = ANY (ARRAY(SELECT merged_into " + former + isGone + ")))")
            merged =
                ", ARRAY(SELECT former.id " + former + isGone
                + " AND former.merged_into = locations.id ORDER BY former.id)"
            isFormer = ", EXISTS (SELECT " + former + isGone + ")"
        }
        let filter = request.filter
        if !filter.categories.isEmpty {
            conditions.append("category = ANY (" + parameter(.textArray(filter.categories)) + ")")
        }
        if !filter.datasets.isEmpty {
            conditions.append("source_dataset = ANY (" + parameter(.textArray(filter.datasets)) + ")")
        }
        if let featured = filter.featured { conditions.append(featured ? "featured" : "NOT featured") }
        let labels: SQL = request.languages.isEmpty ? ", NULL" : Self.labels
        let condition = conditions.reduce("true" as SQL) { $0 + " AND " + $1 }
        let sql =
            "SELECT (SELECT version FROM dataset), place.*" + isFormer
            + " FROM (SELECT) AS always LEFT JOIN (SELECT " + distance
            + " AS distance, id, " + PlaceColumn.sql + labels + merged + " FROM locations WHERE " + condition
            + " ORDER BY distance, id" + limit + ") AS place ON true ORDER BY distance, id"
        return PostgresQuery(sql, parameters)
    }

    /// Whether lists have a place, and not only who asks for its id.
    private static let isListed: SQL = "operating_status IS DISTINCT FROM 'permanentlyClosed'"

    /// The words for a place's category, as `CategoryLabels` reads them.
    private static let labels: SQL = """
        , (SELECT jsonb_build_object(categories.name, labels)::text FROM categories WHERE categories.name = category)
        """

    static let version: PostgresQuery = "SELECT version FROM dataset"

    /// The dataset's version, and the number of places that lists have of each category that there ever was, with the words for it.
    static let categories = PostgresQuery(
        """
        SELECT (SELECT version FROM dataset), categories.name, count(locations.id), \
        jsonb_build_object(categories.name, categories.labels)::text \
        FROM categories LEFT JOIN locations ON locations.category = categories.name AND \

        """ + isListed + " GROUP BY categories.name")

    /// The dataset's version, and the number of places of each source dataset, with its license and credit. A dataset that has no
    /// row of its own gets the licenses of its places. If no place has a source, the only row is null but for the version.
    static let attributions = PostgresQuery(
        """
        SELECT (SELECT version FROM dataset), counted.dataset, coalesce(datasets.license, counted.license), datasets.credit, \
        datasets.url, counted.places FROM (SELECT) AS always LEFT JOIN (
        """ + countedDatasets + """
            ) AS counted ON true LEFT JOIN datasets ON datasets.name = counted.dataset
            """)

    /// The number of places of each source dataset, and their licenses, joined by AND.
    static let countedDatasets: SQL = """
        SELECT dataset, string_agg(license, ' AND ' ORDER BY license COLLATE "C") AS license,
            sum(places)::bigint AS places
        FROM (
            SELECT source_dataset AS dataset, source_license AS license, count(*) AS places
            FROM locations WHERE source_dataset IS NOT NULL GROUP BY source_dataset, source_license
        ) AS licensed GROUP BY dataset
        """

    /// The names of all categories, those of all datasets that have a row or places, and the names and types of the properties
    /// that places can be filtered by, as `FilterVocabulary` reads them.
    ///
    /// The datasets of places are read one after the other from an index whose first column is the dataset. So each is read
    /// once, however many places it has (PostgreSQL wiki, "Loose indexscan").
    static let vocabulary: PostgresQuery = """
        WITH RECURSIVE used AS (
            SELECT min(source_dataset) AS dataset FROM locations WHERE source_dataset IS NOT NULL
            UNION ALL
            SELECT (SELECT min(source_dataset) FROM locations WHERE source_dataset > used.dataset)
            FROM used WHERE used.dataset IS NOT NULL
        )
        SELECT ARRAY(SELECT name FROM categories), ARRAY(
            SELECT dataset FROM used WHERE dataset IS NOT NULL UNION SELECT name FROM datasets
        ), ARRAY(SELECT name FROM filterable_properties ORDER BY name), \
        ARRAY(SELECT type FROM filterable_properties ORDER BY name)
        """

    static let filterableProperties: PostgresQuery = """
        SELECT ARRAY(SELECT name FROM filterable_properties ORDER BY name), \
        ARRAY(SELECT type FROM filterable_properties ORDER BY name)
        """
}

extension CategoryLabels {
    /// Reads a column with JSON: words by the names of categories and by languages, which the table's checks have made sure of.
    init(_ row: PostgresRow, at column: Int) throws(PostgresError) {
        let json = Data(try row.decode(String.self, at: column).utf8)
        guard let labels = try? JSONDecoder().decode(Self.self, from: json) else {
            throw PostgresError(.unexpectedResult)
        }
        self = labels
    }
}

extension FilterVocabulary {
    /// Reads a row of `PlaceStatements.vocabulary`.
    init(_ row: PostgresRow) throws(PostgresError) {
        self.init(
            categories: try row.decode([String].self, at: 0), datasets: try row.decode([String].self, at: 1),
            properties: try FilterableProperties(row, at: 2))
    }
}

extension FilterableProperties {
    /// Reads the names in a column, and their types in the next one.
    init(_ row: PostgresRow, at column: Int) throws(PostgresError) {
        let names = try row.decode([String].self, at: column)
        let types = try row.decode([String].self, at: column + 1)
        self.init(zip(names, types).compactMap { name, type in Kind(rawValue: type).map { (name, $0) } })
    }
}
