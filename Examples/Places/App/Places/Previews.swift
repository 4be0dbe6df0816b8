#if DEBUG
    import Foundation
    import PlacesCore
    import PointsOfInterestEditing
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

    extension PlaceEditor {
        /// An editor to whom every place is the same.
        @MainActor
        static func preview() -> PlaceEditor {
            let draft = PlaceDraft(name: "Café", category: "cafe", latitude: 37.3, longitude: -121.9)
            let record = EditablePlace(id: 1, version: 1, updatedAt: Date(), draft: draft)
            let environment = AppEnvironment.mock { request in
                (try .fixture(for: request), try JSONEncoder().encode(record))
            }
            return PlaceEditor(service: environment.service)
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
