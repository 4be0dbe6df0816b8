import Foundation

/// A program of the system, a balancer for instance, that ends with this process, however that happens.
public enum SystemProgram {
    /// Starts it in the foreground, in a group of processes of its own, all of which its supervisor can end.
    ///
    /// - Parameters:
    ///   - name: looked for where the system keeps its programs, those for administrators included.
    ///   - folder: what the supervisor removes if nobody lets the program end.
    public static func start(
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
