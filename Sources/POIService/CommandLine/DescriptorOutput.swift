#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

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
