import Dispatch
import EventLoop
import HTTPServer
import MockService
import PointsOfInterestAPI
import Testing

@testable import POIService
@testable import Program
@testable import Telemetry

@Suite("Health")
struct HealthTests {
    @Test("A database that can't be reached at the start is reported once, and the service isn't ready")
    func unreachableAtStart() {
        let health = Health(requiresDatabase: false)
        #expect(names(health.update(.unreachable(reason: "refused"))) == ["unreachable refused"])
        #expect(names(health.update(.unreachable(reason: "refused"))) == [])
        #expect(health.report.notReadyReason?.contains("starting") == true)
        #expect(names(health.update(.reachable(missingMigrations: []))) == ["reachable", "applied"])
        #expect(health.report.notReadyReason == nil)
    }

    @Test("The service isn't ready while migrations are missing, and each change is reported once")
    func missingMigrations() {
        let health = Health(requiresDatabase: false)
        #expect(
            names(health.update(.reachable(missingMigrations: ["0003", "0004"])))
                == ["reachable", "missing 0003 0004"])
        #expect(health.report.notReadyReason?.contains("migrations") == true)
        #expect(health.report.isDatabaseReachable)
        #expect(names(health.update(.reachable(missingMigrations: ["0003", "0004"]))) == [])
        #expect(names(health.update(.reachable(missingMigrations: ["0004"]))) == ["missing 0004"])
        #expect(names(health.update(.reachable(missingMigrations: []))) == ["applied"])
        #expect(health.report.notReadyReason == nil)
        #expect(names(health.update(.reachable(missingMigrations: []))) == [])
    }

    @Test(
        "Losing the database makes the service unready only if that is configured", arguments: [false, true])
    func lostDatabase(requiresDatabase: Bool) {
        let health = Health(requiresDatabase: requiresDatabase)
        _ = health.update(.reachable(missingMigrations: []))
        #expect(names(health.update(.unreachable(reason: "gone"))) == ["unreachable gone"])
        #expect(!health.report.isDatabaseReachable)
        #expect((health.report.notReadyReason != nil) == requiresDatabase)
        #expect(names(health.update(.reachable(missingMigrations: []))) == ["reachable"])
        #expect(
            health.report == Health.Report(notReadyReason: nil, isDatabaseReachable: true, isDraining: false))
    }

    @Test("Places of a file make the service ready without its database, until they are too old")
    func kept() {
        let health = Health(requiresDatabase: false)
        #expect(names(health.update(.kept(reason: nil))) == [])
        #expect(health.report.notReadyReason == nil && !health.report.isDatabaseReachable)
        #expect(names(health.update(.kept(reason: "refused"))) == ["unreachable refused"])
        #expect(health.report.notReadyReason == nil)
        #expect(names(health.update(.stale(reason: "refused"))) == [])
        #expect(health.report.notReadyReason?.contains("POI_INDEX_MAX_STALENESS") == true)
        #expect(names(health.update(.reachable(missingMigrations: []))) == ["reachable", "applied"])
        #expect(health.report.notReadyReason == nil)
    }

    @Test("A draining service isn't ready, whatever its database's state")
    func draining() {
        let health = Health(requiresDatabase: false)
        _ = health.update(.reachable(missingMigrations: []))
        health.drain()
        #expect(health.report.notReadyReason?.contains("shutting down") == true)
        _ = health.update(.reachable(missingMigrations: []))
        #expect(health.report.notReadyReason?.contains("shutting down") == true)
    }

    @Test("Reasons for clients don't say why the database fails")
    func blandReasons() {
        let health = Health(requiresDatabase: true)
        _ = health.update(.reachable(missingMigrations: []))
        _ = health.update(.unreachable(reason: "password of user secret"))
        #expect(health.report.notReadyReason?.contains("secret") == false)
    }

    @Test(
        "The events' database is reported by its name, once for each change, and never decides readiness",
        arguments: [false, true])
    func eventsDatabase(requiresDatabase: Bool) {
        let health = Health(requiresDatabase: requiresDatabase)
        _ = health.update(.reachable(missingMigrations: []))
        #expect(health.report.isEventsDatabaseReachable == nil)
        for _ in 0..<2 {
            let isFirst = health.report.isEventsDatabaseReachable == nil
            let news = health.updateEvents(.unreachable(reason: "gone"))
            guard isFirst else {
                #expect(news.isEmpty)
                continue
            }
            guard case .databaseUnreachable(.events, "gone")? = news.first else {
                Issue.record("\(news)")
                continue
            }
        }
        #expect(health.report.isEventsDatabaseReachable == false)
        #expect(health.report.isDatabaseReachable && health.report.notReadyReason == nil)
        let news = health.updateEvents(.reachable(missingMigrations: []))
        if case .databaseReachable(.events)? = news.first {} else { Issue.record("\(news)") }
        #expect(health.report.isEventsDatabaseReachable == true)
    }

    private func names(_ observations: [Observation]) -> [String] {
        observations.map { observation in
            switch observation {
            case .databaseReachable: "reachable"
            case .databaseUnreachable(_, let reason): "unreachable \(reason)"
            case .migrationsMissing(let versions): (["missing"] + versions).joined(separator: " ")
            case .migrationsApplied: "applied"
            default: "\(observation)"
            }
        }
    }
}

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
                            events: MemoryEventStore(), edits: nil, health: health,
                            observability: observability,
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
