import Foundation

#if canImport(Combine)
    import Combine
#endif

/// The places nearby, as a table or a view shows them: loading, loaded, or failed.
///
/// Its state is the main actor's. A table follows `updates()`; a SwiftUI view observes the list as an
/// `ObservableObject` where there is Combine. It loads anew when the app may, or may no longer, know the
/// location.
@MainActor
public final class PointsOfInterestList {
    /// What a list is doing.
    public enum State: Hashable, Sendable {
        /// Nothing was asked for yet.
        case idle
        /// Places are on their way; those of before, if any, are still in `places`.
        case loading
        /// These places are there, nearest first; they may be none.
        case loaded([PointOfInterest])
        /// There are none; those of before, if any, are still in `places`.
        case failed(NearbyPlacesError)
    }

    /// What the list is doing.
    public private(set) var state = State.idle {
        willSet {
            #if canImport(Combine)
                if newValue != state { objectWillChange.send() }
            #endif
        }
        didSet { if oldValue != state { changes.send(state) } }
    }
    /// The places that were loaded last, nearest first.
    public private(set) var places: [PointOfInterest] = []
    /// What is asked for; its centre is filled in with the current location. Counts from the next load on.
    public var request: NearbyPlacesRequest

    private let placeFinder: any PlaceFinder
    private let locationSource: any CurrentLocationSource
    private let changes = Broadcast<State>()
    private var observation: NotificationObservation?
    private var loadCount = 0
    private var settledState = State.idle

    #if canImport(Combine)
        private let changePublisher = ChangePublisher()

        /// Says that `state` is about to change.
        public nonisolated var objectWillChange: ObservableObjectPublisher { changePublisher.publisher }
    #endif

    /// Makes a list that is idle until it is loaded.
    ///
    /// - Parameters:
    ///   - placeFinder: the service.
    ///   - locationSource: knows where the device is.
    ///   - notificationCenter: where `CurrentLocationProvider.authChangedNotification` is posted.
    ///   - request: what to ask for, a filter for instance; its centre is filled in.
    public init(
        placeFinder: any PlaceFinder, locationSource: any CurrentLocationSource,
        notificationCenter: NotificationCenter = .default,
        request: NearbyPlacesRequest = NearbyPlacesRequest(center: nil)
    ) {
        self.placeFinder = placeFinder
        self.locationSource = locationSource
        self.request = request
        observation = NotificationObservation(
            of: CurrentLocationProvider.authChangedNotification, in: notificationCenter
        ) { [weak self] in
            await self?.load()
        }
    }

    /// The state now, and from then on each change of it, in order.
    public func updates() -> AsyncStream<State> { changes.stream(startingWith: state) }
}

extension PointsOfInterestList {
    /// Loads the places around the current location, and returns when `state` tells how that went.
    ///
    /// Of several loads at the same time the one that was asked for last counts. A cancelled one leaves the list
    /// as it was.
    public func load() async {
        loadCount += 1
        let turn = loadCount
        state = .loading
        let outcome = await loadedState()
        guard turn == loadCount else { return }
        if let outcome { settledState = outcome }
        if case .loaded(let found) = settledState { places = found }
        state = settledState
    }

    /// What a load comes to; nil where it was cancelled.
    private func loadedState() async -> State? {
        do {
            var request = request
            request.center = try await position()
            return .loaded(try await placeFinder.places(request))
        } catch let error as LocationError {
            return error == .cancelled ? nil : .failed(.location(error))
        } catch {
            let error = RequestError(error)
            return error == .cancelled ? nil : .failed(.request(error))
        }
    }

    private func position() async throws(LocationError) -> Coordinate {
        guard let coordinate = try await locationSource.currentLocation().coordinate else {
            throw .invalidFix
        }
        return coordinate
    }
}

#if canImport(Combine)
    extension PointsOfInterestList: ObservableObject {}
#endif

/// Why there is no list of the places nearby.
public enum NearbyPlacesError: Error, Hashable, Sendable {
    /// There is no location to list them around.
    case location(LocationError)
    /// The service did not answer them.
    case request(RequestError)
}

extension NearbyPlacesError: LocalizedError {
    /// A sentence for people.
    public var errorDescription: String? {
        switch self {
        case .location(let error): error.errorDescription
        case .request(let error): error.errorDescription
        }
    }
}
