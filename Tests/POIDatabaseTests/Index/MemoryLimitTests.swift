import Testing

@testable import POIDatabase

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
