import Foundation
import ServerProcess
import ServiceFixtures
import Testing

extension ServerProcess {
    /// Ends the service in order, and checks what every run of it must show: that it hasn't crashed, and that
    /// its output has no coordinates of a request.
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

extension ServerProcess {
    /// Its metrics now, which have to be in order.
    func scrape() async throws -> PrometheusText {
        let response = try await get("/metrics", port: adminPort())
        #expect(response.status == 200)
        #expect(response.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
        #expect(response.headers["cache-control"] == "no-store")
        return try PrometheusText(String(decoding: response.body, as: UTF8.self))
    }
}
