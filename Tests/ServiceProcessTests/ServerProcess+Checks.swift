import ServerProcess
import Testing

/// A place to ask from that can't be mistaken for anything else in a log.
let secretTarget = "/locations?lat=37.32931357&long=-121.88938642"

extension ServerProcess {
    /// Ends the service in order, and checks what every run of it must show: that it hasn't crashed, and that
    /// nothing it wrote tells where anybody was.
    func finish(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let exitCode = try await stop()
        #expect(exitCode == 0, "\(program.output.text)", sourceLocation: sourceLocation)
        expectSoundOutput(sourceLocation: sourceLocation)
    }

    func expectSoundOutput(sourceLocation: SourceLocation = #_sourceLocation) {
        let signs = ["Fatal error", "Assertion", "Precondition", "Crash", "Sanitizer", "corrupt", "SUMMARY"]
        let coordinates = ["37.3293135", "121.8893864"]
        let telling = program.output.lines.map(\.text).filter { line in
            (signs + coordinates).contains { line.contains($0) }
        }
        #expect(
            telling.isEmpty, "\(telling.prefix(50).joined(separator: "\n"))", sourceLocation: sourceLocation)
    }
}
