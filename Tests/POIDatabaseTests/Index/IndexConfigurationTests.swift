import Testing

@testable import POIDatabase
@testable import Program

/// The settings of the places in memory.
@Suite("The index's settings")
struct IndexConfigurationTests {
    private func configuration(_ environment: [String: String]) throws -> IndexConfiguration {
        var reader = SettingsReader(flags: [:], environment: environment)
        return try DatabaseConfiguration(from: &reader).index
    }

    @Test("Places are kept in memory, of which they may take a part, which --print-config shows")
    func defaults() throws {
        let index = try configuration([:])
        #expect(index.use == .on)
        let limit = MemoryLimit()
        #expect(index.maximumBytes == limit.bytes / (limit.file == nil ? 4 : 2))
        var reader = SettingsReader(flags: [:], environment: [:])
        _ = try IndexConfiguration(from: &reader)
        let shown = "POI_INDEX_MAX_MEMORY=\(index.maximumBytes >> 20)MiB  # \(index.maximumOrigin)"
        #expect(reader.summary.contains(shown))
        #expect(index.maximumOrigin.contains("\(limit.bytes >> 20) MiB"))
    }

    @Test(
        "Memory is a number of bytes, or has a binary unit",
        arguments: [
            ("2097152", 2_097_152), ("2048KiB", 2_097_152), ("512MiB", 512 << 20), ("2GiB", 2 << 30),
            ("1TiB", 1 << 40),
        ])
    func memory(text: String, bytes: Int) throws {
        let index = try configuration(["POI_INDEX": "on", "POI_INDEX_MAX_MEMORY": text])
        #expect(index.use == .on)
        #expect(index.maximumBytes == bytes)
        #expect(index.maximumOrigin == "POI_INDEX_MAX_MEMORY")
        #expect(index.fits(Int(Double(bytes) / 2.11)))
        #expect(!index.fits(Int(Double(bytes) / 2.09)))
    }

    private static let bytes = "bytes, such as 512MiB or 2GiB, at least 1048576"

    @Test(
        "An invalid setting of the index is refused with one line",
        arguments: [
            ("POI_INDEX", "yes", "one of on, off"), ("POI_INDEX_MAX_MEMORY", "2G", bytes),
            ("POI_INDEX_MAX_MEMORY", "99999999999999999GiB", bytes), ("POI_INDEX_MAX_MEMORY", "1KiB", bytes),
        ])
    func refusal(variable: String, value: String, expected: String) {
        let error = #expect(throws: ConfigurationError.self) { try configuration([variable: value]) }
        #expect(error?.description == "\(variable)=\(value): expected \(expected)")
    }
}

/// The memory that a process may use, by files as systemd, Docker and Kubernetes leave them.
@Suite("The memory limit")
struct MemoryLimitTests {
    private static let version2 =
        "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
    private static let version1 = """
        31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755
        35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory
        36 31 0:33 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct

        """

    private func limit(groups: String, mounts: String, _ files: [String: String]) -> MemoryLimit {
        let all = files.merging(["/proc/self/cgroup": groups, "/proc/self/mountinfo": mounts]) { $1 }
        return MemoryLimit(machineBytes: 1_000_000) { all[$0] }
    }

    @Test("The limit is the machine's memory if no control group has one")
    func none() {
        #expect(limit(groups: "", mounts: "", [:]) == limit(groups: "0::/\n", mounts: Self.version2, [:]))
        let free = limit(
            groups: "0::/a\n", mounts: Self.version2,
            ["/sys/fs/cgroup/a/memory.max": "max\n", "/sys/fs/cgroup/a/memory.high": "max\n"])
        #expect(free.bytes == 1_000_000)
        #expect(free.file == nil)
        #expect(MemoryLimit { _ in nil }.bytes > 1 << 20)
    }

    @Test("The limit of a systemd unit is the lowest of its own, its slices' and its high mark")
    func unit() {
        let folder = "/sys/fs/cgroup/system.slice/poi.service"
        var files = ["\(folder)/memory.max": "500000\n", "\(folder)/memory.high": "400000\n"]
        let groups = "0::/system.slice/poi.service\n"
        var found = limit(groups: groups, mounts: Self.version2, files)
        #expect(found.bytes == 400_000)
        #expect(found.file == "\(folder)/memory.high")
        files["/sys/fs/cgroup/system.slice/memory.max"] = "300000\n"
        found = limit(groups: groups, mounts: Self.version2, files)
        #expect(found.bytes == 300_000)
        // That of a neighbour.
        files["/sys/fs/cgroup/other.slice/memory.max"] = "1\n"
        files["/sys/fs/cgroup/system.slice/other.service/memory.max"] = "1\n"
        #expect(limit(groups: groups, mounts: Self.version2, files) == found)
    }

    @Test("The limit of a container that sees its own group as the root is in the root folder")
    func container() {
        let files = ["/sys/fs/cgroup/memory.max": "700000\n"]
        #expect(limit(groups: "0::/\n", mounts: Self.version2, files).bytes == 700_000)
        // As if the process had been moved out of its namespace.
        #expect(limit(groups: "0::/../b\n", mounts: Self.version2, files).bytes == 700_000)
    }

    @Test("The limit of version 1 is read in the memory controller's hierarchy")
    func version1() {
        let groups = "5:cpu,cpuacct:/wrong\n4:memory:/docker/abc\n0::/elsewhere\n"
        let nested = limit(
            groups: groups, mounts: Self.version1,
            [
                "/sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes": "9223372036854771712\n",
                "/sys/fs/cgroup/memory/docker/memory.limit_in_bytes": "600000\n",
                "/sys/fs/cgroup/memory/wrong/memory.limit_in_bytes": "1\n",
            ])
        #expect(nested.bytes == 600_000)
        // A container with the machine's paths and its own folder.
        let mounts = Self.version1.replacing("0:32 /", with: "0:32 /docker/abc")
        let own = limit(
            groups: groups, mounts: mounts, ["/sys/fs/cgroup/memory/memory.limit_in_bytes": "500000\n"])
        #expect(own.bytes == 500_000)
    }

    @Test(
        "A file with an invalid number sets no limit",
        arguments: ["", "0", "-1", "many", "99999999999999999999"])
    func nonsense(text: String) {
        let found = limit(groups: "0::/\n", mounts: Self.version2, ["/sys/fs/cgroup/memory.max": text])
        #expect(found.bytes == 1_000_000)
    }
}

/// Whether places are read into memory.
@Suite("Places that may not fit into memory")
struct MemoryFitTests {
    @Test("Places are not read if even the shortest ones would take too much memory")
    func neverFit() {
        let fit = MemoryFit(maximumBytes: 200_000)
        func admits(_ count: Int, _ seconds: Int) -> Bool { fit.admits(count, at: .seconds(seconds)) }
        #expect(admits(1000, 0))
        #expect(!admits(1001, 0))
        #expect(!fit.isExceeded)
    }

    @Test("Places that took too much memory are read again once they are fewer, or after a while")
    func retry() {
        var fit = MemoryFit(maximumBytes: 300_000)
        func admits(_ count: Int, _ seconds: Int) -> Bool { fit.admits(count, at: .seconds(seconds)) }
        fit.exceeded(bytesOfAPlace: 300, count: 1200, at: .seconds(1))
        #expect(fit.isExceeded)
        #expect(!admits(1200, 2))
        #expect(!admits(1001, 3))
        #expect(admits(1000, 4))
        #expect(!admits(1200, 600))
        #expect(admits(1200, 601))
        fit.begin()
        #expect(!fit.isExceeded)
    }

    @Test("A wrong estimate of their number doesn't make places be read again and again")
    func wrongEstimate() {
        var fit = MemoryFit(maximumBytes: 300_000)
        func admits(_ count: Int, _ seconds: Int) -> Bool { fit.admits(count, at: .seconds(seconds)) }
        fit.exceeded(bytesOfAPlace: 300, count: 500, at: .zero)
        #expect(!admits(500, 1))
        #expect(!admits(460, 2))
        #expect(admits(440, 3))
    }

    @Test(
        "The number of places is read off the planner's estimate",
        arguments: [
            ("Seq Scan on locations  (cost=0.00..155.00 rows=10000 width=0)", 10_000),
            ("Index Only Scan using a_b on locations  (cost=0.29..4.31 rows=1 width=0)", 1), ("", 0),
        ])
    func plan(text: String, count: Int) {
        #expect(IndexFollower.rowCount(ofPlan: text) == count)
    }
}
