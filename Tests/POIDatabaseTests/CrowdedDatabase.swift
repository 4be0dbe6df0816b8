import Foundation
import PrivateCluster

/// A database with so many places that a statement without its index would be noticed.
///
/// `POI_TEST_PLACES` sets the number of places: `scripts/soak` takes a million.
enum CrowdedDatabase {
    static let placeCount =
        ProcessInfo.processInfo.environment["POI_TEST_PLACES"].flatMap { Int($0) } ?? 100_000

    /// Nobody writes to it.
    static let database = Result { try make() }

    /// Places in 130 km around San José, the same in every run, and in spatial order as an import writes them; ten of
    /// one category, ten of one dataset and half of them of another, 200 featured.
    private static func make() throws -> TestDatabase {
        let database = try MigratedDatabase.empty()
        try database.execute(
            """
            INSERT INTO locations (name, category, latitude, longitude, featured,
                source_dataset, source_id, source_license)
            SELECT CASE number % 5 WHEN 0 THEN 'Café ' WHEN 1 THEN 'Museum ' ELSE 'Place ' END
                    || 'Street' || number % 1000 || ' ' || number,
                CASE WHEN number % (\(placeCount) / 10) = 7 THEN 'lighthouse'
                    ELSE (ARRAY['cafe', 'restaurant', 'museum', 'park', 'shop'])[1 + number % 5] END,
                latitude, longitude, number % (\(placeCount) / 200) = 3,
                dataset, CASE WHEN dataset IS NOT NULL THEN number END,
                CASE WHEN dataset IS NOT NULL THEN 'CC0-1.0' END
            FROM (
                SELECT number, 37.3293 + (mod(number * 0.61803398875, 1)::float8 - 0.5) * 1.2 AS latitude,
                    -121.8893 + (mod(number * 0.75487766625, 1)::float8 - 0.5) * 1.6 AS longitude,
                    CASE WHEN number % (\(placeCount) / 10) = 9 THEN 'few' WHEN number % 2 = 0 THEN 'many' END
                        AS dataset
                FROM generate_series(1, \(placeCount)) AS number
            ) AS place
            ORDER BY location_point(latitude, longitude);
            """)
        // An index is read alone only for pages that a vacuum has marked, which a snapshot at the wrong moment prevents.
        let unmarked = """
            SELECT sum(relpages - relallvisible) FROM pg_class WHERE relname = 'locations'
            """
        repeat {
            try database.execute("VACUUM ANALYZE locations")
        } while try database.execute(unmarked) != "0"
        return database
    }
}
