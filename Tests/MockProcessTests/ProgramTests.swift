import Foundation
import PointsOfInterestTesting
import ServerProcess
import Testing

@Suite("poi-mock", .timeLimit(.minutes(2)))
struct ProgramTests {
    @Test("poi-mock prints its port in one line of JSON, serves there, and ends in order on SIGTERM")
    func serves() async throws {
        let mock = try await MockServerProcess()
        #expect(
            mock.program.output.lines(of: .standardOutput)
                == [#"{"port":\#(mock.port),"url":"http://127.0.0.1:\#(mock.port)"}"#])
        let service = PointsOfInterestService(baseURL: mock.baseURL, retryPolicy: .never)
        #expect(try await service.health().status == "ready")
        #expect(try await service.place(id: 84).name == "San Jose McEnery Convention Center")
        #expect(try await mock.stop() == 0)
        #expect(mock.program.output.lines(of: .standardError).last?.contains(#""event":"stopped""#) == true)
    }

    @Test("Each program says its version, the same one")
    func version() async throws {
        let poi = try await PoiProgram.run(["--version"])
        let mock = try await PoiProgram.run(["--version"], of: PoiProgram.mock)
        #expect(poi.exitCode == 0 && mock.exitCode == 0)
        let version = try #require(poi.standardOutput.first?.wholeMatch(of: /poi (\d+\.\d+\.\d+)/)?.1)
        #expect(mock.standardOutput == ["poi-mock \(version)"])
    }

    @Test("poi-mock ends with its standard input only with --until-stdin-closes")
    func endsWithItsInput() async throws {
        // The supervisor of the tests leaves the program a standard input that has ended.
        let mock = try await MockServerProcess(["--until-stdin-closes"])
        #expect(try await mock.program.exitCode() == 0)
        let other = try await MockServerProcess()
        #expect(try await other.stop() == 0)
    }

    @Test("poi-mock serves the places of a file")
    func readsAFile() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = folder.path + "/places.json"
        try JSONEncoder().encode([PointOfInterest.fixture(id: 5, name: "Only")]).write(
            to: URL(filePath: path))
        let mock = try await MockServerProcess(["--fixtures", path])
        let service = PointsOfInterestService(baseURL: mock.baseURL)
        let here = try Coordinate(latitude: 0, longitude: 0)
        #expect(
            try await service.nearbyPlaces(NearbyPlacesRequest(center: here)).places.map(\.name) == ["Only"])
        #expect(try await mock.stop() == 0)
    }

    @Test("poi-mock refuses unusable fixtures and options in one line, with exit code 64")
    func refusesBadCalls() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = folder.path + "/places.json"
        try Data(#"[{"id":1,"name":"A","category":"cafe","latitude":1}]"#.utf8).write(to: URL(filePath: path))
        for (arguments, line) in [
            (["--fixtures", path], "poi-mock: --fixtures \(path): [0].longitude is missing"),
            (["--fixtures", "/nowhere"], "poi-mock: --fixtures /nowhere: can't be read: "),
            (["--loops", "2"], "poi-mock: --loops means nothing to poi-mock"),
            (["--prot", "1"], "poi-mock: unknown option --prot"),
            (["--port", "65536"], "poi-mock: --port=65536: expected a whole number from 0 to 65535"),
            (["serve"], "poi-mock: unexpected serve"),
        ] {
            let result = try await PoiProgram.run(arguments, of: PoiProgram.mock)
            #expect(result.exitCode == 64)
            #expect(result.standardOutput.isEmpty)
            #expect(result.standardError.count == 1)
            #expect(result.standardError.first?.hasPrefix(line) == true, "\(result.standardError)")
        }
    }
}

@Suite("The mock's seed", .timeLimit(.minutes(2)))
struct SeedTests {
    /// All places as their details have them, but for when they were changed.
    private func everything(_ baseURL: URL) async throws -> [PointOfInterest] {
        let service = PointsOfInterestService(baseURL: baseURL)
        let box = try #require(BoundingBox(west: -180, south: -90, east: 180, north: 90))
        var places: [PointOfInterest] = []
        for try await place in service.allNearbyPlaces(NearbyPlacesRequest(box: box, limit: 100)) {
            places.append(try await service.place(id: place.id).withoutLastChange)
        }
        return places
    }

    @Test("The mock's seed is that of a new database, ids included; else run scripts/record/record-seed")
    func isTheDatabases() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let server = try await ServerProcess.dev(in: folder)
        let mock = try await MockServerProcess()
        let places = try await everything(server.baseURL)
        #expect(places.count > 200)
        #expect(try await everything(mock.baseURL) == places)
        let categories = try await PointsOfInterestService(baseURL: server.baseURL).categories()
        #expect(try await PointsOfInterestService(baseURL: mock.baseURL).categories() == categories)
        try await server.stop()
        try await mock.stop()
    }
}

extension PointOfInterest {
    fileprivate var withoutLastChange: PointOfInterest {
        PointOfInterest(
            id: id, name: name, category: category, latitude: latitude, longitude: longitude,
            featured: featured, distance: distance, address: address, website: website, source: source,
            importance: importance, properties: properties, language: language, matchedName: matchedName,
            leftOut: leftOut, operatingStatus: operatingStatus)
    }
}
