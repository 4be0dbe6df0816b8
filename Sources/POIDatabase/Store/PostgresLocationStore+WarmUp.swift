import EventLoop
import POIService
import PointsOfInterestAPI
import Postgres

extension PostgresLocationStore {
    /// Waits for the connections, and for one question on each of them.
    ///
    /// For its first question a backend of PostgreSQL reads catalogues, loads PostGIS and makes plans. A server that
    /// says that it is ready has its share of the load at once, and then there is no time for that.
    public func warmUp() async {
        await pool.waitUntilTried()
        let store = LoopBound(self, loop: pool.loop)
        let statistics = pool.statistics
        await withTaskGroup { group in
            // As many at once as there are connections, so that none gets two and none gets none.
            for _ in 0..<statistics.exclusive.connections {
                group.addTask(executorPreference: store.loop) { await store.value.searchOnce() }
            }
            for _ in 0..<statistics.text.connections {
                group.addTask(executorPreference: store.loop) { await store.value.searchOnce(text: "a") }
            }
            for _ in 0..<statistics.fast.connections {
                group.addTask(executorPreference: store.loop) { await store.value.walkOnce() }
            }
        }
    }

    /// A search, whose failure is for the health checks to tell.
    private func searchOnce(text: String? = nil) async {
        guard var request = Self.question else { return }
        request.searchText = text
        _ = try? await locations(for: request)
    }

    /// The walk to the nearest places, whatever it finds there.
    private func walkOnce() async {
        guard let request = Self.question, let ranking = Ranking(pageOf: request),
            let nearest = LocationStatements.nearest(limit: ranking.limit - 1)
        else { return }
        let search = PlaceSearch(request, ranking, statements: wordStatements)
        _ = try? await walk(search, nearest, deadline)
    }

    /// What most clients ask: the nearest places. Where doesn't matter.
    private static let question = (try? Coordinate(latitude: 0, longitude: 0)).map {
        LocationsRequest(center: $0)
    }
}
