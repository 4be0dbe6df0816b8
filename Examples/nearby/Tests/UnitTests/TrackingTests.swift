import Foundation
import NearbyKit
import PointsOfInterestTesting
import Testing

/// Which events each action fires: all of them, in order, and no other.
@Suite("The program's tracking", .timeLimit(.minutes(1)))
@MainActor
struct TrackingTests {
    /// An action of each kind. A new one is missing here until its row is written: the switch doesn't compile.
    private nonisolated static let actions: [Command.Action] = [.list, .watch(count: 1), .check]

    private nonisolated static func expectedEvents(of action: Command.Action) -> [TrackingEvent] {
        switch action {
        case .list: [.launch, .pageView(page: .locationsList), .background]
        case .watch(let count):
            // The fixtures' ids are their numbers.
            [.launch, .pageView(page: .featured)] + (0..<(count ?? 0)).map { .featuredShown(place: $0 + 1) }
                + [.background]
        case .check: [.launch, .pageView(page: "location-check"), .locationCheck, .background]
        }
    }

    private func environment(_ places: [PointOfInterest]) -> AppEnvironment {
        AppEnvironment.mock { try MockURLProtocol.response(places, to: $0) }
    }

    private func run(_ action: Command.Action, _ environment: AppEnvironment) async {
        _ = await Nearby(environment: environment, request: NearbyPlacesRequest(center: nil)) { _ in }.run(
            action)
    }

    @Test("The program fires the expected events for each action", arguments: actions)
    func fires(action: Command.Action) async {
        let environment = environment(.fixtures(3, featured: true))
        let recorder = EventRecorder(environment.trackingModel)
        await run(action, environment)
        #expect(await recorder.remainingEvents() == Self.expectedEvents(of: action))
    }

    @Test("The program fires events during an action, not at its end")
    func firesInTime() async throws {
        let environment = environment(.fixtures(3, featured: true))
        let recorder = EventRecorder(environment.trackingModel)
        async let run: Void = run(.watch(count: 1), environment)
        try await recorder.next(.featuredShown(place: 1))
        await run
        #expect(await recorder.remainingEvents() == [.background])
    }

    @Test("The program fires no event of a place that isn't shown")
    func firesNothingMore() async {
        let environment = environment([])
        let recorder = EventRecorder(environment.trackingModel)
        await run(.watch(count: 1), environment)
        #expect(await recorder.remainingEvents() == [.launch, .pageView(page: .featured), .background])
    }
}
