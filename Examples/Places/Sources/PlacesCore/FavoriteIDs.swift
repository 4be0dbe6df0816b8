import Foundation

/// The ids of the places that a person has chosen, which survive the app. Each service has its own: another service
/// gives the same ids to other places.
@MainActor
public struct FavoriteIDs {
    private let defaults: UserDefaults
    private let key: String

    /// Makes the ids of a service.
    ///
    /// - Parameters:
    ///   - defaults: where they are kept.
    ///   - baseURL: where the service is.
    public init(defaults: UserDefaults = .standard, baseURL: URL) {
        self.defaults = defaults
        key = "favorites \(baseURL.absoluteString)"
    }

    /// The ids, in the person's order.
    public var ids: [Int] { defaults.array(forKey: key) as? [Int] ?? [] }

    /// Stores the ids in place of those before.
    public func store(_ ids: [Int]) {
        defaults.set(ids, forKey: key)
    }
}
