import PointsOfInterestClient

/// What the screen of a place shows.
public enum PlaceDetail: Hashable, Sendable {
    /// The place is being loaded.
    case loading
    /// The place.
    case loaded(PointOfInterest)
    /// The service doesn't have the place, or no longer.
    case gone
    /// The place could not be loaded, for this reason.
    case failed(String)
}

extension PlacesSession {
    /// Loads a place for its own screen.
    ///
    /// - Returns: what the screen shows; nil where the task was cancelled, since nobody looks any more.
    public func detail(of id: Int) async -> PlaceDetail? {
        do {
            let center = environment.locationProvider.lastLocation
            return .loaded(try await environment.service.place(id: id, center: center))
        } catch RequestError.cancelled {
            return nil
        } catch RequestError.problem(let problem) where problem.code == .notFound {
            return .gone
        } catch {
            return .failed(error.localizedDescription)
        }
    }
}
