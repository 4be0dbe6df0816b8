import Foundation
import ServerProcess
import ServiceFixtures
import Testing

extension ServerProcess {
    /// Its metrics now, which have to be in order.
    func scrape() async throws -> PrometheusText {
        let answer = try await get("/metrics", port: adminPort())
        #expect(answer.status == 200)
        #expect(answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
        #expect(answer.headers["cache-control"] == "no-store")
        return try PrometheusText(String(decoding: answer.body, as: UTF8.self))
    }
}
