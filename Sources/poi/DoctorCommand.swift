import ChildProcesses
import Foundation
import POIDatabase
import POIService
import Program

/// `poi doctor`: what an operator checks before servers go live. It changes nothing.
enum DoctorCommand {
    static let help = """
        poi doctor [--servers N]

        Asks the databases that the settings name, looks at this machine, and changes nothing. Run it where a server will
        run, with that server's settings.

        --servers N   how many servers there will be, whose connections the databases have to take; 2 if it isn't given

        Each line says good, warning or fault, and what to do. The exit code is that of the worst, 0, 1 or 2, and 64 for a
        setting that can't be used. Documentation/operations.md says more.
        """

    private static let serverCounts = 1...10_000

    static func run(_ invocation: Invocation) throws -> Int32 {
        try invocation.refuseWords(after: 1)
        var reader = invocation.settings
        let servers = try serverCount(&reader)
        let service = try ServiceConfiguration(
            from: &reader, processorCount: ProcessInfo.processInfo.activeProcessorCount)
        let database = try DatabaseConfiguration(from: &reader)
        let events = try EventDatabaseConfiguration(from: &reader, database: database)
        let edits = try EditDatabaseConfiguration(from: &reader, database: database)
        let migrations = try MigrationSettings(from: &reader)
        if try invocation.printsConfiguration(reader) { return 0 }
        let doctor = Doctor(
            database, events: events, reports: service.reports.isOn ? edits : nil,
            migrations: try migrations.directory(),
            fleet: Doctor.Fleet(servers: servers, loops: service.loops))
        var findings = try doctor.run()
        let storeConnections = database.pool.connections + events.pool.connections + 1
        findings.append(descriptors(service, storeConnections: storeConnections))
        if let backups = Backups.finding(environment: invocation.environment) { findings.append(backups) }
        for finding in findings { try Terminal.print("\(finding)") }
        return findings.map(\.grade).max()?.rawValue ?? 0
    }

    private static func serverCount(_ reader: inout SettingsReader) throws(ConfigurationError) -> Int {
        guard let text = reader.takeOption("--servers") else { return 2 }
        guard let count = Int(text), serverCounts.contains(count) else {
            throw ConfigurationError("--servers=\(text): expected a whole number from 1 to 10000")
        }
        return count
    }

    private static func descriptors(_ service: ServiceConfiguration, storeConnections: Int) -> Finding {
        let wanted = service.maxConnectionsPerLoop * service.loops
        guard let limit = DescriptorLimit.raise() else {
            return Finding("descriptors", good: "there is no limit")
        }
        let left = DescriptorLimit.leftForClients(
            of: limit, loops: service.loops, storeConnections: storeConnections)
        guard left < wanted else {
            return Finding("descriptors", good: "\(limit) are enough for \(wanted) connections")
        }
        return Finding(
            "descriptors", .warning,
            "\(limit) leave room for \(left) connections of clients, not for \(wanted)",
            advice: "raise LimitNOFILE or ulimit, or lower POI_MAX_CONNECTIONS")
    }
}

/// The age of the newest backup, where pgBackRest runs on this machine.
enum Backups {
    /// As old as a daily backup may be, with two hours for making it; the alert PoiBackupOld has the same limit.
    static let maximumAge = Duration.seconds(26 * 3600)

    private struct Stanza: Decodable {
        struct Backup: Decodable {
            struct Times: Decodable { let stop: Double }
            let timestamp: Times
        }

        let name: String
        let backup: [Backup]
    }

    /// Nil where pgBackRest isn't installed here, or backs nothing up.
    static func finding(environment: [String: String]) -> Finding? {
        let folders = environment["PATH"]?.split(separator: ":") ?? []
        guard
            let program = folders.map({ "\($0)/pgbackrest" })
                .first(where: { FileManager.default.isExecutableFile(atPath: $0) })
        else { return nil }
        return finding(information(program, environment: environment), now: Date())
    }

    private static func finding(_ information: Data, now: Date) -> Finding? {
        let advice = "see PoiBackupOld in Documentation/operations.md"
        guard let stanzas = try? JSONDecoder().decode([Stanza].self, from: information) else {
            return Finding(
                "backups", .warning, "pgbackrest info can't be read",
                advice: "run it as the user who backs up")
        }
        guard !stanzas.isEmpty else { return nil }
        let newest = stanzas.flatMap(\.backup).map(\.timestamp.stop).max()
        guard let newest else { return Finding("backups", .fault, "there is no backup", advice: advice) }
        let age = Duration.seconds((now.timeIntervalSince1970 - newest).rounded())
        guard age > maximumAge else { return Finding("backups", good: "the newest is \(age) old") }
        return Finding("backups", .fault, "the newest is \(age) old", advice: advice)
    }

    private static func information(_ program: String, environment: [String: String]) -> Data {
        guard let (ours, theirs) = try? socketPair(), let nothing = FileHandle(forUpdatingAtPath: "/dev/null")
        else { return Data() }
        let output = FileHandle(fileDescriptor: ours, closeOnDealloc: true)
        let process = try? ChildProcess(
            arguments: [program, "--output=json", "info"], environment: environment,
            descriptors: [nothing.fileDescriptor, theirs, nothing.fileDescriptor])
        close(theirs)
        guard let process else { return Data() }
        let data = (try? output.readToEnd()) ?? Data()
        return process.wait() == 0 ? data : Data()
    }
}
