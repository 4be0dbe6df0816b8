/// The media types of the contract's bodies.
public enum MediaType {
    /// Every successful answer (RFC 8259).
    public static let json = "application/json"
    /// Every error's answer (RFC 9457).
    public static let problemJSON = "application/problem+json"
}
