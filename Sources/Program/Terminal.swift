#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The exit codes of a program.
package enum ProgramExit {
    /// Runs a program, and returns the exit code that `body` returns; if it throws, 64 for a bad argument or setting
    /// and 1 for any other error, with one line on standard error.
    ///
    /// - Parameter name: the program's name, with which that line begins.
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

/// Writes text to standard output and standard error, without buffering.
package enum Terminal {
    /// A command's output could not be written; `description` is one line.
    package struct Failure: Error, Hashable, CustomStringConvertible {
        /// The stream and the system's reason.
        package let description: String
    }

    /// Writes a line of a command's result to standard output.
    ///
    /// - Throws: `Failure` if it can't be written: the command has failed then.
    package static func print(_ text: String) throws(Failure) {
        if let failure = write(text + "\n", to: STDOUT_FILENO) {
            throw Failure(description: "standard output: \(failure.reason)")
        }
    }

    /// Writes a message to standard output. It is dropped if it can't be written: the work is more important.
    package static func tell(_ text: String) {
        _ = write(text + "\n", to: STDOUT_FILENO)
    }

    /// Writes a line to standard error. It is dropped if it can't be written.
    package static func printError(_ text: String) {
        showProgress(text + "\n")
    }

    /// Writes text without a line feed to standard error, for a line that is overwritten. It is dropped if it can't be
    /// written.
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
        Array(text.utf8).withUnsafeBytes { DescriptorOutput.write($0, to: descriptor) }
    }
}

/// Writes all of some bytes to a descriptor, by write(2).
///
/// Foundation's `FileHandle.write` ends the process if the disk is full or the pipe is closed.
package enum DescriptorOutput {
    /// A write that failed.
    package struct Failure: Hashable, Sendable {
        /// The number of bytes that were written before.
        package let writtenCount: Int
        /// The system's `errno`.
        package let code: Int32

        /// The system's text for the code, such as `No space left on device`.
        package var reason: String { String(cString: strerror(code)) }
    }

    /// Writes all bytes, and waits while the descriptor isn't ready, even if it is non-blocking. Any thread.
    ///
    /// - Returns: the failure, or nil if all bytes were written.
    package static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Failure? {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: rest))
            if count > 0 {
                rest = rest.dropFirst(count)
                continue
            }
            // Zero would mean an endless loop; write(2) doesn't return it for a non-empty buffer.
            let code = count < 0 ? errno : EIO
            switch code {
            case EINTR: continue
            case EAGAIN, EWOULDBLOCK: waitForRoom(descriptor)
            default: return Failure(writtenCount: bytes.count - rest.count, code: code)
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

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    #if canImport(Darwin)
        Darwin.write(descriptor, bytes.baseAddress, bytes.count)
    #else
        Glibc.write(descriptor, bytes.baseAddress, bytes.count)
    #endif
}
