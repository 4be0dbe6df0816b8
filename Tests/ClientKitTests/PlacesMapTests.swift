import Foundation
import Locking
import PointsOfInterestTesting
import Testing

@Suite("The places of a map", .timeLimit(.minutes(1)))
@MainActor
struct PlacesMapTests {
    private func box(_ west: Double) throws -> BoundingBox {
        try #require(BoundingBox(west: west, south: 0, east: west + 1, north: 1))
    }

    @Test("A map shows the places of its box, with the filters")
    func areTheBoxes() async throws {
        let finder = MockPlaceFinder(.fixtures(2))
        var map: PlacesMap? = PlacesMap(
            placeFinder: finder,
            request: NearbyPlacesRequest(
                center: nil, radiusMeters: 5, categories: ["cafe"], searchText: "a"))
        let updates = map?.updates()
        let box = try box(3)
        await map?.load(box)
        #expect(
            finder.requests == [
                NearbyPlacesRequest(box: box, limit: 100, categories: ["cafe"], searchText: "a")
            ])
        map = nil
        var states: [PlacesMap.State] = []
        if let updates { for await state in updates { states.append(state) } }
        #expect(states.map(\.box) == [nil, box, box])
        #expect(states.map(\.phase) == [.idle, .loading, .loaded])
        #expect(states.map(\.places) == [[], [], .fixtures(2)])
        #expect(states.map(\.isComplete) == [false, false, true])
    }

    @Test("A place or a cluster that a response repeats is shown once")
    func areShownOnce() async throws {
        let places = [PointOfInterest].fixtures(2)
        let cluster = PlaceCluster(count: 5, latitude: 0.5, longitude: 3.5, box: try box(3))
        let alone = try #require(PlaceCluster(.fixture(id: 7)))
        let finder = MockPlaceFinder(
            pages: [places + places], clusters: [cluster, alone, cluster, alone])
        let map = PlacesMap(placeFinder: finder)
        await map.load(try box(3))
        #expect(map.places == places)
        await map.load(try box(3), zoom: 3)
        #expect(map.places == [.fixture(id: 7)])
        #expect(map.clusters == [cluster])
    }

    @Test("A map says that it is incomplete beyond the limit; changed filters apply to the next box")
    func maybeNotAll() async throws {
        let finder = MockPlaceFinder(pages: [.fixtures(2), [.fixture(id: 3)]])
        let map = PlacesMap(placeFinder: finder)
        map.request.limit = 2
        map.request.featured = true
        await map.load(try box(3))
        #expect(map.places == .fixtures(2))
        #expect(!map.isComplete)
        #expect(finder.requests == [NearbyPlacesRequest(box: try box(3), limit: 2, featured: true)])
    }

    @Test("A map with a zoom shows clusters, with the filters, and places that are alone")
    func areCounted() async throws {
        let box = try box(3)
        let alone = try #require(PlaceCluster(.fixture(id: 7)))
        let clusters = [PlaceCluster(count: 5, latitude: 0.5, longitude: 3.5, box: box), alone]
        let finder = MockPlaceFinder(pages: [.fixtures(2)], clusters: clusters)
        let map = PlacesMap(
            placeFinder: finder,
            request: NearbyPlacesRequest(
                center: try Coordinate(latitude: 1, longitude: 2), radiusMeters: 5, limit: 9,
                categories: ["cafe"], searchText: "a", featured: true))
        await map.load(box, zoom: 8)
        #expect(
            finder.calls.filter { if case .clusters = $0 { true } else { false } } == [
                .clusters(
                    ClustersRequest(box: box, zoom: 8, categories: ["cafe"], searchText: "a", featured: true))
            ])
        #expect(map.clusters == [clusters[0]], "a place that is alone is in no cluster")
        #expect(map.places == [.fixture(id: 7)])
        #expect(map.isComplete)
        await map.load(box)
        #expect(map.clusters.isEmpty)
        #expect(map.places == .fixtures(2))
    }

    @Test("A map shows places as clusters of one, up to the limit, if the service can't count them")
    func areNotCounted() async throws {
        let finder = MockPlaceFinder(pages: [.fixtures(2), [.fixture(id: 3)]]) { call in
            if case .clusters = call { throw RequestError.problem(Problem(.indexRequired)) }
        }
        let map = PlacesMap(placeFinder: finder)
        await map.load(try box(3), zoom: 8)
        #expect(finder.requests.map(\.box) == [try box(3)])
        #expect(map.places == .fixtures(2))
        #expect(map.clusters.isEmpty)
        #expect(!map.isComplete)
        #expect(map.phase == .loaded)
    }

    @Test("A map cancels an earlier request and waits for its end, and shows the last box")
    func lastBoxWins() async throws {
        let gate = Gate()
        let boxes = [try box(1), try box(2), try box(3)]
        let inFlight = Lock((now: 0, maximum: 0))
        let wasCancelled = Lock(false)
        let finder = MockPlaceFinder { request in
            inFlight.withLock { $0 = ($0.now + 1, max($0.maximum, $0.now + 1)) }
            defer { inFlight.withLock { $0.now -= 1 } }
            guard request.box == boxes[0] else { return [.fixture(id: 3)] }
            // Ends late, though it is cancelled.
            await Task { await gate.pass() }.value
            wasCancelled.withLock { $0 = Task.isCancelled }
            return [.fixture(id: 1)]
        }
        let map = PlacesMap(placeFinder: finder)
        let updates = map.updates()
        let first = Task { await map.load(boxes[0]) }
        await gate.arrival()
        let second = Task { await map.load(boxes[1]) }
        for await state in updates where state.box == boxes[1] { break }
        let third = Task { await map.load(boxes[2]) }
        for await state in map.updates() where state.box == boxes[2] { break }
        #expect(finder.requests.map(\.box) == [boxes[0]])
        gate.open()
        await first.value
        await second.value
        await third.value
        #expect(finder.requests.map(\.box) == [boxes[0], boxes[2]])
        #expect(inFlight.withLock { $0.maximum } == 1)
        #expect(wasCancelled.withLock { $0 })
        #expect(map.places == [.fixture(id: 3)])
        #expect(map.box == boxes[2])
        #expect(map.phase == .loaded)
    }

    @Test("A map keeps its places if a load fails, or counting, and says why until one succeeds")
    func stay() async throws {
        let error = Lock<RequestError?>(nil)
        let finder = MockPlaceFinder { _ in
            if let error = error.withLock({ $0 }) { throw error }
            return .fixtures(2)
        }
        let map = PlacesMap(placeFinder: finder)
        await map.load(try box(1))
        error.withLock { $0 = .unexpectedStatus(502) }
        for zoom in [nil, 3] {
            await map.load(try box(2), zoom: zoom)
            #expect(map.phase == .failed(.request(.unexpectedStatus(502))))
            #expect(map.places == .fixtures(2))
        }
        error.withLock { $0 = nil }
        await map.load(try box(3))
        #expect(map.phase == .loaded)
    }

    @Test("A map keeps its places if the call is cancelled, which cancels its request")
    func stayWhenCancelled() async throws {
        let gate = Gate()
        let second = try box(2)
        let finder = MockPlaceFinder { request in
            guard request.box == second else { return .fixtures(2) }
            await gate.pass()
            try Task.checkCancellation()
            return []
        }
        let map = PlacesMap(placeFinder: finder)
        await map.load(try box(1))
        let cancelled = Task { await map.load(second) }
        await gate.arrival()
        cancelled.cancel()
        await cancelled.value
        #expect(map.places == .fixtures(2))
        #expect(map.phase == .loaded)
        await map.load(try box(3))
        #expect(finder.requests.count == 3)
    }

    @Test("A call that is cancelled while an earlier request ends asks for nothing")
    func asksForNothingWhenCancelled() async throws {
        let gate = Gate()
        let boxes = [try box(1), try box(2)]
        let finder = MockPlaceFinder { _ in
            await Task { await gate.pass() }.value
            return .fixtures(2)
        }
        let map = PlacesMap(placeFinder: finder)
        let updates = map.updates()
        let first = Task { await map.load(boxes[0]) }
        await gate.arrival()
        let second = Task { await map.load(boxes[1]) }
        for await state in updates where state.box == boxes[1] { break }
        second.cancel()
        gate.open()
        await first.value
        await second.value
        #expect(finder.requests.map(\.box) == [boxes[0]])
        #expect(map.phase == .idle)
        #expect(map.places.isEmpty)
    }

    @Test("A map shows what is kept of its region at once, unless it shows all of that already")
    func showsWhatIsKept() async throws {
        let yesterday = Date(timeIntervalSinceReferenceDate: 700_000_000)
        let cluster = PlaceCluster(count: 5, latitude: 0.5, longitude: 3.5, box: try box(3))
        let alone = try #require(PlaceCluster(.fixture(id: 7)))
        let error = Lock<RequestError?>(.unexpectedStatus(502))
        let finder = MockPlaceFinder(
            pages: [.fixtures(2)],
            keptPage: PlacesPage(places: [.fixture(id: 8, distance: 3)], next: nil, receivedAt: yesterday),
            keptClusters: [cluster, alone]
        ) { call in
            switch call {
            case .keptClusters, .keptPage: break
            default: if let error = error.withLock({ $0 }) { throw error }
            }
        }
        let map = PlacesMap(placeFinder: finder)
        await map.load(try box(3), zoom: 8)
        #expect(map.clusters == [cluster])
        #expect(map.places == [.fixture(id: 7)])
        #expect(map.isKept)
        #expect(map.receivedAt == yesterday)
        #expect(map.phase == .failed(.request(.unexpectedStatus(502))))
        error.withLock { $0 = nil }
        await map.load(try box(3))
        #expect(map.places == .fixtures(2))
        #expect(!map.isKept)
        let inside = try #require(BoundingBox(west: 3.2, south: 0.2, east: 3.8, north: 0.8))
        error.withLock { $0 = .unexpectedStatus(503) }
        await map.load(inside)
        #expect(map.places == .fixtures(2), "the map shows all of that region")
        await map.load(try box(5))
        #expect(map.places == [.fixture(id: 8).withoutDistance])
        #expect(map.isKept)
        map.request.categories = ["cafe"]
        #expect(map.places.isEmpty)
        #expect(map.phase == .idle)
        let networkOnly = PlacesMap(placeFinder: finder, policy: .networkOnly)
        await networkOnly.load(try box(3), zoom: 8)
        #expect(networkOnly.places.isEmpty && networkOnly.clusters.isEmpty)
    }

    @Test("A map asks for its places' names and properties, counted or not")
    func asksForContent() async throws {
        let finder = MockPlaceFinder(.fixtures(2))
        let map = PlacesMap(placeFinder: finder)
        map.request.languages = ["de"]
        map.request.properties = ["phone"]
        await map.load(try box(3), zoom: 8)
        await map.load(try box(3))
        var counted = ClustersRequest(box: try box(3), zoom: 8)
        (counted.languages, counted.properties) = (["de"], ["phone"])
        #expect(finder.calls.contains(.clusters(counted)))
        #expect(finder.requests.map(\.languages) == [["de"]])
        #expect(finder.requests.map(\.properties) == [["phone"]])
    }

    @Test("A map of the environment asks the service")
    func isMade() async throws {
        let map = AppEnvironment.mock().makeMap(request: NearbyPlacesRequest(center: nil, limit: 3))
        #expect(map.request.limit == 3)
        await map.load(try box(-122))
        #expect(!map.places.isEmpty)
        await map.load(try box(-122), zoom: 14)
        #expect(!map.clusters.isEmpty)
        #expect(map.phase == .loaded)
    }

    @Test("A map is released after its loads")
    func isReleased() async throws {
        weak var released: PlacesMap?
        do {
            let map = PlacesMap(placeFinder: MockPlaceFinder(.fixtures(1)))
            await map.load(try box(1))
            released = map
        }
        #expect(released == nil)
    }
}

@Suite("The box of a map's region")
struct MapRegionTests {
    /// A region, and the edges of its box.
    struct Row: Sendable, CustomTestStringConvertible {
        let center: (Double, Double)
        let span: (Double, Double)
        /// West, south, east, north.
        let edges: [Double]?

        init(
            _ latitude: Double, _ longitude: Double, _ latitudeDelta: Double, _ longitudeDelta: Double,
            _ edges: [Double]?
        ) {
            center = (latitude, longitude)
            span = (latitudeDelta, longitudeDelta)
            self.edges = edges
        }

        var testDescription: String { "\(center) ± \(span)" }
    }

    @Test(
        "The box reaches half a span to each side, across the antimeridian, and ends at the poles",
        arguments: [
            Row(10, 20, 2, 4, [18, 9, 22, 11]),
            // Across the antimeridian, from either side.
            Row(0, 179, 2, 4, [177, -1, -179, 1]),
            Row(0, -179, 2, 4, [179, -1, -177, 1]),
            Row(0, 180, 2, 4, [178, -1, -178, 1]),
            Row(0, -180, 2, 4, [178, -1, -178, 1]),
            Row(0, 170, 2, 340, [0, -1, -20, 1]),
            // Up to it, not across.
            Row(0, 179, 2, 2, [178, -1, 180, 1]),
            Row(0, -179, 2, 2, [-180, -1, -178, 1]),
            // Beyond a pole.
            Row(89, 0, 4, 4, [-2, 87, 2, 90]),
            Row(-90, 0, 4, 4, [-2, -90, 2, -88]),
            Row(0, 0, 180, 4, [-2, -90, 2, 90]),
            Row(30, 0, 1000, 4, [-2, -90, 2, 90]),
            // All longitudes.
            Row(0, 0, 2, 360, [-180, -1, 180, 1]),
            Row(0, 120, 2, 360, [-180, -1, 180, 1]),
            Row(0, 120, 2, 1e9, [-180, -1, 180, 1]),
            // Rounding would make the edges of this one the same meridian.
            Row(0, 170, 2, 360.0.nextDown, [-180, -1, 180, 1]),
            Row(0, 10, 2, 359, [-169.5, -1, -170.5, 1]),
            // Next to nothing.
            Row(5, 6, 0, 0, [6, 5, 6, 5]),
            Row(5, 6, 1e-300, 1e-300, [6, 5, 6, 5]),
            Row(90, 180, 0, 0, [180, 90, 180, 90]),
            // No region.
            Row(0, 0, -1, 1, nil), Row(0, 0, 1, -1, nil), Row(0, 0, .nan, 1, nil), Row(0, 0, 1, .nan, nil),
            Row(0, 0, .infinity, 1, nil), Row(0, 0, 1, .infinity, nil),
        ])
    func hasEdges(row: Row) throws {
        let center = try Coordinate(latitude: row.center.0, longitude: row.center.1)
        let box = BoundingBox(center: center, latitudeDelta: row.span.0, longitudeDelta: row.span.1)
        #expect(box.map { [$0.west, $0.south, $0.east, $0.north] } == row.edges)
    }

    @Test("The box contains the region's centre, and what is near it in the region")
    func holdsTheCenter() throws {
        for latitude in stride(from: -90.0, through: 90, by: 7.5) {
            for longitude in stride(from: -180.0, through: 180, by: 3.75) {
                for span in [0, 1e-9, 0.01, 1, 90, 179, 180, 359.9999, 360, 400] {
                    let center = try Coordinate(latitude: latitude, longitude: longitude)
                    let box = try #require(
                        BoundingBox(center: center, latitudeDelta: span, longitudeDelta: span))
                    #expect(box.contains(latitude: latitude, longitude: longitude))
                    let east = (longitude + min(span, 359) * 0.49).remainder(dividingBy: 360)
                    let west = (longitude - min(span, 359) * 0.49).remainder(dividingBy: 360)
                    #expect(box.contains(latitude: latitude, longitude: east))
                    #expect(box.contains(latitude: latitude, longitude: west))
                }
            }
        }
    }
}
