import Foundation

/// The programs under test: `poi`, and `poi-mock`.
package enum PoiProgram {
    /// Where it is: `POI_EXECUTABLE`, else beside the tests.
    package static var executable: URL {
        if let path = ProcessInfo.processInfo.environment["POI_EXECUTABLE"] { return URL(filePath: path) }
        return products.appending(path: "poi")
    }

    /// Where its mock is: `POI_MOCK_EXECUTABLE`, else beside the tests.
    package static var mock: URL {
        if let path = ProcessInfo.processInfo.environment["POI_MOCK_EXECUTABLE"] {
            return URL(filePath: path)
        }
        return products.appending(path: "poi-mock")
    }

    /// The client of tests that kill clients, beside the tests.
    package static var eventSender: URL { products.appending(path: "EventSender") }

    /// The migrations that belong to it.
    package static var migrations: URL { package.appending(path: "Migrations", directoryHint: .notDirectory) }

    /// The package's folder: this file's, four levels up.
    package static var package: URL {
        (0..<4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
    }

    private static var products: URL {
        #if canImport(Darwin)
            // The tests are a bundle there, which a program of the toolchain has loaded.
            Bundle(for: ChildProgram.self).bundleURL.deletingLastPathComponent()
        #else
            URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        #endif
    }

    /// Starts it with no settings from our environment, only those that tests need by default. A supervisor ends it
    /// when this process ends, however that happens.
    ///
    /// - Parameters:
    ///   - executable: which program.
    ///   - folder: what the supervisor then removes.
    package static func start(
        _ arguments: [String], of executable: URL = executable, environment: [String: String] = [:],
        directory: String? = nil, folder: TemporaryFolder? = nil
    ) throws -> ChildProgram {
        var variables = [
            "POI_MIGRATIONS_DIR": migrations.path(percentEncoded: false),
            // Servers run side by side, and no balancer has to notice that one of them ends.
            "POI_ADMIN_PORT": "0", "POI_DRAIN_DELAY": "0",
        ]
        for (name, value) in ProcessInfo.processInfo.environment where isInherited(name) {
            variables[name] = value
        }
        return try ChildProgram(
            executable: "/bin/sh",
            arguments: [
                "-c", supervisor, "supervisor", directory ?? ".", folder?.path ?? "",
                executable.path(percentEncoded: false),
            ] + arguments,
            environment: variables.merging(environment) { $1 })
    }

    /// Runs it to its end.
    package static func run(
        _ arguments: [String], of executable: URL = executable, environment: [String: String] = [:],
        directory: String? = nil
    ) async throws -> Result {
        let program = try start(arguments, of: executable, environment: environment, directory: directory)
        let exitCode = try await program.exitCode()
        return Result(
            exitCode: exitCode, standardOutput: program.output.lines(of: .standardOutput),
            standardError: program.output.lines(of: .standardError))
    }

    /// What a run to the end has brought.
    package struct Result: Hashable, Sendable {
        /// 128 + n after death by signal n.
        package let exitCode: Int32
        /// The lines on standard output.
        package let standardOutput: [String]
        /// The lines on standard error.
        package let standardError: [String]
    }

    private static func isInherited(_ name: String) -> Bool {
        ["PATH", "HOME", "POI_POSTGRES_BIN", "LD_LIBRARY_PATH"].contains(name)
            || name.hasSuffix("SAN_OPTIONS")
    }

    /// Becomes the program, so that its process id is the program's; what stays behind waits for the end of
    /// its input, which only this process can end. A server may still write into the folder for a moment,
    /// hence the repetition.
    private static let supervisor = """
        exec 3<&0 </dev/null
        cd "$1" || exit
        shift
        (
            read -r _ <&3 && exit
            kill -s KILL $$
            [ -n "$1" ] || exit
            elsewhere=$(readlink -- "$1/postgres")
            until rm -rf -- "$1" ${elsewhere:+"$elsewhere"}; do :; done
        ) >/dev/null 2>&1 &
        shift
        exec "$@" 3<&-
        """
}

/// A program of the system, a balancer for instance, that ends with this process, however that happens.
package enum SystemProgram {
    /// Starts it in the foreground, in a group of processes of its own, all of which its supervisor can end.
    ///
    /// - Parameters:
    ///   - name: looked for where the system keeps its programs, those for administrators included.
    ///   - folder: what the supervisor removes if nobody lets the program end.
    package static func start(
        _ name: String, _ arguments: [String], environment: [String: String] = [:], folder: TemporaryFolder
    ) throws -> ChildProgram {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
        return try ChildProgram(
            executable: "/bin/sh",
            arguments: ["-c", supervisor, "supervisor", folder.path, name] + arguments,
            environment: environment.merging(["PATH": path + ":/usr/local/sbin:/usr/sbin:/sbin"]) {
                given, _ in
                given
            })
    }

    /// Becomes the program; what stays behind waits for the end of its input, which only this process can end. The
    /// group is the program's workers, and the supervisor itself. It is no child of the program, whose end HAProxy's
    /// first process would wait for.
    private static let supervisor = """
        exec 3<&0 </dev/null
        (
            (
                read -r _ <&3 && exit
                rm -rf -- "$1"
                kill -s KILL -- -$$
            ) >/dev/null 2>&1 &
        )
        shift
        exec "$@" 3<&-
        """
}
