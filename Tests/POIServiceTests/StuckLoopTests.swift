import Dispatch
import EventLoop
import HTTPServer
import MockService
import PointsOfInterestAPI
@testable import Program
import Testing

@testable import POIService

@Suite("While a loop of the service is stuck", .timeLimit(.minutes(1)))
struct StuckLoopTests {
    /// Two loops that serve requests, and a third one with the admin listener that watches them.
    private struct Site {
        let threads: [EventLoopThread]
        let adminThread: EventLoopThread
        let health: Health
        let adminPort: Int
        let serviceLoops: [LoopBound<ServiceLoop>]
        let admin: LoopBound<AdminServer>
        let log: LogFile

        init() async throws {
            let log = try LogFile()
            let observability = log.observability
            var reader = SettingsReader(flags: [:], environment: [:])
            let configuration = try ServiceConfiguration(from: &reader, processorCount: 2)
            let limits = SharedLimits(configuration)
            let pulses = [LoopPulse(name: "0"), LoopPulse(name: "1")]
            let health = Health(requiresDatabase: false, loops: pulses, stuckAfter: .milliseconds(1200))
            _ = health.update(.reachable(missingMigrations: []))
            let sockets = try BoundSocket.bind(host: "127.0.0.1", port: 0, count: 2)
            threads = try pulses.map { try EventLoopThread.start(name: "loop-\($0.name)") }
            adminThread = try EventLoopThread.start(name: "admin")
            var serviceLoops: [LoopBound<ServiceLoop>] = []
            for (index, thread) in threads.enumerated() {
                serviceLoops.append(
                    try await thread.loop.submit {
                        let loop = try ServiceLoop(
                            pulse: pulses[index], loop: thread.loop, socket: sockets[index],
                            store: StubStore(),
                            events: MemoryEventStore(), health: health, observability: observability,
                            configuration: configuration, limits: limits)
                        return LoopBound(loop, loop: thread.loop)
                    })
            }
            let metrics = MetricsCollector(
                loops: serviceLoops, health: health, observability: observability, connectionsLimit: 1,
                memory: limits.memory)
            let socket = try BoundSocket.bind(host: "127.0.0.1", port: 0)[0]
            let adminLoop = adminThread.loop
            admin = try await adminLoop.submit {
                LoopBound(
                    try AdminServer(
                        loop: adminLoop, socket: socket, health: health, metrics: metrics,
                        observability: observability), loop: adminLoop)
            }
            self.health = health
            self.serviceLoops = serviceLoops
            self.log = log
            adminPort = socket.port
        }

        /// Why the admin listener's response isn't 200; nil where it is.
        func refusal(of path: String) -> String? {
            do {
                try HealthProbe(host: "127.0.0.1", port: adminPort, path: path).run()
                return nil
            } catch {
                return "\(error)"
            }
        }

        func stop() async throws {
            for loop in serviceLoops { await loop.onLoop { _ = await $0.shutdown(timeout: .zero) } }
            await admin.onLoop { await $0.shutdown() }
            for thread in threads + [adminThread] { #expect(thread.stopAndJoin() == 0) }
            _ = try log.finish()
        }
    }

    @Test("While a loop is stuck, the admin listener names it and the process isn't ready")
    func stuckLoop() async throws {
        let site = try await Site()
        for path in ["/livez", "/readyz", "/metrics"] { while site.refusal(of: path) != nil {} }
        let end = DispatchSemaphore(value: 0)
        site.threads[1].loop.execute { end.wait() }
        // A machine with much to do may keep the other loop from turning for a while as well.
        while site.refusal(of: "/livez")?.contains("its response is 503: Loop 1 hasn't turned for ") != true {
        }
        #expect(site.refusal(of: "/readyz")?.contains("An event loop of the service is stuck.") == true)
        // Once the loop has been silent for two seconds its metrics are left out, and nobody waits for them.
        while site.health.loopReports[1].secondsSinceTurn < 2 { #expect(site.refusal(of: "/livez") != nil) }
        #expect(site.refusal(of: "/metrics") == nil)
        end.signal()
        for path in ["/livez", "/readyz"] { while site.refusal(of: path) != nil {} }
        try await site.stop()
    }
}
