/// The media types of the contract's bodies.
public enum MediaType {
    /// A successful answer, unless another is asked for (RFC 8259).
    public static let json = "application/json"
    /// Places as a feature collection (RFC 7946).
    public static let geoJSON = "application/geo+json"
    /// Every error's answer (RFC 9457).
    public static let problemJSON = "application/problem+json"
}
