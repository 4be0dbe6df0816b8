#if DEBUG
    import Foundation
    import PlacesCore
    import PointsOfInterestTesting

    extension PlacesSession {
        /// The recorded responses of the service, around San José.
        static func preview() -> PlacesSession {
            PlacesSession(environment: .mock())
        }

        /// A device without a network.
        static func offline() -> PlacesSession {
            PlacesSession(environment: .mock { _ in throw URLError(.notConnectedToInternet) })
        }
    }

    extension ListDisplay {
        /// Two places, and a next page that could not be loaded.
        static var preview: ListDisplay {
            ListDisplay(phase: .failedMore(.request(.notHTTP)), places: .fixtures(2), hasMore: true)
        }
    }
#endif
