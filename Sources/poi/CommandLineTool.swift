import CSystem
import Foundation
import Hashing
import POIDatabase
import POIService
import Program

/// The program `poi`: runs the command that a command line names, and turns its errors into a line and an exit code.
@main
struct CommandLineTool {
    private let environment: [String: String]

    static func main() {
        OpenSSL.keepUntilExit()
        Terminal.prepare()
        poi_return_large_blocks()
        exit(
            CommandLineTool(environment: ProcessInfo.processInfo.environment)
                .run(Array(CommandLine.arguments.dropFirst())))
    }

    private struct Command: Sendable {
        let name: String
        let summary: String
        let help: String?
        let run: @Sendable (Invocation) throws -> Int32

        init(
            name: String, summary: String, help: String? = nil,
            run: @escaping @Sendable (Invocation) throws -> Int32
        ) {
            (self.name, self.summary, self.help, self.run) = (name, summary, help, run)
        }

        /// A command that has done its work where it throws nothing.
        init(
            name: String, summary: String, help: String? = nil,
            run: @escaping @Sendable (Invocation) throws -> Void
        ) {
            self.init(name: name, summary: summary, help: help) { (invocation) throws -> Int32 in
                try run(invocation)
                return 0
            }
        }
    }

    private static let commands = [
        Command(
            name: "serve", summary: "serve places from the PostgreSQL of DATABASE_URL", run: ServeCommand.run),
        Command(
            name: "dev", summary: "serve places from a private PostgreSQL that needs no setting up",
            run: DevCommand.run),
        Command(
            name: "migrate", summary: "up, down, status or validate: the database's schema",
            run: MigrateCommand.run),
        Command(
            name: "import", summary: "bring the places of a dataset to what files say",
            help: ImportCommand.help, run: ImportCommand.run),
        Command(
            name: "refresh", summary: "import a dataset anew from where it comes from: once a day, say",
            help: RefreshCommand.help, run: RefreshCommand.run),
        Command(
            name: "datasets", summary: "list, export or remove: what the places come from",
            help: DatasetsCommand.help, run: DatasetsCommand.run),
        Command(
            name: "imports", summary: "list, or revert: what was imported, and how it is taken back",
            help: ImportsCommand.help, run: ImportsCommand.run),
        Command(
            name: "places", summary: "show, correct, close, remove, restore or merge places",
            help: PlacesCommand.help, run: PlacesCommand.run),
        Command(
            name: "duplicates", summary: "list places of two datasets that are probably the same",
            help: DuplicatesCommand.help, run: DuplicatesCommand.run),
        Command(
            name: "editors", summary: "key: make a key for an editor, and its line for POI_EDITORS_FILE",
            run: EditorsCommand.run),
        Command(
            name: "history", summary: "maintain or forget: what places were",
            run: HistoryCommand.run),
        Command(
            name: "reindex", summary: "make every server read all places again, by a new dataset id",
            run: ReindexCommand.run),
        Command(
            name: "index", summary: "forget: remove the files in which a server keeps its places",
            run: IndexCommand.run),
        Command(
            name: "events", summary: "maintain or export: the app's events in the database",
            run: EventsCommand.run),
        Command(
            name: "maintain", summary: "make partitions ahead, drop what is kept no longer: once a day",
            run: MaintainCommand.run),
        Command(
            name: "doctor", summary: "check the databases and this machine before servers go live",
            help: DoctorCommand.help, run: DoctorCommand.run),
        Command(
            name: "healthcheck",
            summary: "ask the server of HOST and PORT, or --url, whether it lives, or is --ready",
            run: HealthcheckCommand.run),
    ]

    private static let switches: Set<String> = [
        "--help", "--version", "--print-config", "--dry-run", "--yes", "--seeds", "--ready",
        "--include-tests", "--force", "--add-categories", "--sync", "--unconfined-source", "--explain",
        "--reset-options", "--temporarily", "--no-dataset",
    ]

    private func run(_ arguments: [String]) -> Int32 {
        ProgramExit.code(of: "poi") {
            let line = try CommandLineArguments(arguments, switches: Self.switches)
            if line.switches.contains("--version") {
                try Terminal.print("poi \(BuildInformation.version)")
                return 0
            }
            guard let name = line.words.first, !line.switches.contains("--help") else {
                let asked = Self.commands.first { $0.name == line.words.first }
                try Terminal.print(asked?.help ?? Self.usage)
                return line.switches.contains("--help") ? 0 : ConfigurationError.exitCode
            }
            guard let command = Self.commands.first(where: { $0.name == name }) else {
                throw ConfigurationError("unknown command \(name); see poi --help")
            }
            try SettingName.refuseMisspelt(in: environment)
            return try command.run(Invocation(line: line, environment: environment))
        }
    }

    private static var secretFiles: String {
        SettingName.allCases.compactMap(\.file).map { "\($0.flag) FILE" }.joined(separator: ", ")
    }

    private static var usage: String {
        let lines = commands.map { command in
            "  poi " + command.name.padding(toLength: 12, withPad: " ", startingAt: 0) + command.summary
        }
        return """
            Places near a coordinate, from PostgreSQL, over HTTP.

            \(lines.joined(separator: "\n"))

            Every setting is an environment variable and an option: PORT=9000 and --port 9000 are the same.
            Other users of this machine can read options while the program runs. A secret (a database's URL, a key) belongs
            in its variable or in a file: \(secretFiles).
            --print-config shows the settings in effect, and where each came from. --version shows the program's version.
            """
    }
}

extension Invocation {
    /// Refuses options that no setting has; prints the settings, and returns true, where `--print-config` asks for that.
    func printsConfiguration(_ reader: SettingsReader) throws -> Bool {
        try reader.refuseUnknownFlags()
        guard line.switches.contains("--print-config") else { return false }
        try Terminal.print(reader.summary)
        return true
    }
}

/// `poi serve`: serves from the PostgreSQL of `DATABASE_URL`.
enum ServeCommand {
    static func run(_ invocation: Invocation) throws {
        try invocation.refuseWords(after: 1)
        var reader = invocation.settings
        let configuration = try ServiceConfiguration(
            from: &reader, processorCount: ProcessInfo.processInfo.activeProcessorCount)
        let database = try DatabaseConfiguration(from: &reader)
        let events = try EventDatabaseConfiguration(from: &reader, database: database)
        let edits = try EditDatabaseConfiguration(from: &reader, database: database)
        let migrations = try MigrationSettings(from: &reader)
        if try invocation.printsConfiguration(reader) { return }
        StopSignals.ignoreHangup()
        try DatabaseService(
            configuration: configuration, database: database, events: events, edits: edits,
            migrations: try migrations.directory()
        ).run(onListening: { Terminal.tell("serving \($0)") })
    }
}
