import ChildProcesses
import Foundation

enum GDALProgram: String {
    case converter = "ogr2ogr"
    case describer = "ogrinfo"
}

/// The installed programs of GDAL, `ogr2ogr` and `ogrinfo`, restricted to the file that they are given.
///
/// They have only the drivers for that file's format, only what they need of our environment, and no network. Where
/// `bubblewrap` works, they see nothing but the file, system folders and a folder of their own.
struct ConfinedGDAL {
    /// A warning for people; nil if there is none.
    var remark: String? {
        bubblewrap == nil
            ? "ogr2ogr runs without a sandbox, since bubblewrap is missing or can't work here; see Documentation/import.md"
            : nil
    }

    /// The path of `bwrap`; nil where there is none that works.
    private let bubblewrap: String?
    private let environment: [String: String]
    private let drivers: [String]

    /// How much memory a run may allocate, in bytes: GDAL keeps all of a workbook and of KML. An XLSX with a million rows of
    /// seven columns takes 0.8 GiB.
    static let maximumMemory = 1 << 30
    /// The driver that writes the output of each run.
    private static let outputDriver = "GeoJSONSeq"
    /// The variables of our environment that a run gets, if they are set.
    private static let inherited = [
        "PATH", "LANG", "LC_ALL", "LC_CTYPE", "GDAL_DATA", "PROJ_DATA", "PROJ_LIB",
    ]

    /// Finds `ogr2ogr`, and finds out whether there is a sandbox for it.
    init(environment: [String: String]) throws(ImportError) {
        let program = try Self.path(of: .converter, in: environment)
        var own = environment.filter { Self.inherited.contains($0.key) }
        // curl doesn't know this scheme of a proxy, so any request fails before it connects.
        own["ALL_PROXY"] = "none://"
        own["PROJ_NETWORK"] = "OFF"
        // Ignores files beside the data with GDAL's settings for them.
        own["GDAL_PAM_ENABLED"] = "NO"
        // Views and columns of a schema may call only harmless functions, and GDAL has no tables of its own in SQLite.
        own["OGR_SQLITE_PRAGMA"] = "trusted_schema=OFF"
        own["OGR_SQLITE_STATIC_VIRTUAL_OGR"] = "NO"
        self.environment = own
        let candidate = executable("bwrap", in: environment)
        for bubblewrap in [candidate, nil] {
            let run = Self.command(
                program, ["--formats"], files: [], folder: nil, in: bubblewrap, environment: own)
            guard let drivers = try Self.drivers(run, own), !drivers.isEmpty else { continue }
            (self.bubblewrap, self.drivers) = (bubblewrap, drivers)
            return
        }
        throw ImportError("ogr2ogr doesn't run, or in no way that is known")
    }

    static func path(
        of program: GDALProgram, in environment: [String: String]
    ) throws(ImportError) -> String {
        guard let path = executable(program.rawValue, in: environment) else {
            throw ImportError("\(program.rawValue) reads this format: install gdal-bin (with Homebrew, gdal)")
        }
        return path
    }

    /// An environment in which GDAL opens a source with the drivers that may read it, and no other.
    /// - Throws: ``ImportError`` where GDAL has none of them, or would keep others.
    func environment(
        of program: GDALProgram, for source: GDALSource
    ) throws(ImportError) -> [String: String] {
        let program = try Self.path(of: program, in: environment)
        let wanted = source.drivers ?? []
        let allowed = drivers.filter { wanted.contains($0) || $0 == Self.outputDriver }
        guard drivers.contains(where: wanted.contains) else {
            throw ImportError("the installed GDAL has no driver \(wanted.joined(separator: " or "))")
        }
        var environment = environment
        environment["GDAL_SKIP"] = drivers.filter { !allowed.contains($0) }.joined(separator: ",")
        // Asks GDAL which drivers are left, since not every version may understand the setting.
        let command = Self.command(
            program, ["--formats"], files: [], folder: nil, in: bubblewrap, environment: environment)
        let left = try Self.drivers(command, environment)
        guard let left, Set(left) == Set(allowed) else {
            throw ImportError("this GDAL can't be kept to its driver \(wanted.joined(separator: " or "))")
        }
        return environment
    }

    func command(
        _ program: GDALProgram, _ arguments: [String], source: GDALSource, folder: WorkFolder,
        environment: [String: String]
    ) throws(ImportError) -> [String] {
        Self.command(
            try Self.path(of: program, in: environment), arguments, files: source.files, folder: folder.path,
            in: bubblewrap, environment: environment)
    }

    /// The names in what `--formats` prints, such as `  GPX -vector- (rw+v): GPX`. Nil if it doesn't run or prints anything
    /// else, because a driver that is overlooked would stay.
    private static func drivers(
        _ command: [String], _ environment: [String: String]
    ) throws(ImportError) -> [String]? {
        do {
            let output = try WorkFolder.unlinkedFile()
            let none = try check(open("/dev/null", O_RDWR | O_CLOEXEC), "open")
            defer { close(none) }
            let process = try ChildProcess(
                arguments: command, environment: environment,
                descriptors: [none, output.fileDescriptor, none])
            guard process.wait() == 0 else { return nil }
            try output.seek(toOffset: 0)
            let text = String(decoding: try output.readToEnd() ?? Data(), as: UTF8.self)
            let lines = text.split(separator: "\n").dropFirst()
            let driver = /\s+(.+?) -[a-z, ]+- \(/
            let names = lines.compactMap { $0.prefixMatch(of: driver)?.output.1 }
            return names.count == lines.count ? names.map(String.init) : nil
        } catch {
            throw ImportError("ogr2ogr can't be started: \(error)")
        }
    }

    /// A command with bounded memory, in the sandbox where there is one.
    private static func command(
        _ program: String, _ arguments: [String], files: [String], folder: String?, in bubblewrap: String?,
        environment: [String: String]
    ) -> [String] {
        // What the program allocates (RLIMIT_DATA), in KiB; macOS has no such limit.
        let limit = "ulimit -d \(maximumMemory >> 10) 2>/dev/null; ulimit -c 0; exec \"$@\""
        let shell = ["/bin/sh", "-c", limit, "sh"]
        guard let bubblewrap else { return shell + [program] + arguments }
        // System folders: the program, its libraries, and where Debian says which of several libraries is meant.
        let system = ["/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/alternatives"]
        let data = ["GDAL_DATA", "PROJ_DATA", "PROJ_LIB"].compactMap { environment[$0] }.flatMap {
            $0.split(separator: ":")
        }
        let own = folder.map { ["--bind", $0, $0] } ?? []
        return shell + [
            bubblewrap, "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL",
        ]
            + (system + data.map(String.init)).flatMap { ["--ro-bind-try", $0, $0] }
            + ["--dev", "/dev"] + own + files.flatMap { ["--ro-bind", $0, $0] }
            + ["--chdir", "/", "--", program] + arguments
    }
}

func executable(_ name: String, in environment: [String: String]) -> String? {
    (environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":").map { "\($0)/\(name)" }
        .first { $0.hasPrefix("/") && FileManager.default.isExecutableFile(atPath: $0) }
}

/// A folder that only we can read, for what a program keeps in files while it runs. It is removed with the last reference to
/// it; where our process ends before that, by whoever watches over the program (``GDALProcess``).
final class WorkFolder: Sendable {
    let path: String

    init() throws(ImportError) {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent(
            "poi-import-\(UUID().uuidString)")
        path = url.path
        do {
            try FileManager.default.createDirectory(
                at: url, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        } catch {
            throw ImportError("there is no folder for temporary files: \(error.localizedDescription)")
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// A file without a name, which disappears with its descriptor.
    static func unlinkedFile() throws -> FileHandle {
        let folder = try WorkFolder()
        let path = folder.path + "/output"
        try Data().write(to: URL(fileURLWithPath: path))
        return try withExtendedLifetime(folder) { try FileHandle(forUpdating: URL(fileURLWithPath: path)) }
    }
}
