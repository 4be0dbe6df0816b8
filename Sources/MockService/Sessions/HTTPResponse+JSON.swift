import Foundation
import HTTPServer
import PointsOfInterestAPI

extension HTTPResponse {
    /// The answer with a value as JSON, for the mock's own requests, which are few.
    static func json(_ value: some Encodable) throws -> HTTPResponse {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return HTTPResponse(
            .ok, headers: [.contentType: MediaType.json, .cacheControl: "no-store"],
            body: Array(try encoder.encode(value)))
    }
}
