import PointsOfInterestClient

/// The program: does what a command says with an environment's parts, and prints.
@MainActor
public struct Nearby {
    /// How a run ended, as a shell sees it.
    public enum Outcome: Int32, Sendable {
        /// It did what was asked; of a check: this is a point of interest.
        case done = 0
        /// Of a check: this is none.
        case elsewhere = 1
        /// It could not do it.
        case failed = 69
    }

    private let list: PointsOfInterestList
    private let featured: FeaturedPlaceManager
    private let location: CurrentLocationProvider
    private let tracking: TrackingModel
    private let print: (String) -> Void

    /// Makes the program of its parts.
    public init(
        list: PointsOfInterestList, featured: FeaturedPlaceManager, location: CurrentLocationProvider,
        tracking: TrackingModel, print: @escaping (String) -> Void
    ) {
        self.list = list
        self.featured = featured
        self.location = location
        self.tracking = tracking
        self.print = print
    }

    /// Makes the program on an environment's parts.
    public init(environment: AppEnvironment, request: NearbyPlacesRequest, print: @escaping (String) -> Void)
    {
        self.init(
            list: environment.makeList(request: request), featured: environment.makeFeaturedPlaceManager(),
            location: environment.locationProvider, tracking: environment.trackingModel, print: print)
    }

    /// Does what a command says.
    public func run(_ action: Command.Action) async -> Outcome {
        tracking.sendTrackingEvent(.launch)
        tracking.sendTrackingEvent(.pageView(page: action.page))
        defer { tracking.sendTrackingEvent(.background) }
        switch action {
        case .list: return await showList()
        case .watch(let count): return await watch(count: count)
        case .check: return await check()
        }
    }

    private func showList() async -> Outcome {
        await list.load()
        if case .failed(let error) = list.phase { return fail(error) }
        if list.places.isEmpty { print("There is nothing nearby.") }
        for place in list.places { print(PlaceLine.text(for: place)) }
        return .done
    }

    private func watch(count: Int?) async -> Outcome {
        do {
            _ = try await location.currentLocation()
        } catch {
            return fail(error)
        }
        await featured.load()
        if case .failed(let error) = featured.phase { return fail(error) }
        featured.scheduleNextPlace()
        var shown = 0
        var last: PointOfInterest??
        for await place in featured.updates().map(\.currentPlace) where place != last {
            last = place
            if let place { tracking.sendTrackingEvent(.featuredShown(place: place.id)) }
            print(place.map { "★ " + PlaceLine.text(for: $0) } ?? "Nothing is featured nearby.")
            shown += 1
            if shown == count { break }
        }
        featured.stop()
        return .done
    }

    private func check() async -> Outcome {
        tracking.sendTrackingEvent(.locationCheck)
        let status = await location.checkCurrentLocation()
        switch status {
        case .atPointOfInterest(let place): print("You are at \(place.name).")
        case .elsewhere: print("This is no point of interest.")
        case .unknown: print("Your position is not known well enough.")
        case .notAuthorized: print("The program may not know your position.")
        case .locationFailed(let failure): print("Your position could not be determined: \(failure.reason)")
        case .locationTimedOut: print("Your position could not be determined in time.")
        case .requestFailed(let error): return fail(error)
        case .cancelled: print("The check was cancelled.")
        }
        return status.isPointOfInterest.map { $0 ? .done : .elsewhere } ?? .failed
    }

    /// Prints what went wrong, and what the service says about it: whoever is at a terminal can use both.
    private func fail(_ error: any Error) -> Outcome {
        print(error.localizedDescription)
        var cause = error
        if case .request(let error)? = error as? LoadError { cause = error }
        if let detail = (cause as? RequestError)?.problem?.detail { print(detail) }
        return .failed
    }
}
