#if DEBUG
    import Foundation
    import PlacesCore
    import PointsOfInterestTesting

    extension PlacesWindow {
        /// The recorded responses of the service, around San José.
        static func preview() -> PlacesWindow { PlacesWindow(.mock()) }

        /// A device without a network.
        static func offline() -> PlacesWindow {
            PlacesWindow(.mock { _ in throw URLError(.notConnectedToInternet) })
        }

        private convenience init(_ environment: AppEnvironment) {
            let favoriteIDs = FavoriteIDs(baseURL: environment.configuration.baseURL)
            self.init(session: PlacesSession(environment: environment, favoriteIDs: favoriteIDs))
        }
    }

    extension Display<[PointOfInterest]> {
        /// Two places, and a next page that could not be loaded.
        static var preview: Self {
            Display(
                .fixtures(2), phase: .failedMore(.request(.notHTTP)), hasMore: true, nothing: "Nothing")
        }
    }
#endif
