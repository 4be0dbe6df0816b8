import EventLoop
import PlaceImport
import Postgres

/// Edits places as a person: corrections that imports keep, removals that imports don't bring back, and what undoes them. The
/// rule is in the database's functions, so that every way to edit has the same one.
package struct CommandEditor: Sendable {
    private let configuration: PostgresConfiguration
    private let editor: String
    private let expectedVersion: Int64?

    /// An editor of the database that `database` leads to, as the tables' owner. It waits for an import that changes the place.
    ///
    /// - Parameters:
    ///   - editor: whose name the history gets.
    ///   - expectedVersion: a place that has another version isn't changed; nil for whatever it has.
    package init(_ database: DatabaseConfiguration, as editor: String, expectedVersion: Int64? = nil) {
        // An import holds the rows that it changes until its end.
        configuration = database.postgresWithoutTimeout
        (self.editor, self.expectedVersion) = (editor, expectedVersion)
    }

    private var signature: [PostgresValue] {
        [expectedVersion.map { .int8($0) } ?? .null(.int8), .text(editor)]
    }

    /// Corrects members, and takes corrections of others back. Blocks, as all of these do.
    ///
    /// - Parameters:
    ///   - changes: JSON of an object, a value for each member; null takes a value away.
    ///   - resets: members that show what the source says again; `names` and `properties` are all that begin so.
    /// - Throws: `CommandError` where there is no such place, it has another version, or a value isn't one that it may have.
    package func correct(_ id: Int64, _ changes: String = "{}", resetting resets: [String] = []) throws {
        try run(
            "SELECT correct_place($1, $2::jsonb, $3, $4, $5)",
            [.int8(id), .text(changes), .textArray(resets)] + signature)
    }

    package func remove(_ id: Int64) throws {
        try run("SELECT remove_place($1, $2, $3)", [.int8(id)] + signature)
    }

    /// Shows what the place was in a version; a removed one comes back.
    package func restore(_ id: Int64, to version: Int64) throws {
        try run("SELECT restore_place($1, $2, $3, $4)", [.int8(id), .int8(version)] + signature)
    }

    /// Removes a place that is the same as another one, which gets what it lacks.
    package func merge(_ id: Int64, into other: Int64) throws {
        let expected = signature
        try run(
            "SELECT merge_places($1, $2, $3, NULL, $4)", [.int8(id), .int8(other), expected[0], expected[1]])
    }

    /// Merges pairs, each by an edit of its own, unless a place has another version than the list says by other edits than these.
    ///
    /// - Parameter onFailure: gets the pairs that can't be merged, and why.
    /// - Returns: how many were merged.
    package func merge(
        _ list: MergeList, onFailure: @escaping @Sendable (MergeList.Pair, String) -> Void
    ) throws -> Int {
        try EventLoop.runToCompletion { loop in
            try await CommandError.withConnection(configuration, loop: loop) { connection in
                // What places have become by these edits, by what they were.
                var versions: [Int64: (was: Int64, is: Int64)] = [:]
                var count = 0
                for pair in list.pairs {
                    func version(of id: Int64, _ listed: Int64?) -> Int64? {
                        guard let own = versions[id], own.was == listed else { return listed }
                        return own.is
                    }
                    let expected = [(pair.id, pair.version), (pair.into, pair.intoVersion)].map(version)
                    let values = expected.map { $0.map { PostgresValue.int8($0) } ?? .null(.int8) }
                    do {
                        let query = PostgresQuery(
                            "SELECT merge_places($1, $2, $3, $4, $5)",
                            [.int8(pair.id), .int8(pair.into)] + values + [.text(editor)])
                        let became: Int64 = try await connection.withTransaction { connection in
                            try await connection.query(query).only().decode(at: 0)
                        }
                        if let listed = pair.intoVersion { versions[pair.into] = (listed, became) }
                        count += 1
                    } catch let error as PostgresError where error.code == .server {
                        onFailure(pair, error.serverMessage ?? error.description)
                    }
                }
                return count
            }
        }
    }

    private func run(_ sql: SQL, _ parameters: [PostgresValue]) throws {
        try EventLoop.runToCompletion { loop in
            try await CommandError.withConnection(configuration, loop: loop) { connection in
                try await connection.withTransaction { connection in
                    _ = try await connection.query(PostgresQuery(sql, parameters))
                }
            }
        }
    }
}
