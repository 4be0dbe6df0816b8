import EventLoop
import POIService
import PointsOfInterestAPI
import Postgres

extension PostgresPlaceStore {
    /// Waits for the connections, and runs one query on each of them; `checkHealth` learns where places are.
    ///
    /// For its first query a backend of PostgreSQL reads catalogues, loads PostGIS and makes plans. A server that says
    /// that it is ready gets its share of the load at once, and has no time for that then.
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

    /// Searches once; health checks report a failure.
    private func searchOnce(text: String? = nil) async {
        guard var request = Self.plainRequest else { return }
        request.searchText = text
        _ = try? await places(for: request)
    }

    /// Runs the walk to the nearest places once, whatever it finds.
    private func walkOnce() async {
        guard let request = Self.plainRequest, let ranking = Ranking(pageOf: request),
            let nearest = PlaceStatements.nearest(limit: ranking.limit - 1)
        else { return }
        let search = PlaceSearch(request, ranking, statements: wordStatements)
        _ = try? await read(nearest.statement, search.centerParameters, deadline)
    }

    /// What most clients send: a request for the nearest places. Where doesn't matter.
    private static let plainRequest = (try? Coordinate(latitude: 0, longitude: 0)).map {
        NearbyPlacesRequest(center: $0)
    }

    /// Learns where places are, once a process: as soon as its database responds, and before it is ready.
    func learnRegionsOnce() async {
        if dataset.claimRegions() { await learnRegions() }
    }

    /// Looks for the places nearest to points all over the Earth. Where these are so far away that nothing is known about
    /// their own surroundings, looks again from the nearest of them.
    private func learnRegions() async {
        let end = ContinuousClock.now + learningLimit
        for viewpoint in Self.viewpoints where ContinuousClock.now < end {
            let places = await nearestPlaces(to: viewpoint)
            guard let first = places.first,
                let maximum = walkLimits.last(where: { $0 <= places.count })
            else { return }
            learn(places, from: viewpoint)
            guard let place = try? Coordinate(latitude: first.latitude, longitude: first.longitude),
                !dataset.regions.hasPlaces(maximum, near: place)
            else { continue }
            learn(await nearestPlaces(to: place), from: place)
        }
    }

    private func learn(_ places: [Candidate], from center: Coordinate) {
        learn(places.map { Geodesic.distanceMeters(from: center, to: $0) }, from: center)
    }

    /// The maximum number of places that a walk proposes, the nearest first; none where the database fails.
    private func nearestPlaces(to center: Coordinate) async -> [Candidate] {
        let ranking = Ranking(center: center, radiusMeters: nil, limit: walkLimits.max() ?? 0)
        let search = PlaceSearch(NearbyPlacesRequest(center: center), ranking, statements: wordStatements)
        let found = try? await pool.withSnapshot(lane: .exclusive) { snapshot throws(PostgresError) in
            try await search.throughCubes(ranking, snapshot)
        }
        return found ?? []
    }

    /// The corners of an icosahedron and the middles of its faces: no point of the Earth is farther than 2,530 km
    /// from one of these 32.
    static let viewpoints: [Coordinate] = {
        let golden = (1 + 5.0.squareRoot()) / 2
        var directions: [SIMD3<Double>] = []
        for one in [1.0, -1] {
            for other in [1.0, -1] {
                for (short, long) in [(one, other * golden), (one * golden, other / golden)] {
                    directions += [SIMD3(0, short, long), SIMD3(short, long, 0), SIMD3(long, 0, short)]
                }
                directions += [SIMD3(one, other, 1), SIMD3(one, other, -1)]
            }
        }
        return directions.compactMap { Ellipsoid.surface(below: $0)?.coordinate }
    }()
}
