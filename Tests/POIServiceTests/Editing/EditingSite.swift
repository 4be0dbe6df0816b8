import Bytes
import Foundation
import HTTPServer
import Hashing
import MockService
import Places
import PointsOfInterestAPI
import SpatialIndex

@testable import POIService

/// A file of editors, which goes with this object.
final class EditorsFile {
    static let key = "ada-has-this-key-0"

    let url = FileManager.default.temporaryDirectory.appending(path: "editors-\(UUID())")

    /// A file with Ada Lovelace, whose key is `key`.
    convenience init() throws { try self.init(Self.line("Ada Lovelace", Self.key)) }

    init(_ text: String) throws { try write(text) }

    func write(_ text: String) throws { try Data(text.utf8).write(to: url) }

    static func line(_ name: String, _ key: String) -> String {
        "\(name) \(SHA256.digest(of: Array(key.utf8)).hexadecimal)\n"
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}

/// A service that lets Ada Lovelace edit three places in memory.
struct EditingSite {
    let service: ServiceSite
    /// What readers get; it doesn't have the edits.
    let places = StubStore()
    private let file = try? EditorsFile()

    static let fixtures = #"""
        [{"id": 5, "name": "Test Cafe", "category": "cafe", "latitude": 1, "longitude": 2, "version": 7,
          "source": {"dataset": "cafes", "id": "c-5", "license": "CC0-1.0"}, "properties": {"phone": "1"}},
         {"id": 6, "name": "Café", "category": "cafe", "latitude": 1, "longitude": 2, "address": "1 Main St"},
         {"id": 9, "name": "Museum", "category": "museum", "latitude": 3, "longitude": 4}]
        """#
    static let mergePatch = "application/merge-patch+json"

    init(_ environment: [String: String] = [:], edits: (any EditStore)? = nil) throws {
        let fixtures = try Fixtures(json: Array(Self.fixtures.utf8))
        // Tests are faster than people.
        var environment = environment.merging(["POI_EDITOR_RATE_LIMIT": "1000/s"]) { own, _ in own }
        environment["POI_EDITORS_FILE"] = environment["POI_EDITORS_FILE"] ?? file?.url.path
        service = try ServiceSite(
            places, edits: edits ?? MemoryEditStore(fixtures, servedBy: fixtures.index),
            environment: environment)
    }

    /// Sends a request as Ada does, with what else a request of its method has.
    ///
    /// - Parameters:
    ///   - ifMatch: nil for none.
    ///   - headers: a field of a name that the request has otherwise takes its place.
    func ask(
        _ target: String, _ method: HTTPMethod = .get, _ body: String = "", ifMatch: String? = "*",
        headers: HTTPHeaders = [:], key: String? = EditorsFile.key, from address: String? = nil
    ) async throws -> HTTPResponse {
        var fields = headers
        if let key { fields.add(.authorization, "Bearer \(key)") }
        if method == .patch || method == .delete || target.hasSuffix("/restore")
            || target.hasSuffix("/merge"),
            let ifMatch
        {
            fields.add(.ifMatch, ifMatch)
        }
        if !body.isEmpty, !headers.contains(.contentType) {
            fields.add(.contentType, method == .patch ? Self.mergePatch : MediaType.json)
        }
        return try await service.ask(
            target, method, headers: fields, body: Array(body.utf8), from: address)
    }
}

extension HTTPResponse {
    /// The record of a place.
    func record() throws -> [String: JSONValue] {
        try JSONDecoder().decode([String: JSONValue].self, from: Data(body))
    }
}
