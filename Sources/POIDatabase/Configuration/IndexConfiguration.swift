import Foundation
import POIService

/// Whether a process keeps the places in memory.
public enum IndexUse: String, Sendable, CaseIterable {
    /// While they fit.
    case auto
    /// The process isn't ready before it has them in memory.
    case on
    /// Every request reads the database.
    case off
}

/// The settings of the index of places in memory, validated.
public struct IndexConfiguration: Sendable {
    /// Whether there is one.
    public var use: IndexUse
    /// The maximum memory that it may take, in bytes.
    public var maximumBytes: Int

    /// While it is loaded anew, the old places and the new ones are in memory, and what builds them.
    static let peakFactor = 2.1

    /// Reads the settings.
    ///
    /// - Throws: the first setting that can't be used.
    init(from reader: inout SettingsReader) throws(ConfigurationError) {
        use = try reader.read(.index)
        maximumBytes = try reader.readIfPresent(.indexMaximumMemory) ?? MachineMemory.bytes / 4
    }

    /// Whether places that take so many bytes fit, also while they are loaded anew.
    func fits(_ bytes: Int) -> Bool { Double(bytes) * Self.peakFactor <= Double(maximumBytes) }
}

extension Setting where Value == IndexUse {
    static let index = choice(
        "POI_INDEX", "whether places are kept in memory: auto (while they fit), on, off",
        default: IndexUse.auto)
}

extension Setting where Value == Int {
    static let indexMaximumMemory = optionalBytes(
        "POI_INDEX_MAX_MEMORY",
        "maximum memory for places, such as 2GiB; a quarter of the machine's or the container's without it",
        in: 1 << 20...1 << 50)
}

/// The memory that the process may use.
enum MachineMemory {
    /// The machine's, or the limit of the process's control group where that is lower, in bytes.
    static var bytes: Int {
        let physical = Int(clamping: ProcessInfo.processInfo.physicalMemory)
        return limitFiles.compactMap(limit).reduce(physical, min)
    }

    /// Of version 2 and 1 of Linux's control groups, as a container sees its own (cgroups(7)).
    private static let limitFiles = [
        "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes",
    ]

    /// Nil where there is no limit.
    private static func limit(_ path: String) -> Int? {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8),
            let bytes = Int(text.filter { !$0.isWhitespace }), bytes > 0
        else { return nil }
        return bytes
    }
}
