import EventLoop
import HTTPServer
import Program

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Collects the process's metrics for a scrape. Until then each loop counts for itself.
struct MetricsCollector: Sendable {
    private let loops: [LoopBound<ServiceLoop>]
    private let health: Health
    private let observability: Observability
    private let connectionsLimit: Int
    private let memory: ClientMemory

    /// A loop without a turn for this many seconds is left out.
    private static let maximumSecondsSinceTurn = 2.0

    /// - Parameter loops: the service loops, in the order of `health`.
    init(
        loops: [LoopBound<ServiceLoop>], health: Health, observability: Observability, connectionsLimit: Int,
        memory: ClientMemory
    ) {
        self.loops = loops
        self.health = health
        self.observability = observability
        self.connectionsLimit = connectionsLimit
        self.memory = memory
    }

    /// The metrics of all loops and of the process.
    ///
    /// - Throws: `EventLoopError` if a loop has stopped.
    func snapshot() async throws -> MetricsSnapshot {
        var snapshot = MetricsSnapshot()
        // The scrape would wait for a stuck loop, just when its metrics are needed most.
        for (loop, report) in zip(loops, health.loopReports)
        where report.secondsSinceTurn < Self.maximumSecondsSinceTurn {
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
        snapshot.add(memory.heldBytes, to: .bodyBytes)
        snapshot.add(memory.limit, to: .bodyBytesLimit)
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

/// The metrics that Prometheus' client libraries have for every process, with their names ("Writing client libraries").
///
/// Memory and descriptors are read from `/proc`, so they are absent on systems without it.
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
        "process_max_fds", .gauge, "Maximum number of open file descriptors.")

    static let all = [
        startTime, processorTime, residentMemory, virtualMemory, openDescriptors, maximumDescriptors,
    ]

    /// Adds the metrics.
    ///
    /// - Parameter start: when the process began.
    static func collect(into snapshot: inout MetricsSnapshot, start: Timestamp) {
        snapshot.add(start.secondsSince1970, to: startTime)
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

    /// The number of open descriptors, without the one that reads it.
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
