import Foundation
import PointsOfInterestClient

extension Scenario {
    /// What an app of this release does.
    static let all: [Scenario] = [
        Scenario("nearest") { site in
            let request = PointsOfInterestRequest(baseURL: site.baseURL, limit: 20)
            return try await APIRequestLoader(apiRequest: request, urlSession: site.session)
                .loadAPIRequest(requestData: center())
        } isSound: { places in
            places.count == 20 && places.compactMap(\.distance) == places.compactMap(\.distance).sorted()
        }
    ]

    /// San José's convention centre, which the seeds surround.
    private static func center() throws -> Coordinate {
        try Coordinate(latitude: 37.3293, longitude: -121.8893)
    }
}
