/// The paths of the service's endpoints, below any prefix.
package enum EndpointPath {
    /// The places around a centre or in a box, see `NearbyPlacesRequest`.
    package static let locations = "/locations"
    /// One place, see `PlaceRequest`; a template whose `{id}` is the place's id.
    package static let location = "/locations/{id}"
    /// How many places are in each cell of a map, see `ClustersRequest`.
    package static let clusters = "/locations/clusters"
    /// The categories, see `CategoryCount`.
    package static let categories = "/categories"
    /// The datasets that places came from, see `Attribution`.
    package static let attributions = "/attributions"
    /// Events, see `EventsRequest`.
    package static let events = "/events"
    /// A page for people about a problem; a template whose `{code}` is a `ProblemCode`.
    package static let problem = "/problems/{code}"
    /// The OpenAPI description of the service.
    package static let openAPI = "/openapi.json"
    /// 200 while the process is alive.
    package static let livez = "/livez"
    /// 200 while the process can take requests.
    package static let readyz = "/readyz"

    /// The path of one place.
    package static func location(id: Int) -> String { "/locations/\(id)" }
}

/// The media types of the contract's bodies.
package enum MediaType {
    /// A response that succeeds, unless the client prefers another form (RFC 8259).
    package static let json = "application/json"
    /// Places as a feature collection (RFC 7946).
    package static let geoJSON = "application/geo+json"
    /// Every problem (RFC 9457).
    package static let problemJSON = "application/problem+json"
}
