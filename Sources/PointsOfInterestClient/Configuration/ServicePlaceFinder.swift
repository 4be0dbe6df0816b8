import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Finds places at the service that a configuration names.
struct ServicePlaceFinder: PlaceFinder {
    private struct Request: APIRequest {
        let baseURL: URL
        let headers: [String: String]

        func makeRequest(from locations: LocationsRequest) throws -> URLRequest {
            var request = try URLRequest.get(EndpointPath.locations, locations.encode(), baseURL: baseURL)
            for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
            return request
        }

        func parseResponse(data: Data) throws -> [PointOfInterest] {
            try JSONDecoder().decode([PointOfInterest].self, from: data)
        }
    }

    let configuration: AppConfiguration
    let urlSession: URLSession

    func places(_ request: LocationsRequest) async throws -> [PointOfInterest] {
        let endpoint = Request(baseURL: configuration.baseURL, headers: try await configuration.headers())
        return try await APIRequestLoader(apiRequest: endpoint, urlSession: urlSession)
            .loadAPIRequest(requestData: request)
    }
}
