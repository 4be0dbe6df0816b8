import Foundation

/// A launch argument or an environment variable that can't be used.
public enum AppConfigurationError: Error, Hashable, Sendable {
    /// The argument stands last, without its value.
    case missingValue(name: String)
    /// The value is not what the setting takes, which `expected` tells.
    case invalidValue(name: String, expected: String)
}

extension AppConfigurationError: LocalizedError {
    /// A sentence for people; without the value, which may be a secret.
    public var errorDescription: String? {
        switch self {
        case .missingValue(let name): "\(name) has no value."
        case .invalidValue(let name, let expected): "\(name) must be \(expected)."
        }
    }
}
