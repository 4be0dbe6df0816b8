#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

package enum ProgramExit {
    /// Returns the exit code of `body`; if it throws, 64 for a bad argument or setting and 1 for any other error, with one line
    /// on standard error that begins with `name`.
    package static func code(of name: String, _ body: () throws -> Int32) -> Int32 {
        do {
            return try body()
        } catch let error as ConfigurationError {
            Terminal.printError("\(name): \(error)")
            return ConfigurationError.exitCode
        } catch {
            Terminal.printError("\(name): \(error)")
            return 1
        }
    }
}

package enum Terminal {
    package struct Failure: Error, Hashable, CustomStringConvertible {
        package let description: String
    }

    /// Throws if the line can't be written: the command has failed then.
    package static func print(_ text: String) throws(Failure) {
        if let failure = write(text + "\n", to: STDOUT_FILENO) {
            throw Failure(description: "standard output: \(failure.reason)")
        }
    }

    /// To standard output. It is dropped if it can't be written: the work is more important.
    package static func tell(_ text: String) {
        _ = write(text + "\n", to: STDOUT_FILENO)
    }

    /// It is dropped if it can't be written.
    package static func printError(_ text: String) {
        showProgress(text + "\n")
    }

    /// To standard error, for a line that is overwritten. It is dropped if it can't be written.
    package static func showProgress(_ text: String) {
        _ = write(text, to: STDERR_FILENO)
    }

    /// Makes closed streams harmless. Call it first in a program.
    ///
    /// SIGPIPE is ignored, so that writing to a pipe without a reader fails instead of ending the process. A closed
    /// descriptor is opened in a way that makes its use fail: otherwise the next file or socket would get its number,
    /// and the program's output would go there. SIGUSR1 and SIGUSR2, which would end the process, are ignored too.
    package static func prepare() {
        for number in [SIGPIPE, SIGUSR1, SIGUSR2] { signal(number, SIG_IGN) }
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]
        where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF {
            // open(2) returns the lowest free number, which is this one: those below it are open.
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    private static func write(_ text: String, to descriptor: Int32) -> DescriptorOutput.Failure? {
        DescriptorOutput.write(Array(text.utf8), to: descriptor)
    }
}

/// Foundation's `FileHandle.write` ends the process if the disk is full or the pipe is closed.
package enum DescriptorOutput {
    package struct Failure: Hashable, Sendable {
        package let writtenCount: Int
        package let code: Int32

        package var reason: String { String(cString: strerror(code)) }
    }

    /// Waits while the descriptor isn't ready, even if it is non-blocking. Any thread. Nil if all bytes were written.
    package static func write(_ bytes: [UInt8], to descriptor: Int32) -> Failure? {
        var written = 0
        while written < bytes.count {
            let rest = written == 0 ? bytes : Array(bytes[written...])
            let count = systemWrite(descriptor, rest, rest.count)
            if count > 0 {
                written += count
                continue
            }
            // Zero would mean an endless loop; write(2) doesn't return it for a non-empty buffer.
            let code = count < 0 ? errno : EIO
            switch code {
            case EINTR: continue
            case EAGAIN, EWOULDBLOCK: waitForRoom(descriptor)
            default: return Failure(writtenCount: written, code: code)
            }
        }
        return nil
    }

    /// The descriptor may be non-blocking: it is shared with the process that started this one.
    private static func waitForRoom(_ descriptor: Int32) {
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        // If this fails, the next write reports why.
        _ = poll(&request, 1, -1)
    }
}

#if canImport(Darwin)
    private let systemWrite = Darwin.write
#else
    private let systemWrite = Glibc.write
#endif
