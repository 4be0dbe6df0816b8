import Foundation
import PointsOfInterestClient

struct Mismatch: Error {}

guard let baseURL = URL(string: "https://poi.example/api/") else { throw Mismatch() }
var request = PointsOfInterestRequest(baseURL: baseURL)
let center = try Coordinate(latitude: 37.3293, longitude: -121.8893)
let made = try request.makeRequest(from: center)
guard made.url?.absoluteString == "https://poi.example/api/locations?lat=37.3293&long=-121.8893" else {
    throw Mismatch()
}
request.radiusMeters = 100
request.limit = 1
let loader = APIRequestLoader(apiRequest: request)
guard try loader.apiRequest.parseResponse(data: Data("[]".utf8)).isEmpty else { throw Mismatch() }
do {
    _ = try Coordinate(latitude: 91, longitude: 0)
    throw Mismatch()
} catch RequestError.invalidCoordinate {
    print("the client works outside of its package")
}
