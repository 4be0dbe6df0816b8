import Foundation
import PointsOfInterestTesting
import Randomness
import ServerProcess
import ServiceFixtures
import Testing

/// How many random requests are compared: 600, or what the environment's `POI_COMPARISONS` says.
private let comparisonCount =
    ProcessInfo.processInfo.environment["POI_COMPARISONS"].flatMap { Int($0) } ?? 600

@Suite("The mock and the service", .timeLimit(.minutes(comparisonCount > 600 ? 60 : 3)))
struct DifferentialTests {
    @Test("The mock and the service send equal responses to random requests, errors included")
    func random() async throws {
        let generator = SeededGenerator()
        var requests = RandomRequests(generator, words: try await words())
        let pair = try await ServerPair()
        var statuses: [Int: Int] = [:]
        for _ in 0..<comparisonCount {
            let request = requests.next()
            let responses = try await pair.responses(to: request)
            let mock = ComparableResponse(responses.mock, to: request)
            let service = ComparableResponse(responses.service, to: request)
            #expect(mock == service, "POI_TEST_SEED=\(generator.seed) \(request)")
            statuses[service.status, default: 0] += 1
            guard let mockTag = responses.mock.headers["etag"], let tag = responses.service.headers["etag"]
            else {
                continue
            }
            let again = try await pair.responses(
                mock: request.adding("If-None-Match", mockTag), service: request.adding("If-None-Match", tag))
            #expect(
                ComparableResponse(again.mock, to: request) == ComparableResponse(again.service, to: request),
                "POI_TEST_SEED=\(generator.seed) once more, \(request)")
            statuses[again.service.status, default: 0] += 1
        }
        // A mixture, or the comparison would show little.
        for status in [200, 204, 304, 400, 404, 405, 406, 501] {
            #expect(statuses[status, default: 0] > 0, "POI_TEST_SEED=\(generator.seed) \(statuses)")
        }
    }

    @Test(
        "The mock and the service have the same pages, to the last",
        arguments: [
            "?lat=37.3293&long=-121.8893&limit=19", "?lat=-37&long=58&limit=50",
            "?bbox=-180,-90,180,90&limit=33",
            "?lat=37.3293&long=-121.8893&radius=2000&limit=7", "?lat=0&long=0&category=museum,park&limit=5",
            "?lat=37.3293&long=-121.8893&q=san&limit=3", "?bbox=170,-60,-170,60&featured=false&limit=2",
        ])
    func pages(query: String) async throws {
        let pair = try await ServerPair()
        var next: String? = query
        var count = 0
        while let query = next {
            let request = WireRequest(target: "/locations" + query)
            let responses = try await pair.responses(to: request)
            #expect(
                ComparableResponse(responses.mock, to: request)
                    == ComparableResponse(responses.service, to: request), "\(query)")
            #expect(responses.service.status == 200)
            let link = responses.service.headers["link"]
            next = try link.map { String(try #require($0.wholeMatch(of: /<(.*)>; rel="next"/)).output.1) }
            count += 1
        }
        #expect(count > 1)
    }

    @Test("The mock and the service are both ready")
    func readiness() async throws {
        let responses = try await ServerPair().responses(to: WireRequest(target: "/readyz"))
        #expect(responses.mock.status == 200)
        #expect(responses.service.status == 200)
    }

    private func words() async throws -> QueryWords {
        let service = PointsOfInterestService(baseURL: try await ServerPair().serviceURL)
        let here = try Coordinate(latitude: 37.3293, longitude: -121.8893)
        let places = try await service.nearbyPlaces(NearbyPlacesRequest(center: here, limit: 100)).places
        return QueryWords(ids: places.map(\.id), categories: try await service.categories().map(\.name))
    }
}
