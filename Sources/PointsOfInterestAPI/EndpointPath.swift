/// The paths of the service's endpoints, below any prefix.
public enum EndpointPath {
    /// The points of interest around a centre, see `LocationsRequest`.
    public static let locations = "/locations"
    /// Answers 200 while the process turns.
    public static let livez = "/livez"
    /// Answers 200 while the process can take requests.
    public static let readyz = "/readyz"
}
