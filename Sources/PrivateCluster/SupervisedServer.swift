import ChildProcesses
import Foundation

/// One run of the server under a supervisor. The supervisor stops the server when our end of a socket closes: by `stop`,
/// or because this process has ended, for whatever reason.
final class SupervisedServer {
    struct Launch {
        var user: ServerUser
        var directory: ClusterDirectory
        var socketFolder: String
        var postgres: String
        var settings: [String: String]
        var serverLock: FileLock
        /// What the supervisor removes if this process ends without having stopped the server.
        var removedIfAbandoned: String
        var modeIfAbandoned: PrivateCluster.ShutdownMode
    }

    /// Reads one line, the signal to stop the server with; the end of its input means that the owner has ended.
    ///
    /// A shell starts background commands with SIGINT and SIGQUIT ignored until they install handlers: so SIGTERM
    /// goes first, which ends a server in its first moments and lets a later one take the second signal. One that
    /// is suspended goes on to receive them; an immediate stop kills suspended backends after 5 s.
    /// The supervisor's standard error is dropped so that the log's stream belongs to the server's processes alone.
    private static let script = """
        abandoned=$1 last_signal=$2
        shift 2
        "$@" </dev/null >&2 &
        server=$!
        exec 2>/dev/null
        trap '' HUP INT TERM
        if read -r signal; then abandoned=; else signal=$last_signal; fi
        kill -s TERM "$server"
        kill -s "$signal" "$server"
        kill -s CONT "$server"
        wait "$server"
        if [ -n "$abandoned" ]; then rm -rf -- "$abandoned"; fi
        """

    let log: ServerLog
    private let launch: Launch
    let supervisor: ChildProcess
    private var ownerEnd: Int32?

    /// Starts the server and waits until it accepts connections.
    init(_ launch: Launch) throws {
        self.launch = launch
        let (ownerEnd, supervisorEnd) = try socketPair()
        let (logOutput, logInput) = try socketPair()
        self.ownerEnd = ownerEnd
        let flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW
        log = ServerLog(stream: logOutput, file: open(launch.directory.log, flags, 0o600))
        do {
            supervisor = try Self.startSupervisor(launch, input: supervisorEnd, log: logInput)
        } catch {
            close(ownerEnd)
            throw error
        }
        guard log.waitUntilReady() else {
            stop(signal: "INT")
            throw PrivateClusterError.serverFailed(log: log.tail)
        }
    }

    /// Takes over both descriptors: with a copy of the log's stream left here, its end would never come.
    private static func startSupervisor(_ launch: Launch, input: Int32, log: Int32) throws -> ChildProcess {
        defer {
            close(input)
            close(log)
        }
        let noOutput = try check(open("/dev/null", O_WRONLY | O_CLOEXEC), "open /dev/null")
        defer { close(noOutput) }
        let supervisor = [
            "/bin/sh", "-c", script, "supervisor", launch.removedIfAbandoned, launch.modeIfAbandoned.rawValue,
        ]
        return try ChildProcess(
            arguments: launch.user.command(supervisor + launch.command), environment: childEnvironment(),
            descriptors: [input, noOutput, log, launch.serverLock.descriptor])
    }

    /// Stops the server and waits until all its processes have exited. Harmless when it has ended already.
    func stop(signal: String) {
        guard let ownerEnd else { return }
        self.ownerEnd = nil
        sendLine(signal, to: ownerEnd)
        let exitCode = supervisor.wait()
        if exitCode > 128 {
            // The supervisor was killed, so that we have to stop the server.
            launch.directory.signalPostmaster(SIGINT)
        }
        log.waitUntilEnded()
        close(ownerEnd)
    }

    deinit {
        if let ownerEnd { close(ownerEnd) }
    }
}

extension SupervisedServer.Launch {
    fileprivate var command: [String] {
        let options = settings.sorted { $0.key < $1.key }.flatMap { ["-c", "\($0.key)=\($0.value)"] }
        return [postgres, "-D", directory.data, "-k", socketFolder] + options
    }
}

extension ClusterDirectory {
    /// The id of the postmaster that runs, or ran last: the first line of its pid file.
    var postmasterID: pid_t? {
        guard let text = try? String(contentsOfFile: postmasterPID, encoding: .utf8) else { return nil }
        return text.split(separator: "\n").first.flatMap { pid_t($0) }
    }

    func signalPostmaster(_ signal: Int32) {
        if let postmasterID { kill(postmasterID, signal) }
    }
}

/// Reads the server's standard error, copies it to the log file, and notices that the server is ready.
///
/// The end of the stream means that every process of the server has exited.
/// `@unchecked Sendable`: NSCondition guards the state; Synchronization.Mutex has no condition to wait for.
final class ServerLog: @unchecked Sendable {
    /// A primary's line, and a standby's.
    private static let readyLines = [
        "database system is ready to accept connections",
        "database system is ready to accept read-only connections",
    ]
    private static let tailLimit = 4096

    private let condition = NSCondition()
    private var isReady = false
    private var hasEnded = false
    private var tailBytes: [UInt8] = []

    /// Takes over both descriptors and reads on a thread of its own until the stream ends.
    /// A negative `file` stands for none.
    init(stream: Int32, file: Int32) {
        let thread = Thread { [self] in
            read(stream: stream, file: file)
            close(stream)
            if file >= 0 { close(file) }
            condition.withLock {
                hasEnded = true
                condition.broadcast()
            }
        }
        thread.name = "server log"
        thread.start()
    }

    func waitUntilReady() -> Bool {
        condition.withLock {
            while !isReady && !hasEnded { condition.wait() }
            return isReady && !hasEnded
        }
    }

    func waitUntilEnded() {
        condition.withLock {
            while !hasEnded { condition.wait() }
        }
    }

    var tail: String {
        let bytes = condition.withLock { tailBytes }
        return String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private func read(stream: Int32, file: Int32) {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            #if canImport(Darwin)
                let count = Darwin.read(stream, &buffer, buffer.count)
            #else
                let count = Glibc.read(stream, &buffer, buffer.count)
            #endif
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return }
            // A full disk, or a file that could not be opened, must not stop the server: only the log is lost.
            _ = write(file, buffer, count)
            append(buffer[..<count])
        }
    }

    private func append(_ bytes: ArraySlice<UInt8>) {
        condition.withLock {
            tailBytes += bytes
            if !isReady {
                let text = String(decoding: tailBytes, as: UTF8.self)
                isReady = Self.readyLines.contains(where: text.contains)
                if isReady { condition.broadcast() }
            }
            tailBytes.removeFirst(max(0, tailBytes.count - Self.tailLimit))
        }
    }
}
