import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// `GET /locations/digest`: loads sums of places, or the places of some buckets, as the bytes of a response.
package struct DigestEndpoint: ServiceRequest, Hashable {
    /// An app adds the header fields to it that it adds to lists: it gives the same places.
    static var endpoint: ServiceEndpoint { .nearbyPlaces }

    package var baseURL: URL

    package init(baseURL: URL) {
        self.baseURL = baseURL
    }

    package func makeRequest(from request: DigestRequest) throws -> URLRequest {
        try URLRequest.get(EndpointPath.digest, request.encodedQuery, baseURL: baseURL)
    }

    package func parseResponse(data: Data) throws -> Data { data }

    package func parseResponse(data: Data, head: ResponseHead) throws -> Data {
        guard head.mediaType == MediaType.json else {
            throw RequestError.undecodableBody(reason: "a digest is \(MediaType.json)")
        }
        return data
    }
}

extension PointsOfInterestService {
    /// `GET /locations/digest`: loads a part of a digest. It isn't kept: who asks keeps the places.
    ///
    /// - Throws: `RequestError`; `.problem` with the code `.areaTooLarge` where the filter has too many places, and with
    ///   `.unknownPath` where the service has no digests.
    package func digest(_ request: DigestRequest) async throws -> Data {
        try await keepingNothing.loader(for: DigestEndpoint(baseURL: baseURL))
            .loadAPIRequest(requestData: request)
    }
}
