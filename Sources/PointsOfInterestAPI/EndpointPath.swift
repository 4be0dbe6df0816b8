/// The paths of the service's endpoints, below any prefix.
public enum EndpointPath {
    /// The points of interest around a centre, see `NearbyPlacesRequest`.
    public static let locations = "/locations"
    /// One point of interest, see `PlaceRequest`; a template whose `{id}` is the place's id.
    public static let location = "/locations/{id}"
    /// The categories, see `CategoriesRequest`.
    public static let categories = "/categories"
    /// What apps tell of their use, see `EventsRequest`.
    public static let events = "/events"
    /// What a problem of a code means, for people; a template whose `{code}` is a `ProblemCode`.
    public static let problem = "/problems/{code}"
    /// The OpenAPI description of the service.
    public static let openAPI = "/openapi.json"
    /// Answers 200 while the process turns.
    public static let livez = "/livez"
    /// Answers 200 while the process can take requests.
    public static let readyz = "/readyz"

    /// The path of one point of interest.
    public static func location(id: Int) -> String { "/locations/\(id)" }
}
