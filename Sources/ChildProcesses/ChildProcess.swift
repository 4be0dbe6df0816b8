import Foundation

/// A child process in a process group of its own, so that a terminal's Ctrl-C does not reach it. Not Foundation's `Process`:
/// that one cannot pass descriptors beyond the standard three, and its children have the signals blocked that the starting
/// thread had blocked, which for threads of Dispatch are nearly all.
package struct ChildProcess: Sendable {
    /// The child's id, which is also its group's.
    package let processID: pid_t

    /// Starts `arguments[0]`, a path, with `descriptors[n]` as descriptor n and no other.
    /// - Throws: ``SystemCallError``.
    package init(arguments: [String], environment: [String: String], descriptors: [Int32]) throws {
        // Above every target number, so that no dup2 overwrites a source that is used later.
        let sources = try descriptors.map { descriptor in
            try check(fcntl(descriptor, F_DUPFD_CLOEXEC, 16), "fcntl")
        }
        defer { for source in sources { close(source) } }

        #if canImport(Darwin)
            var actions: posix_spawn_file_actions_t?
            var attributes: posix_spawnattr_t?
        #else
            var actions = posix_spawn_file_actions_t()
            var attributes = posix_spawnattr_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (target, source) in sources.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, source, Int32(target))
        }
        for descriptor in openDescriptors() where descriptor >= descriptors.count {
            posix_spawn_file_actions_addclose(&actions, descriptor)
        }

        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var everySignal = sigset_t()
        sigfillset(&everySignal)
        var noSignal = sigset_t()
        sigemptyset(&noSignal)
        posix_spawnattr_setsigdefault(&attributes, &everySignal)
        posix_spawnattr_setsigmask(&attributes, &noSignal)
        posix_spawnattr_setpgroup(&attributes, 0)
        let ourFlags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK
        #if canImport(Darwin)
            // There a descriptor cannot be made close-on-exec in the step that makes it.
            let flags = ourFlags | POSIX_SPAWN_CLOEXEC_DEFAULT
        #else
            let flags = ourFlags
        #endif
        posix_spawnattr_setflags(&attributes, Int16(flags))

        var processID: pid_t = 0
        let argv = arguments.map { strdup($0) }
        let variables = environment.map { strdup("\($0.key)=\($0.value)") }
        defer { for copy in argv + variables { free(copy) } }
        let code = posix_spawn(
            &processID, arguments[0], &actions, &attributes, argv + [nil], variables + [nil])
        guard code == 0 else { throw SystemCallError("posix_spawn \(arguments[0])", code: code) }
        self.processID = processID
    }

    /// Waits for the end and returns the exit code, or 128 + n where signal n ended it. To be called once.
    package func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(processID, &status, 0) < 0 {
            guard errno == EINTR else { return -1 }
        }
        let signal = status & 0x7f
        return signal == 0 ? (status >> 8) & 0xff : 128 + signal
    }
}

/// What this process has open, some of it perhaps inherited and not close-on-exec. A server that kept a pipe of our
/// parent open would let the parent wait for an end that doesn't come.
private func openDescriptors() -> [Int32] {
    #if canImport(Darwin)
        []  // POSIX_SPAWN_CLOEXEC_DEFAULT closes them.
    #else
        ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []).compactMap {
            Int32($0)
        }
    #endif
}

/// A call to the operating system that failed.
package struct SystemCallError: Error, Hashable, CustomStringConvertible, LocalizedError {
    /// Which call, and on what.
    package let call: String
    /// The `errno` of the failure.
    package let code: Int32

    /// Makes the error of a call.
    package init(_ call: String, code: Int32) {
        self.call = call
        self.code = code
    }

    /// The call and what the system calls the failure.
    package var description: String { "\(call): \(String(cString: strerror(code)))" }

    /// The same as `description`.
    package var errorDescription: String? { description }
}

/// Turns the −1 of a failed system call into an error that names the call.
@discardableResult
package func check(_ result: Int32, _ call: String) throws(SystemCallError) -> Int32 {
    guard result >= 0 else { throw SystemCallError(call, code: errno) }
    return result
}

/// Two connected descriptors that a child inherits only where it is handed one.
///
/// Pipes would do, but `pipe2`, which makes them close-on-exec in the same step, is not in Swift's Glibc module; a
/// child that another thread starts in between would hold the end open.
/// - Throws: ``SystemCallError``.
package func socketPair() throws -> (Int32, Int32) {
    var pair: [Int32] = [-1, -1]
    #if canImport(Darwin)
        try check(socketpair(AF_UNIX, SOCK_STREAM, 0, &pair), "socketpair")
        var one: Int32 = 1
        for descriptor in pair {
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &one, socklen_t(MemoryLayout<Int32>.size))
        }
    #else
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        try check(socketpair(AF_UNIX, type, 0, &pair), "socketpair")
    #endif
    return (pair[0], pair[1])
}

/// Sends a line to a socket. That the other end has closed is no error and raises no SIGPIPE.
package func sendLine(_ line: String, to socket: Int32) {
    let text = line + "\n"
    #if canImport(Darwin)
        let flags: Int32 = 0
    #else
        let flags = Int32(MSG_NOSIGNAL)
    #endif
    _ = send(socket, text, text.utf8.count, flags)
}
