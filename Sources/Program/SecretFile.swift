#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A file that holds the value of a secret setting, so that the value is in no command line, which every user of the machine
/// can read (`/proc/PID/cmdline`, proc_pid_cmdline(5)), and in no environment, which child processes inherit.
enum SecretFile {
    /// Longer values than any setting has.
    private static let maximumLength = 64 * 1024

    /// Without a line feed at its end. Throws where it can't be read, isn't UTF-8, or has more than 64 KiB.
    ///
    /// - Parameter name: the setting.
    static func text(at path: String, of name: String) throws(ConfigurationError) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw ConfigurationError("\(name)=\(path): \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while bytes.count <= maximumLength {
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw ConfigurationError("\(name)=\(path): \(String(cString: strerror(errno)))")
            }
            if count == 0 { break }
            bytes += chunk[..<count]
        }
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        guard bytes.count <= maximumLength, let text = String(validating: bytes, as: UTF8.self) else {
            throw ConfigurationError("\(name)=\(path): expected a file of text, at most 64 KiB")
        }
        return text
    }
}
