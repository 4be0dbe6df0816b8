import PointsOfInterestTesting
import XCTest

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

// The talk's listings about network requests, in its order: see Documentation/testing.md, which says what differs.

/// Everything in one method: it can only be tested as a whole.
@MainActor
final class PointsOfInterestViewController {
    var tableValues: [PointOfInterest] = []
    var reloadData: () -> Void = {}
    var handleError: (any Error) -> Void = { _ in }
    let urlSession: URLSession

    init(urlSession: URLSession = URLSession.shared) {
        self.urlSession = urlSession
    }

    func loadData(near coord: Coordinate) {
        let url = URL(
            string: "https://api.example.com/locations?lat=\(coord.latitude)&long=\(coord.longitude)")!
        urlSession.dataTask(with: url) { data, response, error in
            DispatchQueue.main.async {
                guard let data = data else {
                    self.handleError(error ?? URLError(.unknown))
                    return
                }
                do {
                    let values = try JSONDecoder().decode([PointOfInterest].self, from: data)
                    self.tableValues = values
                    self.reloadData()
                } catch {
                    self.handleError(error)
                }
            }
        }.resume()
    }
}

/// The talk shows no test of it. It needs a network, a run loop and a wait.
@MainActor
final class PointsOfInterestViewControllerTests: XCTestCase {
    func testLoadingData() async throws {
        let session = MockURLProtocol.session { try MockURLProtocol.response(.fixtures(2), to: $0) }
        let controller = PointsOfInterestViewController(urlSession: session)
        let reloaded = expectation(description: "reloaded")
        controller.reloadData = { reloaded.fulfill() }
        controller.loadData(near: try Coordinate(latitude: 37.3293, longitude: -121.8893))
        await fulfillment(of: [reloaded], timeout: 10)
        XCTAssertEqual(controller.tableValues, .fixtures(2))
    }
}

/// Unit tests of the two pure functions.
final class PointOfInterestRequestTests: XCTestCase {
    let request = PointsOfInterestRequest(baseURL: URL(string: "https://api.example.com")!)

    func testMakingURLRequest() throws {
        let coordinate = try Coordinate(latitude: 37.3293, longitude: -121.8893)
        let urlRequest = try request.makeRequest(from: coordinate)
        XCTAssertEqual(urlRequest.url?.scheme, "https")
        XCTAssertEqual(urlRequest.url?.host, "api.example.com")
        XCTAssertEqual(urlRequest.url?.query, "lat=37.3293&long=-121.8893")
    }

    func testParsingResponse() throws {
        let jsonData = try JSONEncoder().encode([PointOfInterest.fixture(name: "My Location")])
        let response = try request.parseResponse(data: jsonData)
        XCTAssertEqual(response, [PointOfInterest.fixture(name: "My Location")])
    }

    /// The talk's own JSON: the service never sends a place without an id, so that is an error here.
    func testParsingAPlaceThatHasOnlyAName() throws {
        let jsonData = "[{\"name\":\"My Location\"}]".data(using: .utf8)!
        XCTAssertThrowsError(try request.parseResponse(data: jsonData)) { error in
            guard case .undecodableBody = (error as? RequestError)?.reason else { return XCTFail("\(error)") }
        }
    }
}

/// An integration test of the loader, on a mock network.
final class APILoaderTests: XCTestCase {
    var loader: APIRequestLoader<PointsOfInterestRequest>!

    override func setUp() {
        let request = PointsOfInterestRequest(baseURL: URL(string: "https://api.example.com")!)

        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [MockURLProtocol.self]
        let urlSession = URLSession(configuration: configuration)
        loader = APIRequestLoader(apiRequest: request, urlSession: urlSession)
    }

    override func tearDown() {
        MockURLProtocol.requestHandler = nil
    }

    func testLoaderSuccess() throws {
        let inputCoordinate = try Coordinate(latitude: 37.3293, longitude: -121.8893)
        let mockJSONData = try JSONEncoder().encode([PointOfInterest.fixture(name: "My Location")])
        MockURLProtocol.requestHandler = { request in
            XCTAssertEqual(request.url?.query?.contains("lat=37.3293"), true)
            return (
                HTTPURLResponse(url: request.url!, statusCode: 200, httpVersion: nil, headerFields: nil)!,
                mockJSONData
            )
        }

        let expectation = XCTestExpectation(description: "response")
        loader.loadAPIRequest(requestData: inputCoordinate) { pointsOfInterest, error in
            XCTAssertEqual(pointsOfInterest, [PointOfInterest.fixture(name: "My Location")])
            expectation.fulfill()
        }
        wait(for: [expectation], timeout: 1)
    }

    /// What the talk's XCTFail says: here the request fails, and the error says why.
    func testLoaderWithoutAHandler() throws {
        let inputCoordinate = try Coordinate(latitude: 37.3293, longitude: -121.8893)
        let expectation = XCTestExpectation(description: "error")
        loader.loadAPIRequest(requestData: inputCoordinate) { pointsOfInterest, error in
            XCTAssertNil(pointsOfInterest)
            XCTAssertEqual(error.map { "\($0)".contains("MockURLProtocol has no handler") }, true)
            expectation.fulfill()
        }
        wait(for: [expectation], timeout: 1)
    }
}

/// The protocol and the loader take any endpoint.
struct UserRequest: APIRequest {
    struct User: Decodable, Equatable {
        let name: String
    }

    func makeRequest(from id: Int) throws -> URLRequest {
        guard let url = URL(string: "https://api.example.com/users/\(id)") else { throw URLError(.badURL) }
        return URLRequest(url: url)
    }

    func parseResponse(data: Data) throws -> User {
        try JSONDecoder().decode(User.self, from: data)
    }
}

final class UserRequestTests: XCTestCase {
    func testLoadingAUser() async throws {
        let session = MockURLProtocol.session { request in
            XCTAssertEqual(request.url?.path, "/users/7")
            return (try .fixture(for: request), Data("{\"name\":\"Ada\"}".utf8))
        }
        let loader = APIRequestLoader(apiRequest: UserRequest(), urlSession: session)
        let user = try await loader.loadAPIRequest(requestData: 7)
        XCTAssertEqual(user, UserRequest.User(name: "Ada"))
    }
}
