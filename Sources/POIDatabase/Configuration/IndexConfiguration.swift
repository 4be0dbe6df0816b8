import Program

/// Whether a process keeps the places in memory.
package enum IndexUse: String, Sendable, CaseIterable {
    /// It serves nothing else, and isn't ready before it has them.
    case on
    /// Every request reads the database.
    case off
}

/// The settings of the index of places in memory, validated.
package struct IndexConfiguration: Sendable {
    /// Whether places are kept in memory.
    package var use: IndexUse
    /// The maximum memory that it may take, in bytes, also while it is loaded anew.
    package var maximumBytes: Int
    /// Where that maximum comes from, for the log.
    var maximumOrigin = SettingName.indexMaxMemory.rawValue

    /// How long places may be served without having been compared with the database.
    package var maximumStaleness: Duration

    /// The folder in which places are kept across restarts; nil where they aren't.
    package var directory: IndexDirectory?

    /// How often places in memory are compared with the database's, how many each time, and how often the triggers that
    /// record changes are checked. These and the next aren't settings: only tests change them.
    var verificationInterval = Duration.milliseconds(900)
    var verifiedCount = 1000
    var triggerInterval = Duration.seconds(60)
    /// The shortest time between two files.
    var fileInterval = Duration.seconds(600)

    /// While the index is loaded anew, memory holds the old places, the new ones, and what builds them.
    static let peakFactor = 2.1

    /// Reads the settings.
    init(from reader: inout SettingsReader) throws(ConfigurationError) {
        use = try reader.read(.index)
        let limit = MemoryLimit()
        let maximum = limit.forPlaces
        let origin = limit.originForPlaces
        maximumBytes = try reader.read(
            .indexMaximumMemory, unlessSet: maximum, shownAs: "\(maximum >> 20)MiB", origin: origin)
        if reader.entries.last?.origin == origin { maximumOrigin = origin }
        maximumStaleness = try reader.read(.indexMaximumStaleness)
        directory = try IndexDirectory(from: &reader)
    }

    /// How many bytes places may take so that they fit, also while they are loaded anew.
    var placeBytes: Int { Int(Double(maximumBytes) / Self.peakFactor) }

    /// Whether places that take so many bytes fit.
    func fits(_ bytes: Int) -> Bool { bytes <= placeBytes }
}

extension Setting where Value == IndexUse {
    static let index = choice(
        .index,
        "whether places are served from memory: on, or off (few places: each request asks PostgreSQL)",
        default: IndexUse.on)
}

extension Setting where Value == Duration {
    static let indexMaximumStaleness = duration(
        .indexMaxStaleness,
        "how long places in memory may be served while the database can't be asked, or is behind",
        in: .seconds(1) ... .seconds(30 * 86_400), default: "24h")
}

extension IndexDirectory {
    /// The folder that the settings name, if they do.
    package convenience init?(from reader: inout SettingsReader) throws(ConfigurationError) {
        guard let path = try reader.readIfPresent(.indexDirectory) else { return nil }
        self.init(path: path)
    }
}

extension Setting where Value == String {
    fileprivate static let indexDirectory = text(
        .indexDir,
        "folder of this machine in which places are kept across restarts; without it a start needs the database"
    )
}

extension Setting where Value == Int {
    static let indexMaximumMemory = optionalBytes(
        .indexMaxMemory,
        "maximum memory for places, such as 2GiB; without it half of what a control group, such as a container, leaves "
            + "the process, or a quarter of the machine's",
        in: 1 << 20...1 << 50)
}

extension MemoryLimit {
    /// The bytes that places may take by default: half of a limit, which is meant for this process, or a quarter of a
    /// machine, which may have other processes.
    fileprivate var forPlaces: Int { file == nil ? bytes / 4 : bytes / 2 }

    /// Where that number comes from, in words.
    fileprivate var originForPlaces: String {
        guard let file else { return "a quarter of the machine's \(bytes >> 20) MiB" }
        return "half of the \(bytes >> 20) MiB that \(file) allows"
    }
}
