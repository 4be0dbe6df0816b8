import Foundation

// Without SIGPIPE, write(2) returns an error where it can't write. FileHandle would end the process.
signal(SIGPIPE, SIG_IGN)
let status = GeneratorProgram.run(Array(CommandLine.arguments.dropFirst())) { line, isError in
    var rest = Array((line + "\n").utf8)
    while !rest.isEmpty {
        let count = write(isError ? STDERR_FILENO : STDOUT_FILENO, rest, rest.count)
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else { return String(cString: strerror(errno)) }
        rest.removeFirst(count)
    }
    return nil
}
exit(status)
