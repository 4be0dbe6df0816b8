import Foundation

/// The memory that the process may use: the machine's, or less where a control group limits it.
struct MemoryLimit: Hashable, Sendable {
    /// In bytes.
    var bytes: Int
    /// The file that sets it; nil where it is the machine's memory.
    var file: String?

    /// The minimum of the machine's memory and the limits of the process's control groups and of all groups around them: each
    /// group bounds what its descendants use together (cgroups(7); Linux, "Control Group v2", "Memory"). Above `memory.high`
    /// a process is slowed down until it has given memory back, so this counts as a limit, too.
    ///
    /// - Parameter read: returns a file's text; nil where it can't be read.
    init(
        machineBytes: Int = Int(clamping: ProcessInfo.processInfo.physicalMemory),
        read: (_ path: String) -> String? = { try? String(contentsOfFile: $0, encoding: .utf8) }
    ) {
        (bytes, file) = (machineBytes, nil)
        let groups = ControlGroup.all(
            groups: read("/proc/self/cgroup") ?? "", mounts: read("/proc/self/mountinfo") ?? "")
        for path in groups.flatMap(\.limitFiles) {
            // Without a limit the text is "max", or the maximum number of pages.
            guard let text = read(path), let limit = Int(text.filter { !$0.isWhitespace }), limit > 0,
                limit < bytes
            else { continue }
            (bytes, file) = (limit, path)
        }
    }
}

/// A control group that the process is in, as far as its folders can be seen.
private struct ControlGroup {
    let mountPoint: String
    /// The group's path below that, name by name.
    let names: [Substring]
    let fileNames: [String]

    /// The files that may limit memory, those of the group itself first, then those of the groups around it.
    var limitFiles: [String] {
        (0...names.count).reversed().flatMap { count in
            let folder = ([Substring(mountPoint)] + names.prefix(count)).joined(separator: "/")
            return fileNames.map { "\(folder)/\($0)" }
        }
    }

    /// The groups of both versions that count memory.
    ///
    /// - Parameters:
    ///   - groups: the text of `/proc/self/cgroup`: lines of `number:controllers:path`, where version 2 has no controllers.
    ///   - mounts: the text of `/proc/self/mountinfo` (proc_pid_mountinfo(5)).
    static func all(groups: String, mounts: String) -> [ControlGroup] {
        let groups = groups.split(whereSeparator: \.isNewline).map {
            $0.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        }
        return mounts.split(whereSeparator: \.isNewline).compactMap { line in
            let fields = line.split(separator: " ", omittingEmptySubsequences: false)
            guard let separator = fields.firstIndex(of: "-"), fields.count > separator + 3, separator > 5,
                let type = Version(fields[separator + 1], options: fields[separator + 3])
            else { return nil }
            let group = groups.first { $0.count == 3 && type.includes(controllers: $0[1]) }
            return ControlGroup(
                mountPoint: String(fields[4]), names: names(of: group?[2] ?? "", below: fields[3]),
                fileNames: type.fileNames)
        }
    }

    /// A group's path below the root of a mount. Empty where the mount doesn't show the group: in a container that sees the
    /// machine's paths but only its own folders, the mount is the group.
    private static func names(of path: Substring, below root: Substring) -> [Substring] {
        let (names, rootNames) = (path.split(separator: "/"), root.split(separator: "/"))
        guard !names.contains(".."), names.starts(with: rootNames) else { return [] }
        return Array(names.dropFirst(rootNames.count))
    }

    private enum Version {
        case one, two

        /// - Parameter options: those of the file system, which in version 1 name the controllers.
        init?(_ fileSystem: Substring, options: Substring) {
            switch fileSystem {
            case "cgroup2": self = .two
            case "cgroup" where options.split(separator: ",").contains("memory"): self = .one
            default: return nil
            }
        }

        func includes(controllers: Substring) -> Bool {
            self == .two ? controllers.isEmpty : controllers.split(separator: ",").contains("memory")
        }

        var fileNames: [String] {
            self == .two ? ["memory.max", "memory.high"] : ["memory.limit_in_bytes"]
        }
    }
}

/// Decides by the number of places whether they are read into memory. Their number is estimated before they are read; the
/// memory that they take is known afterwards. A value that is passed the time.
struct MemoryFit {
    /// What is known of places that didn't fit.
    private struct Excess {
        /// How many bytes each took, or takes at least if they weren't read.
        let bytesOfAPlace: Double
        /// About how many there were, as it was estimated.
        let count: Int
        /// When places are read again, although there seem to be too many: the estimate may be wrong.
        let retry: Duration
    }

    /// A place takes at least so many bytes: its columns, its part of the trees, and a record with a short name.
    static let minimumBytesOfAPlace = 200.0
    /// What a place usually takes: measured with a source for each, and an address for every second one.
    static let usualBytesOfAPlace = 320.0
    /// After so long, places that didn't fit are read again.
    static let retryInterval = Duration.seconds(600)

    /// How many bytes places may take.
    private let maximumBytes: Int
    private var excess: Excess?

    /// - Parameter maximumBytes: how many bytes places may take.
    init(maximumBytes: Int) {
        self.maximumBytes = maximumBytes
    }

    /// Whether the places didn't fit.
    var isExceeded: Bool { excess != nil }

    /// Whether there may be room for about so many places.
    ///
    /// After places didn't fit, their number has to fall by a tenth before they are read again, so that a wrong estimate
    /// doesn't lead to one attempt after the other.
    func admits(_ count: Int, at now: Duration) -> Bool {
        let bytesOfAPlace = excess?.bytesOfAPlace ?? Self.minimumBytesOfAPlace
        let fits = Double(count) * bytesOfAPlace <= Double(maximumBytes)
        guard let excess else { return fits }
        return now >= excess.retry || fits && Double(count) < 0.9 * Double(excess.count)
    }

    /// Notes that the places don't fit: each takes this many bytes, and there are about `count`, as it was estimated.
    mutating func exceeded(bytesOfAPlace: Double, count: Int, at now: Duration) {
        excess = Excess(bytesOfAPlace: bytesOfAPlace, count: count, retry: now + Self.retryInterval)
    }

    /// Notes that the places are being read.
    mutating func begin() {
        excess = nil
    }
}
