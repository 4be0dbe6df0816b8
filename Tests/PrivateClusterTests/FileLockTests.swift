import Foundation
import Locking
import Testing

@testable import PrivateCluster

@Suite("The lock on a file", .timeLimit(.minutes(1)))
struct FileLockTests {
    let path: String
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        path = folder.cluster.path()
    }

    // Only Linux lists who waits for a lock (proc_locks(5)).
    #if os(Linux)
        @Test("Who takes a lock waits for its holder, and has it then")
        func waiting() async throws {
            var first = try FileLock.acquireIfFree(path: path)
            try #require(first != nil)
            let file = try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber]
            let number = try #require(file as? NSNumber).uint64Value
            let hasReturned = Lock(false)
            async let isExclusive = withCheckedThrowingContinuation { continuation in
                Thread.detachNewThread { [path] in
                    continuation.resume(
                        with: Result {
                            let second = try FileLock.acquire(path: path)
                            hasReturned.withLock { $0 = true }
                            return try withExtendedLifetime(second) {
                                try FileLock.acquireIfFree(path: path) == nil
                            }
                        })
                }
            }
            while try !Self.isWaitedFor(number), !hasReturned.withLock({ $0 }) {
                try Task.checkCancellation()
                await Task.yield()
            }
            #expect(!hasReturned.withLock { $0 })
            withExtendedLifetime(first) {}
            first = nil
            #expect(try await isExclusive)
        }

        private static func isWaitedFor(_ number: UInt64) throws -> Bool {
            try String(contentsOfFile: "/proc/locks", encoding: .utf8).split(separator: "\n").contains {
                $0.contains("-> FLOCK") && $0.contains(":\(number) ")
            }
        }
    #endif
}
