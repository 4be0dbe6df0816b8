import EventLoop
import HTTPServer

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Gathers the process's metrics when somebody asks: the loops count for themselves until then.
struct MetricsCollector: Sendable {
    private let loops: [LoopBound<ServiceLoop>]
    private let health: Health
    private let observability: Observability
    private let connectionsLimit: Int
    private let bodyBudget: BodyBudget

    /// How long a loop may not have turned to be asked, in seconds.
    private static let patience = 2.0

    /// - Parameter loops: in the order in which `health` has them.
    init(
        loops: [LoopBound<ServiceLoop>], health: Health, observability: Observability, connectionsLimit: Int,
        bodyBudget: BodyBudget
    ) {
        self.loops = loops
        self.health = health
        self.observability = observability
        self.connectionsLimit = connectionsLimit
        self.bodyBudget = bodyBudget
    }

    /// What all loops have counted, and the state of the process.
    func snapshot() async throws -> MetricsSnapshot {
        var snapshot = MetricsSnapshot()
        // A loop that is stuck would keep the others' values from those who need them most.
        for (loop, report) in zip(loops, health.loopReports) where report.secondsSinceTurn < Self.patience {
            snapshot.merge(
                try await loop.loop.submit {
                    var snapshot = MetricsSnapshot()
                    loop.value.collectMetrics(into: &snapshot)
                    return snapshot
                })
        }
        for loop in health.loopReports {
            snapshot.add(loop.secondsSinceTurn, to: .secondsSinceTurn, loop.name)
        }
        let report = health.report
        snapshot.add(connectionsLimit, to: .connectionsLimit)
        snapshot.add(bodyBudget.reservedBytes, to: .bodyBytes)
        snapshot.add(bodyBudget.limit, to: .bodyBytesLimit)
        snapshot.add(report.notReadyReason == nil ? 1 : 0, to: .ready)
        snapshot.add(report.isDraining ? 1 : 0, to: .draining)
        let places = DatabaseName.places.rawValue
        snapshot.add(report.isDatabaseReachable ? 1 : 0, to: .databaseReachable, places)
        if let isReachable = report.isEventsDatabaseReachable {
            snapshot.add(isReachable ? 1 : 0, to: .databaseReachable, DatabaseName.events.rawValue)
        }
        snapshot.add(1, to: .build, BuildInformation.version, BuildInformation.swift)
        observability.collectMetrics(into: &snapshot)
        ProcessMetrics.collect(into: &snapshot, start: observability.start)
        return snapshot
    }
}

/// What Prometheus' client libraries tell of every process, by the names that they use ("Writing client libraries").
///
/// Memory and descriptors are read from `/proc`, so they are absent where there is none.
enum ProcessMetrics {
    static let startTime = MetricDefinition(
        "process_start_time_seconds", .gauge, "When the process began, in seconds since 1970.")
    static let processorTime = MetricDefinition(
        "process_cpu_seconds_total", .counter, "Processor time used, in seconds.")
    static let residentMemory = MetricDefinition(
        "process_resident_memory_bytes", .gauge, "Memory in use, in bytes.")
    static let virtualMemory = MetricDefinition(
        "process_virtual_memory_bytes", .gauge, "Address space in use, in bytes.")
    static let openDescriptors = MetricDefinition("process_open_fds", .gauge, "Open file descriptors.")
    static let maximumDescriptors = MetricDefinition(
        "process_max_fds", .gauge, "Most file descriptors that may be open.")

    static let all = [
        startTime, processorTime, residentMemory, virtualMemory, openDescriptors, maximumDescriptors,
    ]

    /// Reads them.
    ///
    /// - Parameter start: when the process began.
    static func collect(into snapshot: inout MetricsSnapshot, start: Timestamp) {
        snapshot.add(Double(start.seconds) + Double(start.milliseconds) / 1000, to: startTime)
        var time = timespec()
        if clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 {
            snapshot.add(Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9, to: processorTime)
        }
        if let limit = DescriptorLimit.current { snapshot.add(limit, to: maximumDescriptors) }
        if let count = descriptorCount() { snapshot.add(count, to: openDescriptors) }
        if let (virtual, resident) = pageCounts() {
            let pageSize = Int(sysconf(Int32(_SC_PAGESIZE)))
            snapshot.add(virtual * pageSize, to: virtualMemory)
            snapshot.add(resident * pageSize, to: residentMemory)
        }
    }

    /// The entries of a folder that has one for each descriptor, the one that reads it not counted.
    private static func descriptorCount() -> Int? {
        guard let folder = opendir("/proc/self/fd") else { return nil }
        defer { closedir(folder) }
        var count = 0
        while let entry = readdir(folder) {
            if entry.pointee.d_name.0 != CChar(UInt8(ascii: ".")) { count += 1 }
        }
        return count - 1
    }

    /// The first two numbers of `statm` (proc(5)).
    private static func pageCounts() -> (virtual: Int, resident: Int)? {
        let descriptor = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = read(descriptor, &buffer, buffer.count)
        guard count > 0 else { return nil }
        let numbers = String(decoding: buffer[..<count], as: UTF8.self).split(separator: " ").prefix(2)
            .compactMap { Int($0) }
        return numbers.count == 2 ? (numbers[0], numbers[1]) : nil
    }
}
