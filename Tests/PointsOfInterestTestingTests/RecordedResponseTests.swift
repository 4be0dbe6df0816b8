import Foundation
import PointsOfInterestTesting
import Testing

@testable import PointsOfInterestAPI

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("A recorded response", .timeLimit(.minutes(1)))
struct RecordedResponseTests {
    private func request(_ target: String, accept: String? = nil) throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: "https://h/prefix" + target)))
        request.setValue(accept, forHTTPHeaderField: "Accept")
        return request
    }

    @Test("A recording is the response to its own request", arguments: RecordedResponse.allCases)
    func respondsToItsRequest(recording: RecordedResponse) throws {
        let exchange = try recording.exchange()
        // A request that is wrong looks like one that is right.
        guard recording != .invalidParameters, recording != .locationNotFound else { return }
        let request = try request(exchange.target, accept: exchange.requestHeaders["Accept"])
        let (response, body) = try RecordedResponse.response(to: request)
        #expect(response.statusCode == exchange.status)
        #expect(
            response.mimeType
                == exchange.responseHeaders["Content-Type"]?.split(separator: ";").first.map(String.init))
        #expect(body == exchange.body)
        #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: body) }
    }

    @Test("Each recording has a file, and each file is a recording")
    func hasAFile() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Sources/PointsOfInterestTesting/RecordedResponses")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(files.sorted() == RecordedResponse.allCases.map { $0.rawValue + ".http" }.sorted())
    }

    @Test("A recording of places is what the service's own encoder writes")
    func isEncodedByTheService() throws {
        let body = try RecordedResponse.locations.exchange().body
        let places = try JSONDecoder().decode([PointOfInterest].self, from: body)
        #expect(places.count == 3)
        #expect(places.map { $0.distance ?? .nan } == places.map { $0.distance ?? .nan }.sorted())
        #expect(places.allSatisfy { $0.source?.dataset == "poi-seed-san-jose" })
        let collection = try JSONDecoder().decode(
            GeoJSON.self, from: RecordedResponse.locationsGeoJSON.exchange().body)
        #expect(collection.type == "FeatureCollection")
        #expect(collection.features.map(\.properties.name) == places.map(\.name))
        #expect(
            collection.features.map(\.geometry.coordinates) == places.map { [$0.longitude, $0.latitude] })
        let place = try JSONDecoder().decode(
            PointOfInterest.self, from: RecordedResponse.location.exchange().body)
        let first = try #require(places.first)
        #expect(place.properties == ["opened": 1989] && first.properties == nil)
        #expect((place.id, place.name, place.distance) == (first.id, first.name, first.distance))
        #expect(place.source == first.source && place.importance == first.importance)
    }

    @Test("A recorded page links to the next one")
    func linksToTheNextPage() throws {
        let link = try #require(try RecordedResponse.locations.exchange().responseHeaders["Link"])
        #expect(link.hasPrefix("<?") && link.hasSuffix(#">; rel="next""#))
        #expect(link.contains("cursor="))
    }

    @Test("Recorded categories come most frequent first")
    func hasCategories() throws {
        let body = try RecordedResponse.categories.exchange().body
        let categories = try JSONDecoder().decode([CategoryCount].self, from: body)
        #expect(categories.first.map(\.count) ?? 0 > 10)
        #expect(categories.map(\.count) == categories.map(\.count).sorted(by: >))
        #expect(Data(categories.json) == body)
    }

    @Test(
        "A recorded problem can be decoded",
        arguments: [(RecordedResponse.locationNotFound, 404), (.invalidParameters, 400)])
    func isAProblem(recording: RecordedResponse, status: Int) throws {
        let exchange = try recording.exchange()
        #expect(exchange.status == status)
        #expect(exchange.responseHeaders["Content-Type"]?.hasPrefix(MediaType.problemJSON) == true)
        let problem = try JSONDecoder().decode(Problem.self, from: exchange.body)
        #expect(problem.status == status)
        #expect(problem.code.rawValue.isEmpty == false)
        #expect(Data(problem.json) == exchange.body)
    }

    @Test("A request with an unknown path gets a problem", arguments: ["/", "/nothing", "/locations/1/x"])
    func refusesOtherPaths(path: String) throws {
        #expect(try RecordedResponse.response(to: request(path)).0.statusCode == 404)
    }
}

private struct GeoJSON: Decodable {
    struct Feature: Decodable {
        struct Geometry: Decodable {
            let coordinates: [Double]
        }

        struct Properties: Decodable {
            let name: String
        }

        let geometry: Geometry
        let properties: Properties
    }

    let type: String
    let features: [Feature]
}

@Suite("A recorded exchange")
struct RecordedExchangeTests {
    @Test("An exchange is read from a file's text, with the body's own line breaks")
    func isRead() throws {
        let exchange = try RecordedExchange(
            text: "GET /a?b=c\nAccept: x/y\nX-A:  b:c \n\n200\nContent-Type: x/y\n\none\n\ntwo\n\n")
        #expect(exchange.method == "GET")
        #expect(exchange.target == "/a?b=c")
        #expect(exchange.requestHeaders == ["Accept": "x/y", "X-A": "b:c"])
        #expect(exchange.status == 200)
        #expect(exchange.responseHeaders == ["Content-Type": "x/y"])
        #expect(exchange.body == Data("one\n\ntwo\n".utf8))
    }

    @Test("An exchange may have neither headers nor a body")
    func isBare() throws {
        let exchange = try RecordedExchange(text: "HEAD /\n\n304\n")
        #expect(exchange.status == 304)
        #expect(exchange.body.isEmpty)
    }

    @Test(
        "A malformed file is refused",
        arguments: [
            "", "GET\n\n200\n\n", "GET /\n", "GET /\n\nOK\n\n", "GET /\nx\n\n200\n", "GET /\n\n200\nx\n\n",
        ])
    func isRefused(text: String) {
        #expect(throws: RecordedExchange.Fault.self) { try RecordedExchange(text: text) }
    }
}
