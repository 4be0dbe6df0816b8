import Foundation
import Locking
import PointsOfInterestTesting
import Testing

@testable import PointsOfInterestClient
@testable import PointsOfInterestHTTP

@Suite("A user's identity")
struct UserIdentityTests {
    private let store = MemoryIDStore()
    private let url = URL(fileURLWithPath: "/")

    private func configuration(_ identity: UserIdentity) -> AppConfiguration {
        AppConfiguration(baseURL: url, userID: { identity.current })
    }

    @Test("The id is made once and stays the same from one launch to the next")
    func stays() {
        let id = UserIdentity(store: store).current
        #expect(UUID(uuidString: id) != nil)
        #expect(store.load() == id)
        let next = UserIdentity(store: store)
        #expect(next.current == id)
        #expect(UserIdentity(store: MemoryIDStore()).current != id)
        store.save("other")
        #expect(next.current == id, "the store is read once")
    }

    @Test("Nothing is stored before the id is needed")
    func isLazy() {
        _ = configuration(UserIdentity(store: store))
        #expect(store.load() == nil)
    }

    @Test("Two configurations have the same user, also after the id was rotated")
    func isShared() {
        let identity = UserIdentity(store: store)
        let configurations = [configuration(identity), configuration(identity)]
        let first = Set(configurations.map { $0.userID() })
        #expect(first == [identity.current])
        let new = identity.rotate()
        #expect(!first.contains(new))
        #expect(configurations.map { $0.userID() } == [new, new])
        #expect(UserIdentity(store: store).current == new)
    }

    @Test("An id that no event may have is replaced", arguments: ["", String(repeating: "x", count: 201)])
    func replacesUnusable(id: String) {
        store.save(id)
        let identity = UserIdentity(store: store)
        #expect(UUID(uuidString: identity.current) != nil)
        #expect(store.load() == identity.current)
    }

    @Test("An id of the app's own is used as it is", arguments: ["1", String(repeating: "x", count: 200)])
    func keepsUsable(id: String) {
        #expect(UserIdentity(store: MemoryIDStore(id)).current == id)
    }

    @Test("Threads that need the id at the same time get the same")
    func isThreadSafe() {
        let identity = UserIdentity(store: store)
        let ids = Lock<Set<String>>([])
        DispatchQueue.concurrentPerform(iterations: 200) { _ in
            let id = identity.current
            ids.withLock { _ = $0.insert(id) }
        }
        #expect(ids.withLock { $0 } == [identity.current])
    }

    @Test("An app has one identity, which is in UserDefaults, and unit tests have theirs in memory")
    func hasDefaults() {
        // The app's isn't asked for its id, which would be on the disk.
        #expect(UserIdentity.ofLaunch(isUnitTesting: false) === UserIdentity.shared)
        #expect(UserIdentity.shared.store is UserDefaultsIDStore)
        #expect(UserIdentity.ofLaunch(isUnitTesting: true).store is MemoryIDStore)
        #expect(AppConfiguration.mock.userID() == "user-of-a-test")
        let tests = (0..<2).map { _ in AppConfiguration(baseURL: url, isUnitTesting: true) }
        #expect(tests[0].userID() != tests[1].userID())
        #expect(tests[0].userID() == tests[0].userID())
    }

    @Test("UserDefaults keep the id")
    func isInUserDefaults() {
        let suite = "UserIdentityTests-\(UUID().uuidString)"
        defer {
            UserDefaults.standard.removePersistentDomain(forName: suite)
            UserDefaults(suiteName: suite)?.synchronize()
        }
        let store = UserDefaultsIDStore(suiteName: suite)
        #expect(store.load() == nil)
        let id = UserIdentity(store: store).current
        #expect(UserDefaultsIDStore(suiteName: suite).load() == id)
        #expect(UserDefaults(suiteName: suite)?.string(forKey: "PointsOfInterestClient.userID") == id)
        UserIdentity(store: store).rotate()
        #expect(UserDefaultsIDStore(suiteName: suite).load() != id)
    }

    // On Apple's platforms the system saves by itself.
    #if !canImport(Darwin)
        @Test("An id in UserDefaults is there at the next launch, even if the process is killed at once")
        func outlivesKill() async throws {
            let suite = "UserIdentityTests-\(UUID().uuidString)"
            defer {
                UserDefaults.standard.removePersistentDomain(forName: suite)
                UserDefaults(suiteName: suite)?.synchronize()
            }
            await #expect(processExitsWith: .signal(SIGKILL)) { [suite = suite as String] in
                UserDefaultsIDStore(suiteName: suite).save("kept")
                kill(getpid(), SIGKILL)
            }
            #expect(UserDefaultsIDStore(suiteName: suite).load() == "kept")
        }
    #endif
}
