import Foundation
import Locking

/// The id that an app's tracking events carry: random, made once, and kept from one launch to the next.
///
/// It says nothing about the person, and two installations have different ones. Use one identity for each store, since
/// it reads its store only once. Methods may be called on any thread.
public final class UserIdentity: Sendable {
    /// The identity of the app, which `AppConfiguration.userID` uses by default. Its store is `UserDefaults.standard`.
    public static let shared = UserIdentity(store: UserDefaultsIDStore())

    /// Returns the identity of a launch; one for unit tests is in memory.
    static func ofLaunch(isUnitTesting: Bool) -> UserIdentity {
        isUnitTesting ? UserIdentity() : shared
    }

    let store: any UserIDStore
    private let known = Lock<String?>(nil)

    /// Makes an identity that is kept in memory: for tests, and for apps that want a new id with each launch.
    public convenience init() {
        self.init(store: MemoryIDStore())
    }

    /// Makes an identity. It reads the store when its id is first needed.
    public init(store: any UserIDStore) {
        self.store = store
    }

    /// The id, 1 to 200 bytes. If there is none in the store, a new one is made and stored.
    public var current: String {
        known.withLock { known in
            if let known { return known }
            if let stored = store.load(), stored.isUserID {
                known = stored
                return stored
            }
            return Self.renew(&known, in: store)
        }
    }

    /// Replaces the id by a new one, for instance when the person signs out or withdraws consent.
    ///
    /// Nothing connects later events with earlier ones. Events that were tracked before keep the former id, also those
    /// that still wait in the queue.
    ///
    /// - Returns: the new id.
    @discardableResult
    public func rotate() -> String {
        known.withLock { Self.renew(&$0, in: store) }
    }

    private static func renew(_ known: inout String?, in store: any UserIDStore) -> String {
        let id = UUID().uuidString
        store.save(id)
        known = id
        return id
    }
}

/// Keeps a user's id from one launch to the next. Called on any thread, by one caller at a time.
public protocol UserIDStore: Sendable {
    /// Returns the id; nil where there is none, or where it can't be read.
    func load() -> String?

    /// Replaces the id.
    func save(_ id: String)
}

/// Keeps the id in `UserDefaults.standard`, which the client's privacy manifest declares (reason CA92.1). There it is
/// part of the device's backups, and goes when the app is deleted.
struct UserDefaultsIDStore: UserIDStore {
    private let suiteName: String?
    private let key: String

    init(suiteName: String? = nil, key: String = "PointsOfInterestClient.userID") {
        self.suiteName = suiteName
        self.key = key
    }

    func load() -> String? { defaults.string(forKey: key) }

    func save(_ id: String) {
        let defaults = defaults
        defaults.set(id, forKey: key)
        // On Apple's platforms the system saves by itself, and Apple's documentation says not to call `synchronize()`.
        #if !canImport(Darwin)
            defaults.synchronize()
        #endif
    }

    /// It is computed, not stored: `UserDefaults` isn't `Sendable`, although its methods may be called on any thread.
    private var defaults: UserDefaults { suiteName.flatMap { UserDefaults(suiteName: $0) } ?? .standard }
}

/// Keeps the id in memory.
final class MemoryIDStore: UserIDStore {
    private let id: Lock<String?>

    init(_ id: String? = nil) {
        self.id = Lock(id)
    }

    func load() -> String? { id.withLock { $0 } }

    func save(_ id: String) { self.id.withLock { $0 = id } }
}
