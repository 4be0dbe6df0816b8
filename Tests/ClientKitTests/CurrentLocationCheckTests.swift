import Foundation
import PointsOfInterestTesting
import Testing

@Suite("A check of the current location", .timeLimit(.minutes(1)))
@MainActor
struct CurrentLocationCheckTests {
    private func status(
        _ outcome: MockLocationFetcher.Outcome, authorization: LocationAuthorization = .fullAccuracy,
        finder: MockPlaceFinder = MockPlaceFinder([.fixture()])
    ) async -> CurrentLocationStatus {
        let fetcher = MockLocationFetcher(locationAuthorization: authorization) { outcome }
        let provider = CurrentLocationProvider(
            locationFetcher: fetcher, notificationCenter: NotificationCenter(), placeFinder: finder,
            timerScheduler: MockTimerScheduler(firesAtOnce: false))
        return await provider.checkCurrentLocation()
    }

    @Test(
        "A check asks for the nearest place within the fix's accuracy, at least 100 m",
        arguments: [(0.0, 100.0), (10, 100), (100, 100), (100.5, 100.5), (499, 499), (500, 500)])
    func asksWithinAccuracy(accuracy: Double, radius: Double) async throws {
        let finder = MockPlaceFinder([.fixture(id: 7), .fixture(id: 8)])
        let status = await status(.fix(.fixture(horizontalAccuracy: accuracy)), finder: finder)
        #expect(status == .atPointOfInterest(.fixture(id: 7)))
        #expect(status.isPointOfInterest == true)
        let center = try Coordinate(latitude: 37.3293, longitude: -121.8893)
        #expect(finder.requests == [NearbyPlacesRequest(center: center, radiusMeters: radius, limit: 1)])
    }

    @Test("The status is elsewhere if no place is near enough")
    func isElsewhere() async {
        let status = await status(.fix(.fixture()), finder: MockPlaceFinder([]))
        #expect(status == .elsewhere)
        #expect(status.isPointOfInterest == false)
    }

    @Test(
        "The status is unknown for an invalid or inaccurate fix, and nothing is requested",
        arguments: [
            LocationFix.fixture(horizontalAccuracy: -1), .fixture(horizontalAccuracy: -0.001),
            .fixture(horizontalAccuracy: 500.1), .fixture(horizontalAccuracy: 3_000),
            .fixture(horizontalAccuracy: .nan), .fixture(horizontalAccuracy: .infinity),
            .fixture(latitude: 90.1), .fixture(longitude: -180.1), .fixture(latitude: .nan),
        ])
    func cannotTell(fix: LocationFix) async {
        let finder = MockPlaceFinder([.fixture()])
        let status = await status(.fix(fix), finder: finder)
        #expect(status == .unknown)
        #expect(status.isPointOfInterest == nil)
        #expect(finder.requests.isEmpty)
    }

    @Test("The status is unknown without any fix")
    func cannotTellFromNothing() async {
        #expect(await status(.fixes([])) == .unknown)
    }

    @Test("The newest of several fixes is used")
    func takesTheNewest() async {
        let finder = MockPlaceFinder([])
        _ = await status(.fixes([.fixture(latitude: 1), .fixture(latitude: 2)]), finder: finder)
        #expect(finder.requests.map(\.center?.latitude) == [2])
    }

    @Test("A failure of the device is a status")
    func tellsTheDevicesFailure() async {
        #expect(await status(.failure(.fixture(code: 7))) == .locationFailed(.fixture(code: 7)))
    }

    @Test("A refusal while the device determines its location is a status")
    func tellsARefusalByTheDevice() async {
        #expect(await status(.failure(.fixture(code: 1, isDenied: true))) == .notAuthorized)
    }

    @Test(
        "Nothing is requested where the app has no permission",
        arguments: [LocationAuthorization.denied, .restricted])
    func respectsRefusals(authorization: LocationAuthorization) async {
        let finder = MockPlaceFinder([.fixture()])
        #expect(
            await status(.fix(.fixture()), authorization: authorization, finder: finder) == .notAuthorized)
        #expect(finder.requests.isEmpty)
    }

    @Test("An approximate permission is enough, and the fix's accuracy decides")
    func looksWithReducedAccuracy() async {
        let status = await status(
            .fix(.fixture(horizontalAccuracy: 4_000)), authorization: .reducedAccuracy)
        #expect(status == .unknown)
    }

    @Test(
        "A failed request is a status with its error",
        arguments: [
            RequestError.problem(Problem(.databaseBusy)), .unexpectedStatus(502), .notHTTP,
            .transport(code: -1009, reason: "offline"),
        ])
    func tellsRequestErrors(error: RequestError) async {
        let status = await status(.fix(.fixture()), finder: MockPlaceFinder { _ in throw error })
        #expect(status == .requestFailed(error))
        #expect(status.isPointOfInterest == nil)
    }

    @Test("An error of another type counts as one of transport")
    func tellsOtherErrors() async {
        let status = await status(
            .fix(.fixture()), finder: MockPlaceFinder { _ in throw URLError(.timedOut) })
        guard case .requestFailed(let error) = status else {
            Issue.record("\(status)")
            return
        }
        #expect(error.urlErrorCode == .timedOut)
    }

    @Test("A check calls its handler once, on the main thread, after the call has returned")
    func callsTheHandler() async {
        let provider = CurrentLocationProvider(
            locationFetcher: MockLocationFetcher(), notificationCenter: NotificationCenter(),
            placeFinder: MockPlaceFinder([.fixture()]), timerScheduler: MockTimerScheduler())
        let order = Order()
        let (statuses, continuation) = AsyncStream.makeStream(of: CurrentLocationStatus.self)
        provider.checkCurrentLocation { status in
            MainActor.assertIsolated()
            #expect(order.hasReturned)
            if case .terminated = continuation.yield(status) { Issue.record("called again") }
            continuation.finish()
        }
        order.hasReturned = true
        var received: [CurrentLocationStatus] = []
        for await status in statuses { received.append(status) }
        #expect(received == [.atPointOfInterest(.fixture())])
    }

    @Test("A check that is cancelled calls its handler")
    func cancelsTheHandlersCheck() async {
        let fetcher = MockLocationFetcher { .nothing }
        let provider = CurrentLocationProvider(
            locationFetcher: fetcher, notificationCenter: NotificationCenter(),
            placeFinder: MockPlaceFinder([]), timerScheduler: MockTimerScheduler(firesAtOnce: false))
        let statuses = AsyncStream<CurrentLocationStatus> { continuation in
            let task = provider.checkCurrentLocation { status in
                continuation.yield(status)
                continuation.finish()
            }
            task.cancel()
        }
        for await status in statuses { #expect(status == .cancelled) }
    }
}

@MainActor
private final class Order {
    var hasReturned = false
}
