import Foundation

#if canImport(Combine)
    import Combine
#endif

/// The nearby places, as a table or a view shows them: loading, loaded, or failed.
///
/// A table follows `updates()`; a SwiftUI view observes the list, which is an `ObservableObject` where there is
/// Combine. The list reloads when the permission to use the location changes.
@MainActor
public final class PointsOfInterestList {
    /// The state of a list.
    public enum State: Hashable, Sendable {
        /// Nothing was loaded yet.
        case idle
        /// Places are being loaded; earlier ones are still in `places`.
        case loading
        /// These places were loaded, nearest first; may be empty.
        case loaded([PointOfInterest])
        /// Loading failed; earlier places are still in `places`.
        case failed(NearbyPlacesError)
    }

    /// The state of the list.
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
    /// What to load. The centre is replaced by the current location. A change takes effect with the next load.
    public var request: NearbyPlacesRequest

    private let placeFinder: any PlaceFinder
    private let locationSource: any CurrentLocationSource
    private let changes = Broadcast<State>()
    private var observation: NotificationObservation?
    private var loadCount = 0
    private var settledState = State.idle

    #if canImport(Combine)
        private let changePublisher = ChangePublisher()

        /// Announces a change of `state`, before it happens.
        public nonisolated var objectWillChange: ObservableObjectPublisher { changePublisher.publisher }
    #endif

    /// Makes a list that is idle until it is loaded.
    ///
    /// - Parameters:
    ///   - placeFinder: finds the places: the service, or a stand-in.
    ///   - locationSource: finds out where the device is.
    ///   - notificationCenter: where `CurrentLocationProvider.authChangedNotification` is posted.
    ///   - request: what to load, with filters for instance; the centre is replaced by the current location.
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

    /// Returns the current state, and then each change of it in order.
    public func updates() -> AsyncStream<State> { changes.stream(startingWith: state) }
}

extension PointsOfInterestList {
    /// Loads the places around the current location. When it returns, `state` is `.loaded` or `.failed`.
    ///
    /// Of several loads at the same time, the last one determines the state. A cancelled load restores the state
    /// from before.
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

    /// Returns the state after a load; nil where it was cancelled.
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

/// Why the nearby places could not be loaded.
public enum NearbyPlacesError: Error, Hashable, Sendable {
    /// There is no current location.
    case location(LocationError)
    /// The request to the service failed.
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
