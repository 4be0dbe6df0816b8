import Foundation

/// Why a device could not tell where it is: an error of the system's, as a value.
public struct LocationFailure: Error, Hashable, Sendable {
    /// The error's domain, `kCLErrorDomain` where it is Core Location's.
    public var domain: String
    /// The error's code in its domain.
    public var code: Int
    /// What the system says, for people.
    public var reason: String
    /// Whether the person refused, rather than the device failed.
    public var isDenied: Bool

    /// Makes a failure.
    public init(domain: String, code: Int, reason: String, isDenied: Bool = false) {
        self.domain = domain
        self.code = code
        self.reason = reason
        self.isDenied = isDenied
    }
}
