import PointsOfInterestServerAPI
import HTTPServer
import PointsOfInterestAPI
import Testing

@testable import POIService
@testable import Places

@Suite("Responses without a task")
struct ImmediateResponseTests {
    private static let places = (1...40).map {
        PointOfInterest(
            id: $0, name: "Place \"\($0)\"", category: "park", latitude: 0, longitude: Double($0) / 7,
            distance: Double($0) * 12.34)
    }

    private func makeStore() throws -> StubStore {
        let store = StubStore { (_) throws(PlaceStoreError) in Self.places }
        store.places = Self.places
        store.vocabulary = FilterVocabulary(categories: ["park"])
        store.currentDatasetID = DatasetID(high: 1, low: 2)
        store.end = PagePosition(distanceMeters: 1234.5, id: 7, count: 20)
        store.respondsAtOnce = true
        return store
    }

    private static let targets = [
        "/locations?lat=1&long=2", "/locations?lat=1&long=2&limit=5&category=park&featured=true&q=a%20b",
        "/locations?bbox=-1,-1,1,1", "/locations/7", "/locations/7?lat=1&long=2",
    ]

    @Test(
        "A response without a task is the same as with one, and needs no query of the store",
        arguments: targets,
        [
            [:], [.accept: "*/*"], [.accept: "application/geo+json"], [.accept: "application/JSON"],
            [.acceptEncoding: "gzip, deflate"], [.acceptEncoding: "gzip;q=0"], [.ifMatch: "*"],
        ] as [HTTPHeaders])
    func sameResponse(target: String, headers: HTTPHeaders) async throws {
        let store = try makeStore()
        let site = try ServiceSite(store)
        let immediate = try #require(try site.askAtOnce(target, headers: headers))
        #expect(store.requests.isEmpty)
        let response = try await site.ask(target, headers: headers)
        #expect(immediate.status == .ok)
        #expect(immediate.status == response.status)
        #expect(immediate.body == response.body)
        #expect(
            immediate.headers.map { "\($0.name): \($0.value)" }
                == response.headers.map { "\($0.name): \($0.value)" })

        var conditional = headers
        conditional.add(.ifNoneMatch, try #require(response.headers.first(.eTag)))
        let unchanged = try #require(try site.askAtOnce(target, headers: conditional))
        #expect(unchanged.status == .notModified)
        #expect(unchanged.headers.first(.eTag) == response.headers.first(.eTag))
    }

    @Test("A store that has to be read is left to the task", arguments: targets)
    func notAtOnce(target: String) throws {
        let store = try makeStore()
        store.respondsAtOnce = false
        #expect(try ServiceSite(store).askAtOnce(target) == nil)
    }

    @Test("A category that may be new is left to the task, which asks for it")
    func newCategory() async throws {
        let store = try makeStore()
        store.freshVocabulary = FilterVocabulary(categories: ["park", "zoo"])
        let site = try ServiceSite(store)
        #expect(try site.askAtOnce("/locations?lat=1&long=2&category=zoo") == nil)
        #expect(try await site.ask("/locations?lat=1&long=2&category=zoo").status == .ok)
        store.vocabulary = nil
        #expect(try site.askAtOnce("/locations?lat=1&long=2&category=park") == nil)
        #expect(try site.askAtOnce("/locations?lat=1&long=2")?.status == .ok)
    }

    @Test("Faults are found at once")
    func faults() throws {
        let site = try ServiceSite(makeStore())
        #expect(throws: ParameterError.self) { try site.askAtOnce("/locations?lat=x&long=2") }
        #expect(throws: HTTPError.self) { try site.askAtOnce("/locations/0") }
        #expect(throws: HTTPError.self) { try site.askAtOnce("/locations/99") }
        #expect(throws: HTTPError.self) {
            try site.askAtOnce("/locations?lat=1&long=2", headers: [.accept: "text/html"])
        }
    }

    @Test(
        "The coordinates of a request are noted once, by whichever handler responds, also with a 304",
        arguments: [
            ("/locations?bbox=0,0,1,1&lat=1&long=2", ["1.0,2.0", "0.0,0.0,1.0,1.0"]),
            ("/locations/7?lat=1&long=2", ["1.0,2.0"]),
            ("/locations/clusters?bbox=0,0,1,1&zoom=3", ["0.0,0.0,1.0,1.0"]),
            ("/locations/digest?bbox=0,0,1,1", ["0.0,0.0,1.0,1.0"]),
        ], [false, true])
    func notes(request: (target: String, notes: [String]), asksAtOnce: Bool) async throws {
        let store = try makeStore()
        store.respondsAtOnce = asksAtOnce
        let site = try ServiceSite(
            store, environment: ["POI_LOG_COORDINATES": "full", "POI_DIGEST_MAX_PLACES": "100"])
        var headers: HTTPHeaders = [:]
        for status in [HTTPStatus.ok, .notModified] {
            let context = RequestContext(requestID: "id-1")
            let response = try await site.ask(request.target, headers: headers, in: context)
            #expect(response.status == status)
            #expect(context.logNotes.map(\.value) == request.notes)
            headers = [.ifNoneMatch: try #require(response.headers.first(.eTag))]
        }
    }
}
