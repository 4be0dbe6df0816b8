import ChildProcesses
import Foundation

struct PostgresInstallation: Hashable {
    /// The oldest major version that the SQL of this project runs on.
    static let minimumMajorVersion = 15

    let binDirectory: String
    let majorVersion: Int

    func program(_ name: String) -> String { "\(binDirectory)/\(name)" }

    /// The first suitable installation: `POI_POSTGRES_BIN` alone if set; else `PATH`, Debian's and Homebrew's
    /// folders, newest first. For data that exists, the version that wrote it is preferred.
    static func find(
        environment: [String: String] = ProcessInfo.processInfo.environment, dataVersion: Int? = nil
    ) throws -> PostgresInstallation {
        if let override = environment["POI_POSTGRES_BIN"], !override.isEmpty {
            guard let installation = PostgresInstallation(binDirectory: override) else {
                throw PrivateClusterError.postgresNotFound(searched: [override])
            }
            return installation
        }
        let folders = candidateFolders(environment: environment)
        let suitable = folders.lazy.compactMap(PostgresInstallation.init(binDirectory:)).filter(\.hasPostGIS)
        guard let installation = suitable.first(where: { $0.majorVersion == dataVersion }) ?? suitable.first
        else { throw PrivateClusterError.postgresNotFound(searched: folders) }
        return installation
    }

    /// Nil where the folder holds no `postgres` of a version that is new enough.
    init?(binDirectory: String) {
        let folder = URL(filePath: "\(binDirectory)/postgres").resolvingSymlinksInPath()
            .deletingLastPathComponent()
        self.binDirectory = folder.path(percentEncoded: false).removingTrailingSlash
        let postgres = "\(self.binDirectory)/postgres"
        guard FileManager.default.isExecutableFile(atPath: postgres),
            let output = try? ChildProcess.run([postgres, "--version"]), output.exitCode == 0,
            let version = Self.majorVersion(in: output.standardOutput), version >= Self.minimumMajorVersion
        else { return nil }
        majorVersion = version
    }

    /// The 15 of `postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)`, and of `… 19beta1`.
    static func majorVersion(in output: String) -> Int? {
        guard let range = output.range(of: "(PostgreSQL) ") else { return nil }
        return Int(output[range.upperBound...].prefix(while: \.isNumber))
    }

    private var hasPostGIS: Bool {
        guard let output = try? ChildProcess.run([program("pg_config"), "--sharedir"]), output.exitCode == 0
        else { return false }
        return FileManager.default.fileExists(atPath: "\(output.text)/extension/postgis.control")
    }

    private static func candidateFolders(environment: [String: String]) -> [String] {
        let path = (environment["PATH"] ?? "").split(separator: ":").map(String.init).filter {
            FileManager.default.isExecutableFile(atPath: "\($0)/postgres")
        }
        let debian = versionedFolders(in: "/usr/lib/postgresql", prefix: "", suffix: "/bin")
        let homebrew = ["/opt/homebrew/opt", "/usr/local/opt"].flatMap {
            versionedFolders(in: $0, prefix: "postgresql@", suffix: "/bin")
        }
        return path + debian + homebrew
    }

    /// `<parent>/<prefix><number><suffix>`, highest number first.
    private static func versionedFolders(in parent: String, prefix: String, suffix: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
        let versions = names.compactMap { $0.hasPrefix(prefix) ? Int($0.dropFirst(prefix.count)) : nil }
        return versions.sorted(by: >).map { "\(parent)/\(prefix)\($0)\(suffix)" }
    }
}

extension String {
    var removingTrailingSlash: String { count > 1 && hasSuffix("/") ? String(dropLast()) : self }
}

// MARK: - Running programs

extension ChildProcess {
    struct Output {
        var exitCode: Int32
        var standardOutput: String
        var standardError: String

        var text: String {
            (standardOutput + standardError).trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }

    /// Runs a command to its end; `inherited` becomes its descriptor 3. Input and output pass through unlinked files, so
    /// that neither side can block on a full pipe.
    static func run(
        _ arguments: [String], environment: [String: String] = childEnvironment(), input: String = "",
        inherited: Int32? = nil
    ) throws -> Output {
        let standardInput = try TemporaryFile(content: input)
        let standardOutput = try TemporaryFile()
        let standardError = try TemporaryFile()
        let child = try ChildProcess(
            arguments: arguments, environment: environment,
            descriptors: [standardInput, standardOutput, standardError].map(\.descriptor)
                + (inherited.map { [$0] } ?? []))
        let exitCode = child.wait()
        return Output(
            exitCode: exitCode, standardOutput: try standardOutput.read(),
            standardError: try standardError.read())
    }
}

/// The environment of a child: without what could redirect PostgreSQL's programs (`PGDATA`, `PGHOST`, …).
func childEnvironment() -> [String: String] {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
    return ["PATH": path, "LC_ALL": "C"]
}

/// A file without a name, which is removed with its last descriptor.
private struct TemporaryFile {
    private let file: FileHandle

    var descriptor: Int32 { file.fileDescriptor }

    init(content: String = "") throws {
        guard let stream = tmpfile() else { throw SystemCallError("tmpfile", code: errno) }
        defer { fclose(stream) }
        let descriptor = try check(fcntl(fileno(stream), F_DUPFD_CLOEXEC, 0), "fcntl")
        file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try file.write(contentsOf: Data(content.utf8))
        try file.seek(toOffset: 0)
    }

    func read() throws -> String {
        try file.seek(toOffset: 0)
        return String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
    }
}
