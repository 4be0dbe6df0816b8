import EventLoop
import Program

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The metrics that Prometheus' client libraries have for every process, with their names ("Writing client libraries").
///
/// Memory and descriptors are read from `/proc`, so they are absent on systems without it.
package enum ProcessMetrics {
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

    package static func collect(into snapshot: inout MetricsSnapshot, start: Timestamp) {
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

    /// Without the descriptor that reads the folder.
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
