import Foundation
import PointsOfInterestClient
import Testing

struct RefusedQuery: Sendable, CustomTestStringConvertible {
    let query: String
    let faults: [String: ProblemCode]

    init(_ query: String, _ faults: [String: ProblemCode]) {
        self.query = query
        self.faults = faults
    }

    var testDescription: String { query }

    static let all = [
        RefusedQuery("lat=91&long=120", ["lat": .outOfRange]),
        RefusedQuery("lat=91&long=0", ["lat": .swappedCoordinates]),
        RefusedQuery("lat=abc&long=0", ["lat": .notANumber]),
        RefusedQuery("lat=NaN&long=0", ["lat": .notANumber]),
        RefusedQuery("lat=Infinity&long=0", ["lat": .notANumber]),
        RefusedQuery("lat=0x1p3&long=0", ["lat": .notANumber]),
        RefusedQuery("lat=+1&long=0", ["lat": .notANumber]),
        RefusedQuery("lat=1e999&long=0", ["lat": .outOfRange]),
        RefusedQuery("lat=&long=0", ["lat": .emptyParameter]),
        RefusedQuery("lat=0", ["long": .missingParameter]),
        RefusedQuery("", ["lat": .missingParameter, "long": .missingParameter]),
        RefusedQuery("lat=0&lon=0", ["lon": .unknownParameter, "long": .missingParameter]),
        RefusedQuery("lat=0&long=0&lat=0", ["lat": .repeatedParameter]),
        RefusedQuery("lat=0&long=181", ["long": .outOfRange]),
        RefusedQuery("lat=0&long=0&q=a&sort=distance", ["sort": .unknownSort]),
        RefusedQuery("lat=0&long=0&sort=relevance", ["q": .missingParameter]),
        RefusedQuery("q=a&sort=relevance&lat=0", ["long": .missingParameter]),
        RefusedQuery("q=a&sort=relevance&radius=5", ["lat": .missingParameter, "long": .missingParameter]),
        RefusedQuery("ids=1&sort=relevance", ["sort": .conflictingParameters]),
        RefusedQuery("lat=0&long=0&limit=0", ["limit": .outOfRange]),
        RefusedQuery("lat=0&long=0&limit=101", ["limit": .outOfRange]),
        RefusedQuery("lat=0&long=0&limit=1.5", ["limit": .notAnInteger]),
        RefusedQuery("lat=0&long=0&limit=99999999999999999999", ["limit": .outOfRange]),
        RefusedQuery("lat=0&long=0&radius=-1", ["radius": .outOfRange]),
        RefusedQuery("lat=0&long=0&radius=0", ["radius": .outOfRange]),
        RefusedQuery("lat=0&long=0&radius=20037509", ["radius": .outOfRange]),
        RefusedQuery("lat=0&long=0&featured=1", ["featured": .notABoolean]),
        RefusedQuery("lat=0&long=0&featured=True", ["featured": .notABoolean]),
        RefusedQuery("lat=0&long=0&q=\(String(repeating: "x", count: 101))", ["q": .outOfRange]),
        RefusedQuery("lat=0&long=0&radius=5&bbox=1,2,3,4", ["radius": .conflictingParameters]),
        RefusedQuery("bbox=1,2,3", ["bbox": .malformedBox]),
        RefusedQuery("bbox=1,4,3,2", ["bbox": .malformedBox]),
        RefusedQuery("lat=0&long=0&properties=", ["properties": .emptyParameter]),
        RefusedQuery(
            "lat=0&long=0&properties=\((1...21).map { "a\($0)" }.joined(separator: ","))",
            ["properties": .tooManyValues]),
        RefusedQuery("lat=0&long=0&properties=a&properties=b", ["properties": .repeatedParameter]),
        RefusedQuery("lat=0&long=0&lang=", ["lang": .emptyParameter]),
        RefusedQuery("lat=0&long=0&lang=e", ["lang": .malformedLanguage]),
        RefusedQuery("lat=0&long=0&lang=en,*", ["lang": .malformedLanguage]),
        RefusedQuery("lat=0&long=0&lang=en_US", ["lang": .malformedLanguage]),
        RefusedQuery("lat=0&long=0&lang=aa,bb,cc,dd,ee,ff,gg,hh,ii,jj,kk", ["lang": .tooManyValues]),
        RefusedQuery("lat=0&long=0&colour=red", ["colour": .unknownParameter]),
        RefusedQuery("lat=0&long=0&=3", ["": .unknownParameter]),
        RefusedQuery("lat=-121.8893&long=37.3293", ["lat": .swappedCoordinates]),
        RefusedQuery("lat=%00&long=0", ["lat": .malformedEncoding]),
        RefusedQuery("lat=%FF&long=0", ["lat": .malformedEncoding]),
        RefusedQuery(
            "lat=91&limit=0", ["lat": .outOfRange, "long": .missingParameter, "limit": .outOfRange]),
    ]
}

@Suite("Requests that the service refuses", .timeLimit(.minutes(2)))
struct ProblemTests {
    @Test(
        "The problem of a wrong query has every fault, each with parameter and code",
        .contract(
            .invariant, .recorded, in: .problems,
            otherwise: "The app's form marks the wrong field, or one of two."), arguments: RefusedQuery.all)
    func refusal(refused: RefusedQuery) async throws {
        let problem = try #require(await Service.problem(of: "/locations?\(refused.query)"))
        #expect(problem.status == 400)
        #expect(
            Dictionary(uniqueKeysWithValues: problem.errors.map { ($0.parameter, $0.code) }) == refused.faults
        )
        let codes = Set(refused.faults.values)
        #expect(problem.code == (codes.count == 1 ? codes.first : .invalidParameters))
        #expect(problem.type == "/problems/\(problem.code.rawValue)")
        #expect(problem.errors.allSatisfy { !$0.detail.isEmpty })
        #expect(problem.requestId?.isEmpty == false)
    }

    @Test(
        "The service refuses options that the client passes on without checking them",
        .contract(
            .invariant, .recorded, in: .problems,
            otherwise: "A mistake in the app's code looks like a list without places."))
    func clientOptions() async throws {
        let center = try Coordinate(latitude: 0, longitude: 0)
        await #expect(throws: (any Error).self) { try await Service.places(around: center, limit: 0) }
        do {
            _ = try await Service.places(around: center, radius: -1, limit: 101)
            Issue.record("the service took a negative radius")
        } catch let error as RequestError {
            let problem = try #require(error.problem, "\(error)")
            #expect(Set(problem.errors.map(\.parameter)) == ["radius", "limit"])
        }
    }

    @Test(
        "Every route for data refuses a parameter that it doesn't have",
        .contract(
            .invariant, in: .conventions,
            otherwise: "A misspelt parameter is ignored, and the app shows what was not asked for."),
        arguments: Service.targets.filter { $0.hasPrefix("/locations") } + ["/categories", "/attributions"])
    func unknownParameter(target: String) async throws {
        let target = try await Service.resolved(target)
        let problem = try #require(
            await Service.problem(of: target + (target.contains("?") ? "&" : "?") + "colour=red"))
        #expect(problem.status == 400)
        #expect(problem.code == .unknownParameter)
        #expect(problem.errors.map(\.parameter) == ["colour"])
    }

    @Test(
        "A zoom out of range is refused",
        .contract(
            .invariant, in: .clusters, otherwise: "A map that zooms too far gets other cells than it draws."),
        arguments: ["23", "-1", "99999999999999999999"])
    func zoom(zoom: String) async throws {
        let problem = try #require(await Service.problem(of: "/locations/clusters?bbox=1,2,3,4&zoom=\(zoom)"))
        #expect(problem.status == 400)
        #expect(problem.code == .outOfRange)
        #expect(problem.errors.map(\.parameter) == ["zoom"])
    }

    @Test(
        "A path that doesn't exist is a 404 problem",
        .contract(
            .invariant, .recorded, in: .problems,
            otherwise: "An app with a wrong base URL says that a place is gone."),
        arguments: ["/location", "/locations/", "/LOCATIONS"])
    func notFound(path: String) async throws {
        let problem = try #require(await Service.problem(of: path))
        #expect(problem.status == 404)
        #expect(problem.code == .unknownPath)
        #expect(problem.errors.isEmpty)
    }

    @Test(
        "A path that is an encoded dot is an unknown path",
        .contract(.invariant, .ownSettings, in: .problems, otherwise: "A path leads elsewhere than it says."))
    func dot() async throws {
        // Proxies may take it out of the path, and are right.
        #expect(try await Service.problem(of: "/%2e")?.code == .unknownPath)
    }

    @Test(
        "A method that a path doesn't have is a 405 problem with Allow",
        .contract(
            .invariant, in: .problems,
            otherwise: "A mistake in the app's code looks like a service that is down."),
        arguments: ["POST", "PUT", "PATCH", "DELETE"], ["/categories", "/livez", "/readyz"])
    func methodNotAllowed(method: String, path: String) async throws {
        let response = try await Service.response(to: path, method: method)
        #expect(response.status == 405)
        #expect(Set(response.list("Allow")).isSuperset(of: ["get", "head"]))
        #expect(try response.problem.code == .methodNotAllowed)
    }

    @Test(
        "Names and values may be percent-encoded",
        .contract(
            .invariant, .recorded, in: .conventions,
            otherwise: "A client whose library encodes more than it has to gets a problem or another list."))
    func percentEncoding() async throws {
        let response = try await Service.response(to: "/locations?l%61t=1%2E5&long=%2B2&l%69mit=5")
        #expect(response.status == 200)
        #expect(try await Service.response(to: "/locations?lat=1.5&long=2&limit=5").body == response.body)
    }
}
