import ChildProcesses
import Foundation

extension ClusterDirectory {
    #if canImport(Darwin)
        private static let locale = "C"
    #else
        private static let locale = "C.UTF-8"
    #endif

    /// The major version that wrote the data, or nil where there is none yet.
    var dataVersion: String? {
        let text = try? String(contentsOfFile: "\(data)/PG_VERSION", encoding: .utf8)
        return text?.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Runs `initdb`. The data directory appears complete or not at all, whenever we are killed.
    ///
    /// `lock` is handed to `initdb`, which outlives us for a moment when we are: the next run waits for it.
    func initialize(
        installation: PostgresInstallation, user: ServerUser, lock: FileLock, isEphemeral: Bool
    ) throws {
        try user.remove([unfinishedData])
        let initdb = [
            installation.program("initdb"), "--pgdata=\(unfinishedData)", "--username=postgres",
            "--auth=trust",
            "--encoding=UTF8", "--locale=\(Self.locale)", "--no-instructions",
        ]
        let output = try ChildProcess.run(
            user.command(initdb + (isEphemeral ? ["--no-sync"] : [])), inherited: lock.descriptor)
        guard output.exitCode == 0 else {
            throw PrivateClusterError.initializationFailed(output: output.text)
        }
        try check(rename(unfinishedData, data), "rename \(unfinishedData)")
    }

    /// Copies the data of a running server, by its socket's folder, to follow it from there on: as `initialize`.
    func copy(from host: String, installation: PostgresInstallation, user: ServerUser, lock: FileLock) throws
    {
        try user.remove([unfinishedData])
        let backup = [
            installation.program("pg_basebackup"), "--pgdata=\(unfinishedData)", "--username=postgres",
            "--host=\(host)", "--no-password", "--checkpoint=fast", "--wal-method=stream",
            "--write-recovery-conf", "--no-sync",
        ]
        let output = try ChildProcess.run(user.command(backup), inherited: lock.descriptor)
        guard output.exitCode == 0 else {
            throw PrivateClusterError.initializationFailed(output: output.text)
        }
        try check(rename(unfinishedData, data), "rename \(unfinishedData)")
    }
}
