import Foundation
import Migrator
import POIDatabase
import POIService
import PlaceImport
import PrivateCluster
import Program
import PointsOfInterestServerAPI

/// `poi dev`: serves from a private PostgreSQL of its own, migrated and seeded, with the places of `--import FILE` too.
enum DevCommand {
    static func run(_ invocation: Invocation) throws {
        try invocation.refuseWords(after: 1)
        var reader = invocation.settings
        var configuration = try ServiceConfiguration(
            from: &reader, processorCount: ProcessInfo.processInfo.activeProcessorCount, isDevelopment: true)
        let migrations = try MigrationSettings(from: &reader, seedsByDefault: true)
        let state = try DevelopmentState(from: &reader)
        var database = try DatabaseConfiguration(from: &reader)
        database.index.directory = database.index.directory ?? IndexDirectory(path: state.placesPath)
        var events = try EventDatabaseConfiguration(from: &reader, database: database)
        var edits = try EditDatabaseConfiguration(from: &reader, database: database)
        let source = try reader.takeOption("--import").map { path throws(ConfigurationError) in
            try ImportSource(paths: [path], from: &reader, switches: invocation.line.switches)
        }
        let maximumErrors = source == nil ? nil : try ImportOptions.maximumErrors(from: &reader)
        if try invocation.printsConfiguration(reader) { return }
        let url = try state.start()
        defer { state.stop() }
        try database.use(connectionString: url)
        try events.use(connectionString: url)
        try edits.use(connectionString: url)
        try migrate(database, migrations, in: state)
        if let source { try importPlaces(source, maximumErrors, into: database) }
        Terminal.tell("DATABASE_URL=\(url)")
        let isOpenToAll = !["127.0.0.1", "::1", "localhost"].contains(configuration.host)
        let key = configuration.editing.access == nil && !isOpenToAll ? AccessKey() : nil
        if let key {
            configuration.editing.allow(key, named: "dev")
            Terminal.tell("editor's key: \(key.text)")
        }
        try DatabaseService(
            configuration: configuration, database: database, events: events, edits: edits,
            migrations: try migrations.directory()
        ).run(onReady: { address in
            // At once, so that no line of the log comes between.
            let edit = key == nil ? "" : "edit places: \(address)/#edit=1, with the editor's key\n"
            Terminal.tell(
                "serving \(address)\n\(edit)try: curl '\(address)/locations?lat=37.3293&long=-121.8893'")
        })
    }

    /// Makes the places of a file a dataset that is named after it. The database is private, so whatever categories there
    /// are get in, and whatever the file doesn't have any more goes.
    private static func importPlaces(
        _ source: ImportSource, _ maximumErrors: Int?, into database: DatabaseConfiguration
    ) throws {
        let path = source.paths.first ?? "-"
        let file = URL(filePath: path).lastPathComponent.prefix { $0 != "." }
        let isName = path != "-" && TableCheck.isSingleLine(String(file), maximumLength: 100)
        let name = isName ? String(file) : "imported"
        var options = ImportOptions(dataset: DatasetDescription(name: name, license: "unknown"))
        (options.addsCategories, options.removesVanished, options.allowed) = (true, true, .everything)
        options.maximumErrors = maximumErrors
        Terminal.tell("dataset \(name), license unknown:")
        Terminal.tell("\(try ImportCommand.run(DatasetImport(database, source, options)))")
    }

    /// Applies the migrations. A database that can't get there stays as it is: removing data is for its owner to do.
    private static func migrate(
        _ database: DatabaseConfiguration, _ settings: MigrationSettings, in state: DevelopmentState
    ) throws {
        do {
            try Migration(database, settings: settings) { Terminal.printError("\($0)") }.run(.up)
        } catch MigrationError.replacedFiles { throw ReplacedDatabase(dataPath: state.dataPath) }
    }
}

/// The private database was made by a version that was never released.
private struct ReplacedDatabase: Error, CustomStringConvertible {
    let dataPath: String

    /// One line, with a command for a shell at its end.
    var description: String {
        let (from, to) = (dataPath.quotedForShell, (dataPath + "-before-0.4.0").quotedForShell)
        return "the private database was made by a version that was never released; nothing was changed. "
            + "To keep it and start afresh: mv \(from) \(to)"
    }
}

/// What `poi dev` keeps between runs: a private PostgreSQL in a folder of its own.
struct DevelopmentState: Sendable {
    private let directory: URL
    private let cluster: PrivateCluster

    private static let database = "points_of_interest"

    init(from reader: inout SettingsReader) throws(ConfigurationError) {
        let path = try reader.read(
            .text(.stateDir, "where poi dev keeps its private PostgreSQL", default: ".local"))
        directory = URL(filePath: path, directoryHint: .isDirectory)
        cluster = PrivateCluster(directory: directory.appending(path: "postgres"))
    }

    /// Starts the server, which is created the first time; returns a libpq URI for the service's database. While the server
    /// runs, the URI is also in the folder's file `database-url`, for `make psql`.
    func start() throws -> String {
        try cluster.start()
        if try !cluster.hasDatabase(Self.database) { try cluster.createDatabase(Self.database) }
        let url = try cluster.connectionString(database: Self.database)
        try Data((url + "\n").utf8).write(to: urlFile)
        return url
    }

    /// The folder of the server and its data, with symbolic links resolved.
    package var dataPath: String { directory.appending(path: "postgres").resolvingSymlinksInPath().path }

    /// The folder in which places are kept.
    var placesPath: String { directory.appending(path: "places").path }

    /// Stops the server. It would also stop with the process, however that ends.
    func stop() {
        try? FileManager.default.removeItem(at: urlFile)
        cluster.stop()
    }

    private var urlFile: URL { directory.appending(path: "database-url") }
}
