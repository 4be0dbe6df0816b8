#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// How a program ends: its exit code, and the line that says why.
package enum ProgramExit {
    /// Runs a program to its end; answers the exit code that it answers, else 64 for a bad call or setting and 1
    /// for any other failure.
    ///
    /// - Parameter name: what the line on standard error begins with.
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

/// Text to standard output and standard error, at once also where they are pipes.
package enum Terminal {
    /// A command's result that couldn't be written; `description` is one line.
    package struct Failure: Error, Hashable, CustomStringConvertible {
        /// The stream and the system's reason.
        package let description: String
    }

    /// Writes a line to standard output that is what the command was called for.
    ///
    /// - Throws: `Failure` where it can't be written: the command has not done its work then.
    package static func print(_ text: String) throws(Failure) {
        if let failure = write(text + "\n", to: STDOUT_FILENO) {
            throw Failure(description: "standard output: \(failure.reason)")
        }
    }

    /// Writes a line to standard output that tells of work whose result is elsewhere; dropped where it can't be
    /// written, since the work goes on without a reader.
    package static func tell(_ text: String) {
        _ = write(text + "\n", to: STDOUT_FILENO)
    }

    /// Writes a line to standard error; dropped where it can't be written: nobody is left to be told.
    package static func printError(_ text: String) {
        showProgress(text + "\n")
    }

    /// Writes text to standard error as it is, for a line that is written over; dropped where it can't be written.
    package static func showProgress(_ text: String) {
        _ = write(text, to: STDERR_FILENO)
    }

    /// To be called first in a program: a stream that was closed by whoever started it, or that loses its reader,
    /// can't be written from then on, and does no other harm.
    ///
    /// SIGPIPE is ignored, so that writing fails instead. A closed descriptor is opened so that using it fails: else the
    /// next file or socket would get its number, and what is written to standard output would go there.
    /// SIGUSR1 and SIGUSR2 are ignored too: they mean nothing here, and would end the process.
    package static func prepare() {
        for number in [SIGPIPE, SIGUSR1, SIGUSR2] { signal(number, SIG_IGN) }
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]
        where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF {
            // The lowest free number is this one (open(2)), since those below it are open.
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    private static func write(_ text: String, to descriptor: Int32) -> DescriptorOutput.Failure? {
        Array(text.utf8).withUnsafeBytes { DescriptorOutput.write($0, to: descriptor) }
    }
}

/// Writes bytes to a descriptor to their end, by write(2).
///
/// Foundation's `FileHandle.write` ends the process where a descriptor takes nothing: a full disk, a closed pipe.
package enum DescriptorOutput {
    /// A write that failed.
    package struct Failure: Hashable, Sendable {
        /// How many bytes were written before.
        package let writtenCount: Int
        /// What the system says, an `errno`.
        package let code: Int32

        /// What the system calls it: `No space left on device`.
        package var reason: String { String(cString: strerror(code)) }
    }

    /// Writes all bytes, waiting as long as the descriptor takes none, also where it doesn't block; answers what went
    /// wrong, nil where nothing did. Any thread.
    package static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Failure? {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: rest))
            if count > 0 {
                rest = rest.dropFirst(count)
                continue
            }
            // No count at all can't be: nothing would ever be written.
            let code = count < 0 ? errno : EIO
            switch code {
            case EINTR: continue
            case EAGAIN, EWOULDBLOCK: waitForRoom(descriptor)
            default: return Failure(writtenCount: bytes.count - rest.count, code: code)
            }
        }
        return nil
    }

    /// Whoever started the process may share a descriptor with it that doesn't block.
    private static func waitForRoom(_ descriptor: Int32) {
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        // Where it fails, the next write says why.
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
