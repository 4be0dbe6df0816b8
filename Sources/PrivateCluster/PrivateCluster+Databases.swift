import ChildProcesses
import Foundation

extension PrivateCluster {
    /// Makes a database, as a copy of `template` if given, which then must have no session.
    public func createDatabase(_ name: String, template: String? = nil) throws {
        try execute(
            "CREATE DATABASE \(quoted(name))" + (template.map { " TEMPLATE \(quoted($0))" } ?? ""))
    }

    /// Removes a database if it exists, ending the sessions in it.
    public func dropDatabase(_ name: String) throws {
        try execute("DROP DATABASE IF EXISTS \(quoted(name)) WITH (FORCE)")
    }

    /// Whether there is a database of this name.
    public func hasDatabase(_ name: String) throws -> Bool {
        let literal = name.replacing("'", with: "''")
        return try execute("SELECT count(*) FROM pg_database WHERE datname = '\(literal)'") == "1"
    }

    /// Runs SQL through `psql`, each statement a transaction of its own, and stops at the first error.
    /// - Returns: The rows, one a line, fields separated by `|`, without a final line break.
    /// - Throws: ``PrivateClusterError/commandFailed(command:output:)`` with what the server said.
    @discardableResult
    public func execute(_ sql: String, database: String = "postgres") throws -> String {
        let psql = [
            try program("psql"), "--no-psqlrc", "--quiet", "--no-align", "--tuples-only",
            "--set=ON_ERROR_STOP=1", "--file=-", try connectionString(database: database),
        ]
        let output = try ChildProcess.run(psql, input: sql)
        guard output.exitCode == 0 else {
            throw PrivateClusterError.commandFailed(command: "psql", output: output.text)
        }
        return String(output.standardOutput.trimmingSuffix(while: \.isNewline))
    }

    /// Dumps a database by `pg_dump`, in its custom format; answers the file, which goes with the cluster.
    public func dump(database: String) throws -> URL {
        let file = try directory().appending(path: "\(UUID().uuidString).dump")
        try run(
            "pg_dump", ["--format=custom", "--file=\(file.path())", connectionString(database: database)])
        return file
    }

    /// Restores a dump into a database by `pg_restore`.
    ///
    /// - Parameter sections: parts of it: `pre-data`, `data` and `post-data`; none is all.
    public func restore(_ dump: URL, database: String, sections: [String] = []) throws {
        try run(
            "pg_restore",
            sections.map { "--section=\($0)" } + [
                "--exit-on-error", "--dbname=\(connectionString(database: database))", dump.path(),
            ])
    }

    private func run(_ name: String, _ arguments: [String]) throws {
        let output = try ChildProcess.run([try program(name)] + arguments)
        guard output.exitCode == 0 else {
            throw PrivateClusterError.commandFailed(command: name, output: output.text)
        }
    }

    private func quoted(_ identifier: String) -> String {
        "\"" + identifier.replacing("\"", with: "\"\"") + "\""
    }
}

extension StringProtocol {
    fileprivate func trimmingSuffix(while matches: (Character) -> Bool) -> SubSequence {
        guard let last = lastIndex(where: { !matches($0) }) else { return self[startIndex..<startIndex] }
        return self[...last]
    }
}
