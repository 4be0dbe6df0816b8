import ChildProcesses
import Foundation
import Locking

/// A running program: takes lines, writes lines, gets signals, ends.
///
/// Its standard input is a socket that no other process inherits, so it ends with this process.
package final class ChildProgram: Sendable {
    /// Its process id.
    package let processID: Int32
    /// What it writes.
    package let output: ProgramOutput

    private let input: InputSocket
    private let exit: ExitCode

    /// Starts a program.
    ///
    /// - Parameter environment: all its variables; nothing is inherited.
    package init(executable: String, arguments: [String], environment: [String: String]) throws {
        let (inputEnd, programInput) = try socketPair()
        let (outputEnd, programOutput) = try socketPair()
        let (errorEnd, programError) = try socketPair()
        defer { for descriptor in [programInput, programOutput, programError] { close(descriptor) } }
        let process: ChildProcess
        do {
            process = try ChildProcess(
                arguments: [executable] + arguments, environment: environment,
                descriptors: [programInput, programOutput, programError])
        } catch {
            for descriptor in [inputEnd, outputEnd, errorEnd] { close(descriptor) }
            throw error
        }
        input = InputSocket(inputEnd)
        processID = process.processID
        output = ProgramOutput()
        exit = ExitCode()
        output.read(outputEnd, as: .standardOutput)
        output.read(errorEnd, as: .standardError)
        Thread { [exit, input] in
            let code = process.wait()
            // The supervisor of a `poi` that has ended isn't needed any more.
            input.send("done")
            exit.set(code)
        }
        .start()
    }

    /// Writes a line to its standard input.
    package func write(_ line: String) {
        input.send(line)
    }

    /// Sends it a signal.
    package func send(signal: Int32) {
        kill(processID, signal)
    }

    /// Waits for its end and that of its output; 128 + n after death by signal n.
    package func exitCode() async throws -> Int32 {
        try await output.end()
        return await exit.value()
    }

    /// Waits for its end on this thread: for the end of our own process, where nothing runs any more that
    /// could be awaited.
    func waitForEnd() {
        exit.waitUntilSet()
    }

    deinit {
        input.close()
    }
}

/// Our end of a program's standard input.
private final class InputSocket: Sendable {
    /// Nil once it is closed: its number may then be another file's.
    private let descriptor: Lock<Int32?>

    init(_ descriptor: Int32) { self.descriptor = Lock(descriptor) }

    func send(_ line: String) {
        descriptor.withLock { descriptor in
            if let descriptor { sendLine(line, to: descriptor) }
        }
    }

    func close() {
        descriptor.withLock { descriptor in
            if let descriptor { Foundation.close(descriptor) }
            descriptor = nil
        }
    }
}

/// The exit code of a program that may still run.
///
/// Unchecked, since the condition guards the state.
private final class ExitCode: @unchecked Sendable {
    private let condition = NSCondition()
    private var code: Int32?
    private var waiters: [CheckedContinuation<Int32, Never>] = []

    func set(_ code: Int32) {
        condition.withLock {
            self.code = code
            for waiter in waiters { waiter.resume(returning: code) }
            waiters = []
            condition.broadcast()
        }
    }

    func value() async -> Int32 {
        await withCheckedContinuation { continuation in
            condition.withLock {
                if let code { continuation.resume(returning: code) } else { waiters.append(continuation) }
            }
        }
    }

    func waitUntilSet() {
        condition.withLock {
            while code == nil { condition.wait() }
        }
    }
}

// MARK: - Programs that end with this process

/// Programs that this process shares until its end.
private let sharedPrograms = Lock<[(program: ChildProgram, folder: TemporaryFolder?)]>([])

extension ChildProgram {
    /// Lets the program end in order, and removes its folder, when this process exits.
    ///
    /// Where this process is killed, the program's supervisor does the same, less politely.
    package func endAtExit(removing folder: TemporaryFolder? = nil) {
        let isFirst = sharedPrograms.withLock { programs in
            programs.append((self, folder))
            return programs.count == 1
        }
        if isFirst { atexit { endSharedPrograms() } }
    }
}

private func endSharedPrograms() {
    let programs = sharedPrograms.withLock { $0 }
    for (program, _) in programs { program.send(signal: SIGTERM) }
    for (program, folder) in programs {
        program.waitForEnd()
        folder?.remove()
    }
}

/// A new folder that every user may enter, unless `permissions` say otherwise.
///
/// PostgreSQL, started by root, runs as a user of its own and has to get there.
package struct TemporaryFolder: Sendable {
    /// The folder's path, without a slash at its end.
    package let path: String

    /// Makes the folder.
    package init(permissions: Int = 0o755) throws {
        path = "/tmp/points-of-interest-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: path)
    }

    /// Removes the folder with all its content.
    package func remove() {
        // A private cluster that had to go elsewhere has left a link.
        let cluster = path + "/postgres"
        if let elsewhere = try? FileManager.default.destinationOfSymbolicLink(atPath: cluster) {
            try? FileManager.default.removeItem(atPath: elsewhere)
        }
        try? FileManager.default.removeItem(atPath: path)
    }
}
