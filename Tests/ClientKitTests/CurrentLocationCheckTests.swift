import Foundation
import PointsOfInterestTesting
import Testing

@Suite("A check of the current location", .timeLimit(.minutes(1)))
@MainActor
struct CurrentLocationCheckTests {
    private func answer(
        _ answer: MockLocationFetcher.Answer, authorization: LocationAuthorization = .fullAccuracy,
        finder: MockPlaceFinder = MockPlaceFinder([.fixture()])
    ) async -> CurrentLocationAnswer {
        let fetcher = MockLocationFetcher(locationAuthorization: authorization) { answer }
        let provider = CurrentLocationProvider(
            locationFetcher: fetcher, notificationCenter: NotificationCenter(), placeFinder: finder,
            timerScheduler: MockTimerScheduler(firesAtOnce: false))
        return await provider.checkCurrentLocation()
    }

    @Test(
        "asks for the nearest place within the fix's accuracy, at least 100 m",
        arguments: [(0.0, 100.0), (10, 100), (100, 100), (100.5, 100.5), (499, 499), (500, 500)])
    func asksWithinAccuracy(accuracy: Double, radius: Double) async throws {
        let finder = MockPlaceFinder([.fixture(id: 7), .fixture(id: 8)])
        let answer = await answer(.fix(.fixture(horizontalAccuracy: accuracy)), finder: finder)
        #expect(answer == .atPointOfInterest(.fixture(id: 7)))
        #expect(answer.isPointOfInterest == true)
        let center = try Coordinate(latitude: 37.3293, longitude: -121.8893)
        #expect(finder.requests == [NearbyPlacesRequest(center: center, radiusMeters: radius, limit: 1)])
    }

    @Test("is elsewhere where no place is that near")
    func isElsewhere() async {
        let answer = await answer(.fix(.fixture()), finder: MockPlaceFinder([]))
        #expect(answer == .elsewhere)
        #expect(answer.isPointOfInterest == false)
    }

    @Test(
        "can't tell with a fix that is invalid or too rough, and doesn't ask",
        arguments: [
            LocationFix.fixture(horizontalAccuracy: -1), .fixture(horizontalAccuracy: -0.001),
            .fixture(horizontalAccuracy: 500.1), .fixture(horizontalAccuracy: 3_000),
            .fixture(horizontalAccuracy: .nan), .fixture(horizontalAccuracy: .infinity),
            .fixture(latitude: 90.1), .fixture(longitude: -180.1), .fixture(latitude: .nan),
        ])
    func cannotTell(fix: LocationFix) async {
        let finder = MockPlaceFinder([.fixture()])
        let answer = await answer(.fix(fix), finder: finder)
        #expect(answer == .unknown)
        #expect(answer.isPointOfInterest == nil)
        #expect(finder.requests.isEmpty)
    }

    @Test("can't tell from no fix at all")
    func cannotTellFromNothing() async {
        #expect(await answer(.fixes([])) == .unknown)
    }

    @Test("goes by the newest of several fixes")
    func takesTheNewest() async {
        let finder = MockPlaceFinder([])
        _ = await answer(.fixes([.fixture(latitude: 1), .fixture(latitude: 2)]), finder: finder)
        #expect(finder.requests.map(\.center?.latitude) == [2])
    }

    @Test("tells that the device failed")
    func tellsTheDevicesFailure() async {
        #expect(await answer(.failure(.fixture(code: 7))) == .locationFailed(.fixture(code: 7)))
    }

    @Test("tells that the person refused while the device looked")
    func tellsARefusalByTheDevice() async {
        #expect(await answer(.failure(.fixture(code: 1, isDenied: true))) == .notAuthorized)
    }

    @Test("doesn't look where the app may not know", arguments: [LocationAuthorization.denied, .restricted])
    func respectsRefusals(authorization: LocationAuthorization) async {
        let finder = MockPlaceFinder([.fixture()])
        #expect(
            await answer(.fix(.fixture()), authorization: authorization, finder: finder) == .notAuthorized)
        #expect(finder.requests.isEmpty)
    }

    @Test("looks where the app may know roughly: the fix tells how roughly")
    func looksWithReducedAccuracy() async {
        let answer = await answer(
            .fix(.fixture(horizontalAccuracy: 4_000)), authorization: .reducedAccuracy)
        #expect(answer == .unknown)
    }

    @Test(
        "tells why the service could not be asked",
        arguments: [
            RequestError.problem(Problem(.databaseBusy)), .unexpectedStatus(502), .notHTTP,
            .transport(code: -1009, reason: "offline"),
        ])
    func tellsRequestErrors(error: RequestError) async {
        let answer = await answer(.fix(.fixture()), finder: MockPlaceFinder { _ in throw error })
        #expect(answer == .requestFailed(error))
        #expect(answer.isPointOfInterest == nil)
    }

    @Test("takes an error that is none of a request's for one of transport")
    func tellsOtherErrors() async {
        let answer = await answer(
            .fix(.fixture()), finder: MockPlaceFinder { _ in throw URLError(.timedOut) })
        guard case .requestFailed(let error) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(error.urlErrorCode == .timedOut)
    }

    @Test("calls a handler once, on the main thread, after it has returned")
    func callsTheHandler() async {
        let provider = CurrentLocationProvider(
            locationFetcher: MockLocationFetcher(), notificationCenter: NotificationCenter(),
            placeFinder: MockPlaceFinder([.fixture()]), timerScheduler: MockTimerScheduler())
        let order = Order()
        let (answers, continuation) = AsyncStream.makeStream(of: CurrentLocationAnswer.self)
        provider.checkCurrentLocation { answer in
            MainActor.assertIsolated()
            #expect(order.hasReturned)
            if case .terminated = continuation.yield(answer) { Issue.record("called again") }
            continuation.finish()
        }
        order.hasReturned = true
        var received: [CurrentLocationAnswer] = []
        for await answer in answers { received.append(answer) }
        #expect(received == [.atPointOfInterest(.fixture())])
    }

    @Test("answers a handler whose check is cancelled")
    func cancelsTheHandlersCheck() async {
        let fetcher = MockLocationFetcher { .nothing }
        let provider = CurrentLocationProvider(
            locationFetcher: fetcher, notificationCenter: NotificationCenter(),
            placeFinder: MockPlaceFinder([]), timerScheduler: MockTimerScheduler(firesAtOnce: false))
        let answers = AsyncStream<CurrentLocationAnswer> { continuation in
            let task = provider.checkCurrentLocation { answer in
                continuation.yield(answer)
                continuation.finish()
            }
            task.cancel()
        }
        for await answer in answers { #expect(answer == .cancelled) }
    }
}

@MainActor
private final class Order {
    var hasReturned = false
}
