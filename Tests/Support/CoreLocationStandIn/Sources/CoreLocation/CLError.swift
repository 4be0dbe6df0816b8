import Foundation

public struct CLError: Error, CustomNSError {
    public enum Code: Int, Sendable {
        case locationUnknown = 0
        case denied = 1
        case network = 2
    }

    public static var errorDomain: String { kCLErrorDomain }

    public let code: Code

    public init(_ code: Code) {
        self.code = code
    }

    public var errorCode: Int { code.rawValue }
}
