import Foundation

/// An error of a location manager.
public struct CLError: Error, CustomNSError {
    /// What went wrong.
    public enum Code: Int, Sendable {
        /// There is no fix at the moment.
        case locationUnknown = 0
        /// The person refused.
        case denied = 1
        /// The network was needed and not there.
        case network = 2
    }

    /// `kCLErrorDomain`.
    public static var errorDomain: String { kCLErrorDomain }

    /// What went wrong.
    public let code: Code

    /// Makes an error.
    public init(_ code: Code) {
        self.code = code
    }

    /// The code's number.
    public var errorCode: Int { code.rawValue }
}
