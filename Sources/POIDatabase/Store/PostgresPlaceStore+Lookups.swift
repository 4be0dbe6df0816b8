import EventLoop
import POIService
import PointsOfInterestAPI
import Postgres

extension PostgresPlaceStore {
    /// Asks for one place by its id.
    public func place(for request: PlaceRequest) async throws(PlaceStoreError) -> RankedPage {
        let (start, deadline) = (ContinuousClock.now, deadline)
        do throws(PostgresError) {
            let rows = try await read(PlaceStatements.byID, [.int8Array([Int64(request.id)])], deadline)
            let first = try PlaceRow(rows.only())
            var items: [RankedRows.Item] = []
            if try first.id() != nil {
                let candidate = try first.candidate()
                let distance = request.center.map { Geodesic.distanceMeters(from: $0, to: candidate) }
                items.append(RankedRows.Item(row: 0, distanceMeters: distance))
            }
            return RankedPage(
                places: RankedRows(rows: rows, items: items), datasetID: try first.datasetID(),
                databaseDuration: ContinuousClock.now - start)
        } catch {
            throw PlaceStoreError(error, isOverdue: pool.loop.now >= deadline)
        }
    }

    /// Answers counts of the places of each category: those of the last count, from memory, or of the next one. See
    /// `CategoryCountSchedule`.
    public func categories() async throws(PlaceStoreError) -> CategoryCounts {
        let start = ContinuousClock.now
        while !isClosing {
            do throws(PlaceStoreError) {
                let (counts, areAwaited) = try await dataset.categoryCounts.counts(of: currentDatasetID) {
                    beginCounting()
                }
                guard areAwaited else { return counts }
                return CategoryCounts(
                    categories: counts.categories, datasetID: counts.datasetID,
                    databaseDuration: ContinuousClock.now - start)
            } catch {
                // Where it wasn't this request, the store that counted was closed: another one counts.
                guard error == .cancelled, !Task.isCancelled else { throw error }
            }
        }
        throw .unavailable(reason: "the store is closed")
    }

    /// Counts, in a task of its own: requests of other loops may wait for it, and the one that began it may go away.
    private func beginCounting() {
        let store = LoopBound(self, loop: pool.loop)
        countingTask = Task(executorPreference: pool.loop) {
            let outcome = await store.value.countCategories()
            store.value.countingTask = nil
            store.value.dataset.categoryCounts.finish(outcome)
        }
    }

    private func countCategories() async -> SharedCategoryCounts.Outcome {
        do throws(PostgresError) {
            let rows = try await pool.query(
                PlaceStatements.categories, lane: .exclusive, deadline: deadline, isIdempotent: true)
            var categories: [CategoryCount] = []
            for row in rows {
                categories.append(CategoryCount(name: try row.decode(at: 0), count: try row.decode(at: 1)))
            }
            let datasetID = try rows.first.flatMap { row throws(PostgresError) in
                try row.decode(DatasetID?.self, at: 2)
            }
            return .success(CategoryCounts(categories: categories, datasetID: datasetID))
        } catch {
            return .failure(PlaceStoreError(error))
        }
    }

    /// Asks for the categories now.
    public func currentVocabulary() async throws(PlaceStoreError) -> CategoryVocabulary {
        do throws(PostgresError) {
            let rows = try await pool.query(PlaceStatements.vocabulary, lane: .fast, isIdempotent: true)
            return CategoryVocabulary(try rows.only().decode([String].self, at: 0))
        } catch {
            throw PlaceStoreError(error)
        }
    }
}
