/// Whether an app may know where its device is.
public enum LocationAuthorization: Hashable, Sendable {
    /// The person has not been asked yet.
    case notDetermined
    /// The person can't allow it: parental controls, or a managed device.
    case restricted
    /// The person refused, or has switched location services off.
    case denied
    /// The person allowed a rough position only, a few kilometres wide.
    case reducedAccuracy
    /// The person allowed it.
    case fullAccuracy
}
