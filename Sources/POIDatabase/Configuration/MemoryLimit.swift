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
    /// - Parameters:
    ///   - machineBytes: the machine's memory.
    ///   - read: returns a file's text; nil where it can't be read.
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
    /// Where the hierarchy is mounted.
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

        /// - Parameters:
        ///   - fileSystem: its type.
        ///   - options: those of the file system, which in version 1 name the controllers.
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
