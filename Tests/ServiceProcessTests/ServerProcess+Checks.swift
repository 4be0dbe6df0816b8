import ServerProcess
import ServiceFixtures
import Testing

extension ServerProcess {
    /// Ends the service in order, and checks what every run of it must show: that it hasn't crashed, and that
    /// nothing it wrote tells where anybody was.
    func finish(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let exitCode = try await stop()
        #expect(exitCode == 0, "\(program.output.text)", sourceLocation: sourceLocation)
        expectSoundOutput(sourceLocation: sourceLocation)
    }

    func expectSoundOutput(sourceLocation: SourceLocation = #_sourceLocation) {
        let telling = program.output.unsoundLines
        #expect(
            telling.isEmpty, "\(telling.prefix(50).joined(separator: "\n"))", sourceLocation: sourceLocation)
    }
}
