import POIService
import PointsOfInterestAPI
import Postgres

extension PostgresLocationStore {
    /// Asks for one place by its id.
    public func location(for request: LocationRequest) async throws(LocationStoreError) -> LocationsPage {
        do throws(PostgresError) {
            let inquiry = Inquiry(pool)
            let rows = try await inquiry.rows(
                LocationStatements.byID, [.int8Array([Int64(request.id)])], lane: .fast,
                datasetColumn: LocationRow.datasetColumn)
            var items: [RankedRows.Item] = []
            if let row = rows.first, try LocationRow(row).id() != nil {
                let candidate = try LocationRow(row).candidate()
                let distance = request.center.map { Geodesic.distanceMeters(from: $0, to: candidate) }
                items.append(RankedRows.Item(row: 0, distanceMeters: distance))
            }
            return LocationsPage(
                places: RankedRows(rows: rows, items: items), datasetID: inquiry.datasetID,
                databaseDuration: inquiry.duration)
        } catch {
            throw LocationStoreError(error)
        }
    }

    /// Counts the places of each category, once for each dataset that the process is told of.
    public func categories() async throws(LocationStoreError) -> CategoryCounts {
        if let known = dataset.categoryCounts { return known }
        do throws(PostgresError) {
            let inquiry = Inquiry(pool)
            let rows = try await inquiry.rows(
                LocationStatements.categories, [], lane: .exclusive, datasetColumn: 2)
            var categories: [CategoryCount] = []
            for row in rows {
                categories.append(CategoryCount(name: try row.decode(at: 0), count: try row.decode(at: 1)))
            }
            dataset.keep(CategoryCounts(categories: categories, datasetID: inquiry.datasetID))
            return CategoryCounts(
                categories: categories, datasetID: inquiry.datasetID, databaseDuration: inquiry.duration)
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
