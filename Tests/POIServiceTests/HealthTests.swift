import Testing

@testable import POIService
@testable import Telemetry

@Suite("Health")
struct HealthTests {
    @Test("A service is ready once its database was reached and has every migration")
    func becomesReady() {
        let health = Health(requiresDatabase: false)
        #expect(health.report.notReadyReason?.contains("starting") == true)
        #expect(!health.report.isDatabaseReachable)
        #expect(names(health.update(.reachable(missingMigrations: []))) == ["reachable", "applied"])
        #expect(
            health.report == Health.Report(notReadyReason: nil, isDatabaseReachable: true, isDraining: false))
    }

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

    @Test("The service isn't ready if it is too old for the schema, and each change is reported once")
    func outdated() {
        let health = Health(requiresDatabase: false)
        #expect(names(health.update(.reachable(missingMigrations: []))) == ["reachable", "applied"])
        #expect(names(health.update(.outdated(byMigrations: ["0009_a"]))) == ["outdated 0009_a"])
        #expect(health.report.notReadyReason?.contains("newer version") == true)
        #expect(health.report.isDatabaseReachable)
        #expect(names(health.update(.outdated(byMigrations: ["0009_a"]))) == [])
        #expect(names(health.update(.reachable(missingMigrations: []))) == ["applied"])
        #expect(health.report.notReadyReason == nil)
    }

    @Test("A database of replaced migrations keeps the service from being ready, and is logged once")
    func replaced() {
        let health = Health(requiresDatabase: false)
        #expect(names(health.update(.replaced(migrations: ["0001"]))) == ["reachable", "replaced 0001"])
        #expect(health.report.notReadyReason?.contains("replaces") == true)
        #expect(health.report.isDatabaseReachable)
        #expect(names(health.update(.replaced(migrations: ["0001"]))) == [])
        #expect(names(health.update(.outdated(byMigrations: ["0109_a"]))) == ["outdated 0109_a"])
        #expect(names(health.update(.replaced(migrations: ["0001"]))) == ["replaced 0001"])
        #expect(names(health.update(.reachable(missingMigrations: []))) == ["applied"])
        #expect(health.report.notReadyReason == nil)
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
            case .programOutdated(let names): (["outdated"] + names).joined(separator: " ")
            case .schemaReplaced(let versions): (["replaced"] + versions).joined(separator: " ")
            case .migrationsApplied: "applied"
            default: "\(observation)"
            }
        }
    }
}
