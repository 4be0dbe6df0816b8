import Foundation

/// A child process in a process group of its own, with no descriptor of ours but those it is handed and with
/// every signal as a program expects it.
///
/// Not Foundation's `Process`: a child of that has the signals blocked that the starting thread had blocked,
/// which for threads of Dispatch are nearly all.
struct SpawnedProcess {
    let processID: pid_t

    /// Starts a program with `descriptors[n]` as descriptor n.
    init(executable: String, arguments: [String], environment: [String: String], descriptors: [Int32]) throws
    {
        // Above every target number, so that no dup2 overwrites a source that is yet to be used.
        let sources = try descriptors.map { try check(fcntl($0, F_DUPFD_CLOEXEC, 16)) }
        defer { for source in sources { close(source) } }

        #if canImport(Darwin)
            var actions: posix_spawn_file_actions_t?
            var attributes: posix_spawnattr_t?
            // There a descriptor can't be made close-on-exec in the step that makes it.
            let platformFlags = POSIX_SPAWN_CLOEXEC_DEFAULT
        #else
            var actions = posix_spawn_file_actions_t()
            var attributes = posix_spawnattr_t()
            let platformFlags: Int32 = 0
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
        let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK
        posix_spawnattr_setflags(&attributes, Int16(Int32(flags) | platformFlags))

        var processID: pid_t = 0
        let code = withCStrings([executable] + arguments) { arguments in
            withCStrings(environment.map { "\($0.key)=\($0.value)" }) { variables in
                posix_spawn(&processID, executable, &actions, &attributes, arguments, variables)
            }
        }
        guard code == 0 else { throw SystemCallError(code: code) }
        self.processID = processID
    }

    /// Waits for the end and returns the exit code, or 128 + n after death by signal n. To be called once.
    func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(processID, &status, 0) < 0 {
            guard errno == EINTR else { return -1 }
        }
        let signal = status & 0x7f
        return signal == 0 ? (status >> 8) & 0xff : 128 + signal
    }
}

/// What this process has open, some of it perhaps inherited and not close-on-exec.
private func openDescriptors() -> [Int32] {
    #if canImport(Darwin)
        []  // POSIX_SPAWN_CLOEXEC_DEFAULT closes them.
    #else
        ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []).compactMap {
            Int32($0)
        }
    #endif
}

/// Calls `body` with a null-terminated array of C strings, as `posix_spawn` wants them.
private func withCStrings<Result>(
    _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
) -> Result {
    let copies = strings.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return body(copies + [nil])
}
