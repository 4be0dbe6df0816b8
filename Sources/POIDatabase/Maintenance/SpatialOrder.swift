import Postgres

/// How near to spatial order the table of places is: the share of places that lie on the same page as the place before
/// them in the order of `space_key`. About 0.97 in spatial order, 0 where places were written in random order.
enum SpatialOrder {
    /// From this share on nothing is gained by writing the whole table again.
    static let sufficientShare = 0.9
    /// The same for a batch, whose share is more a matter of chance.
    static let sufficientBatchShare = 0.8

    /// A sample of it: 16 places each behind every fourth bound of the column's histogram. Null where the table was never
    /// analysed, or has less than 64 pages, which are in memory anyway. 150 buffers in spatial order, 500 at most.
    static let sample = PreparedStatement(
        """
        SELECT avg(CASE WHEN is_same THEN 1 ELSE 0 END) FILTER (WHERE is_same IS NOT NULL)::double precision \
        FROM ( \
        SELECT bound FROM pg_stats, unnest(histogram_bounds::text::bigint[]) WITH ORDINALITY AS histogram (bound, n) \
        WHERE schemaname = (SELECT nspname FROM pg_namespace JOIN pg_class ON relnamespace = pg_namespace.oid \
        WHERE pg_class.oid = 'locations'::regclass AND relpages >= 64) \
        AND tablename = 'locations' AND attname = 'space_key' \
        AND n % 4 = 1 LIMIT 26 \
        ) AS samples \
        CROSS JOIN LATERAL ( \
        SELECT page = lag(page) OVER (ORDER BY space_key) AS is_same \
        FROM (SELECT space_key, (ctid::text::point)[0] AS page FROM locations WHERE space_key >= bound \
        ORDER BY space_key LIMIT 16) AS neighbors \
        ) AS pairs
        """)

    /// The share among places that are given by their pages, in the order of `space_key`.
    static func share(ofPages pages: [Int64]) -> Double {
        guard pages.count > 1 else { return 1 }
        let same = zip(pages, pages.dropFirst()).count { $0 == $1 }
        return Double(same) / Double(pages.count - 1)
    }
}
