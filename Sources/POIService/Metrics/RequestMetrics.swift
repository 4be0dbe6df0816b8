import HTTPServer

/// Counts the requests of one loop.
///
/// Belongs to its loop, so that a request takes no lock. The number of series is bounded: labels are routes' templates,
/// known methods and statuses, which a client can't choose freely.
final class RequestMetrics {
    private struct Series {
        let route: String
        let method: String
        let statusCode: Int
        var durations: Histogram
    }

    private var series: [Series] = []
    private var abandoned: [String: Int] = [:]
    private var interrupted: [Interrupted: Int] = [:]

    private struct Interrupted: Hashable {
        let route: String
        let reason: String
    }

    /// OpenTelemetry's bounds for this metric, and three below them: most responses take less than 5 ms.
    private static let bounds = [
        0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
    ]

    /// Counts a request.
    func record(_ request: RequestObservation) {
        let route = request.routeTemplate ?? ""
        if let interruption = request.interruption {
            interrupted[Interrupted(route: route, reason: interruption.rawValue), default: 0] += 1
            return
        }
        guard let status = request.status else {
            abandoned[route, default: 0] += 1
            return
        }
        let index = index(route, Self.label(of: request.method), status.code)
        let (seconds, attoseconds) = request.duration.components
        series[index].durations.record(Double(seconds) + Double(attoseconds) * 1e-18)
    }

    /// Adds the counts since the start.
    func collect(into snapshot: inout MetricsSnapshot) {
        for series in series {
            snapshot.add(
                series.durations, to: .requestDuration, series.route, series.method, String(series.statusCode)
            )
        }
        for (route, count) in abandoned { snapshot.add(count, to: .abandonedRequests, route) }
        for (key, count) in interrupted {
            snapshot.add(count, to: .interruptedRequests, key.route, key.reason)
        }
    }

    /// The index of a series, which is added if necessary. It searches linearly, since there are few; a series that was
    /// found moves towards the front, so that the most frequent ones are found first.
    private func index(_ route: String, _ method: String, _ statusCode: Int) -> Int {
        for index in series.indices
        where series[index].statusCode == statusCode && series[index].method == method
            && series[index].route == route
        {
            guard index > 0 else { return 0 }
            series.swapAt(index, index - 1)
            return index - 1
        }
        series.append(
            Series(
                route: route, method: method, statusCode: statusCode,
                durations: Histogram(bounds: Self.bounds)))
        return series.count - 1
    }

    /// The methods of RFC 9110 and `PATCH`; others, and methods that couldn't be parsed, are `_OTHER` (OpenTelemetry,
    /// semantic conventions for HTTP, `http.request.method`).
    private static func label(of method: HTTPMethod?) -> String {
        guard let method, method == .get || known.contains(method) else { return "_OTHER" }
        return method.rawValue
    }

    private static let known: Set<HTTPMethod> = [
        .get, .head, .post, .put, .patch, .delete, .options, .connect, .trace,
    ]
}

/// Counts the app's events of the process.
struct EventMetrics: Sendable {
    private var acceptedCount = 0
    private var duplicateCount = 0
    private var unknownNameCount = 0
    private var refusedBatchCount = 0

    static let all = [accepted, duplicates, unknownNames, refused]

    private static let accepted = MetricDefinition(
        "poi_events_accepted_total", .counter, "New events, counted after their commit.")
    private static let duplicates = MetricDefinition(
        "poi_events_duplicate_total", .counter, "Events that had been stored before.")
    private static let unknownNames = MetricDefinition(
        "poi_events_unknown_name_total", .counter, "Events whose name has no definition, from a newer app.")
    private static let refused = MetricDefinition(
        "poi_events_batches_refused_total", .counter, "Batches of events that were refused for their faults.")

    /// Counts a batch that was stored.
    mutating func add(_ batch: EventCounts) {
        acceptedCount += batch.accepted
        duplicateCount += batch.duplicates
        unknownNameCount += batch.unknownNames
    }

    /// Counts a batch that was refused.
    mutating func addRefusal() {
        refusedBatchCount += 1
    }

    /// Adds the counts since the start.
    func collect(into snapshot: inout MetricsSnapshot) {
        snapshot.add(acceptedCount, to: Self.accepted)
        snapshot.add(duplicateCount, to: Self.duplicates)
        snapshot.add(unknownNameCount, to: Self.unknownNames)
        snapshot.add(refusedBatchCount, to: Self.refused)
    }
}
