import POIService
import PointsOfInterestAPI
import Postgres

extension PostgresLocationStore {
    /// Asks for one place by its id.
    public func location(for request: LocationRequest) async throws(LocationStoreError) -> LocationsPage {
        let (start, deadline) = (ContinuousClock.now, deadline)
        do throws(PostgresError) {
            let rows = try await read(LocationStatements.byID, [.int8Array([Int64(request.id)])], deadline)
            let first = try LocationRow(rows.only())
            var items: [RankedRows.Item] = []
            if try first.id() != nil {
                let candidate = try first.candidate()
                let distance = request.center.map { Geodesic.distanceMeters(from: $0, to: candidate) }
                items.append(RankedRows.Item(row: 0, distanceMeters: distance))
            }
            return LocationsPage(
                places: RankedRows(rows: rows, items: items), datasetID: try first.datasetID(),
                databaseDuration: ContinuousClock.now - start)
        } catch {
            throw LocationStoreError(error, isOverdue: pool.loop.now >= deadline)
        }
    }

    /// Counts the places of each category, once for each dataset that the process is told of.
    public func categories() async throws(LocationStoreError) -> CategoryCounts {
        if let known = dataset.categoryCounts { return known }
        let start = ContinuousClock.now
        do throws(PostgresError) {
            let rows = try await pool.query(
                LocationStatements.categories, lane: .exclusive, isIdempotent: true)
            var categories: [CategoryCount] = []
            for row in rows {
                categories.append(CategoryCount(name: try row.decode(at: 0), count: try row.decode(at: 1)))
            }
            let datasetID = try rows.first.flatMap { row throws(PostgresError) in
                try row.decode(DatasetID?.self, at: 2)
            }
            dataset.keep(CategoryCounts(categories: categories, datasetID: datasetID))
            return CategoryCounts(
                categories: categories, datasetID: datasetID, databaseDuration: ContinuousClock.now - start)
        } catch {
            throw LocationStoreError(error)
        }
    }

    /// Asks for the categories now.
    public func currentVocabulary() async throws(LocationStoreError) -> CategoryVocabulary {
        do throws(PostgresError) {
            let rows = try await pool.query(LocationStatements.vocabulary, lane: .fast, isIdempotent: true)
            return CategoryVocabulary(try rows.only().decode([String].self, at: 0))
        } catch {
            throw LocationStoreError(error)
        }
    }
}
