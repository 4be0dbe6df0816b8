import EventLoop
import HTTPServer
import Locking
import Program
import Telemetry

/// Counts the requests of one loop. Belongs to its loop, so that a request takes no lock. The number of series is bounded:
/// labels are routes' templates, known methods and statuses, which a client can't choose freely.
final class RequestMetrics {
    private struct Series {
        let route: String
        /// Nil for methods that aren't known, and for requests that couldn't be read.
        let method: HTTPMethod?
        let statusCode: Int
        var durations: Histogram
    }

    private struct State {
        var series: [Series] = []
        var abandoned: [String: Int] = [:]
        var interrupted: [Interrupted: Int] = [:]
    }

    private struct Interrupted: Hashable {
        let route: String
        let reason: String
    }

    private let state: Confined<State>

    init() { state = Confined(State()) }

    /// OpenTelemetry's bounds for this metric, and three below them: most responses take less than 5 ms.
    private static let bounds = [
        0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
    ]

    func record(_ request: RequestObservation) {
        let route = request.routeTemplate ?? ""
        if let interruption = request.interruption {
            let key = Interrupted(route: route, reason: interruption.rawValue)
            state.value.interrupted[key, default: 0] += 1
            return
        }
        guard let status = request.status else {
            state.value.abandoned[route, default: 0] += 1
            return
        }
        let index = index(route, request.method, status.code)
        state.value.series[index].durations.record(Double(request.durationNanoseconds) / 1e9)
    }

    func collect(into snapshot: inout MetricsSnapshot) {
        for series in state.value.series {
            // Unknown methods, and methods that couldn't be read, are `_OTHER` (OpenTelemetry, semantic conventions for
            // HTTP, `http.request.method`).
            snapshot.add(
                series.durations, to: .requestDuration, series.route, series.method?.rawValue ?? "_OTHER",
                String(series.statusCode))
        }
        for (route, count) in state.value.abandoned { snapshot.add(count, to: .abandonedRequests, route) }
        for (key, count) in state.value.interrupted {
            snapshot.add(count, to: .interruptedRequests, key.route, key.reason)
        }
    }

    /// The index of a series, which is added if necessary. It searches linearly, since there are few; a series that was
    /// found moves towards the front, so that the most frequent ones are found first.
    private func index(_ route: String, _ method: HTTPMethod?, _ statusCode: Int) -> Int {
        for index in state.value.series.indices
        where state.value.series[index].statusCode == statusCode && state.value.series[index].method == method
            && state.value.series[index].route == route
        {
            guard index > 0 else { return 0 }
            state.value.series.swapAt(index, index - 1)
            return index - 1
        }
        // Only known methods have series of their own.
        if let method, method.knownToken == nil { return self.index(route, nil, statusCode) }
        state.value.series.append(
            Series(
                route: route, method: method, statusCode: statusCode,
                durations: Histogram(bounds: Self.bounds)))
        return state.value.series.count - 1
    }
}

/// Collects the process's metrics for a scrape. Until then each loop counts for itself.
struct MetricsCollector: Sendable {
    /// In the order of `health`.
    let loops: [LoopBound<ServiceLoop>]
    let health: Health
    let observability: Observability
    let connectionsLimit: Int
    let memory: ClientMemory

    /// A loop that hasn't turned for this many seconds is left out.
    private static let maximumSecondsSinceTurn = 2.0

    /// The metrics of all loops and of the process.
    func snapshot() async throws -> MetricsSnapshot {
        var snapshot = MetricsSnapshot()
        // Asking a stuck loop would block the scrape, just when the metrics are needed most.
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
