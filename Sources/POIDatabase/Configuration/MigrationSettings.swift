import Foundation
import Migrator
import Program

/// Where the migrations are, and whether a run applies the seeds too.
public struct MigrationSettings: Sendable {
    /// The folder of the files.
    public let path: String
    /// Whether pending seeds are applied too.
    public let includesSeeds: Bool

    /// Reads the settings.
    ///
    /// - Parameters:
    ///   - reader: the environment and the options.
    ///   - seedsByDefault: whether seeds are applied where `POI_SEEDS` isn't set.
    /// - Throws: `ConfigurationError` for the first setting that can't be used, and where there is no such folder.
    public init(
        from reader: inout SettingsReader, seedsByDefault: Bool = false
    ) throws(ConfigurationError) {
        path = try reader.read(
            .text(.migrationsDir, "folder of the migrations", default: Self.defaultPath))
        includesSeeds = try reader.read(
            .flag(.seeds, "whether migrating applies the seeds too", default: seedsByDefault))
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue else {
            throw ConfigurationError("POI_MIGRATIONS_DIR=\(path): expected the folder of the migrations")
        }
    }

    /// Reads and checks the files.
    ///
    /// - Throws: `MigrationError` for the first file that is not in order.
    public func directory() throws(MigrationError) -> MigrationDirectory {
        try MigrationDirectory(path: path, replacing: Self.draft)
    }

    /// The numbers of the schema's draft, which 0101 and later replace.
    private static let draft = "0001"..."0017"

    /// `Migrations` in the working directory, else the folder that is installed beside the program: `bin/poi` and
    /// `share/poi/Migrations`.
    private static var defaultPath: String {
        let local = "Migrations"
        guard !FileManager.default.fileExists(atPath: local),
            let program = Bundle.main.executableURL?.resolvingSymlinksInPath()
        else { return local }
        let installed = program.deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "share/poi/Migrations").path(percentEncoded: false)
        return FileManager.default.fileExists(atPath: installed) ? installed : local
    }
}
