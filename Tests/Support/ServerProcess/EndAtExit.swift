import Locking
import Foundation

/// Programs that this process shares until its end.
private let sharedPrograms = Lock<[(program: ChildProgram, folder: TemporaryFolder?)]>([])

extension ChildProgram {
    /// Lets the program end in order, and removes its folder, when this process exits.
    ///
    /// Where this process is killed, the program's supervisor does the same, less politely.
    public func endAtExit(removing folder: TemporaryFolder? = nil) {
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
