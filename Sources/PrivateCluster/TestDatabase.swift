import Foundation
import Locking

/// A fresh database for one test or suite, in the one ephemeral cluster that a test process has.
///
/// The cluster starts with the first database; it stops, and is removed, with the process.
public struct TestDatabase: Sendable {
    private static let sharedCluster = Result {
        let cluster = PrivateCluster(ephemeralWith: ["max_connections": "1500"])
        try cluster.start()
        return cluster
    }
    private static let count = Lock(0)

    /// The cluster that this process's tests share: not to be stopped or crashed by any of them.
    public let cluster: PrivateCluster
    /// The database's name, unique in the process.
    public let name: String
    /// A libpq URI for it.
    public let connectionString: String

    /// Makes a new database, as a copy of `template` if given, which then must have no session.
    public init(template: TestDatabase? = nil) throws {
        cluster = try Self.sharedCluster.get()
        let number = Self.count.withLock { count in
            count += 1
            return count
        }
        name = "test_\(number)"
        connectionString = try cluster.connectionString(database: name)
        try cluster.createDatabase(name, template: template?.name)
    }

    /// Runs SQL in it through `psql`; see ``PrivateCluster/execute(_:database:)``.
    @discardableResult
    public func execute(_ sql: String) throws -> String {
        try cluster.execute(sql, database: name)
    }

    /// Removes it, ending the sessions in it. What isn't dropped is removed with the cluster.
    public func drop() throws {
        try cluster.dropDatabase(name)
    }
}
