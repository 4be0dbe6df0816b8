import ChildProcesses
import Foundation

extension ChildProcess {
    struct Output {
        var exitCode: Int32
        var standardOutput: String
        var standardError: String

        /// Both streams as one message without surrounding white space.
        var text: String {
            (standardOutput + standardError).trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }

    /// Runs a command to its end; `inherited` becomes its descriptor 3.
    ///
    /// Input and output pass through unlinked files, so that neither side can block on a full pipe.
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
            exitCode: exitCode, standardOutput: standardOutput.read(), standardError: standardError.read())
    }
}

/// What a child sees of our environment: nothing that could redirect PostgreSQL's programs (`PGDATA`, `PGHOST`, …).
func childEnvironment() -> [String: String] {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
    return ["PATH": path, "LC_ALL": "C"]
}

/// A file without a name that vanishes with its last descriptor.
private final class TemporaryFile {
    private let stream: UnsafeMutablePointer<FILE>

    var descriptor: Int32 { fileno(stream) }

    init(content: String = "") throws {
        guard let stream = tmpfile() else {
            throw SystemCallError("tmpfile", code: errno)
        }
        self.stream = stream
        fputs(content, stream)
        rewind(stream)
    }

    func read() -> String {
        rewind(stream)
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        let data = (try? handle.readToEnd()) ?? Data()
        return String(decoding: data, as: UTF8.self)
    }

    deinit { fclose(stream) }
}
