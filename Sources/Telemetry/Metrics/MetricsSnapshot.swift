/// The values of metrics at one moment, of one loop or merged for the process.
package struct MetricsSnapshot: Sendable {
    enum Value: Hashable, Sendable {
        case number(Double)
        case histogram(Histogram)
    }

    /// The values by metric, then by the values of its labels in the order of the definition.
    private(set) var families: [MetricDefinition: [[String]: Value]] = [:]

    package init() {}

    /// Merges with the value that is there, as the definition says.
    ///
    /// - Parameter labels: in the order of the definition.
    package mutating func add(_ number: Double, to metric: MetricDefinition, _ labels: String...) {
        add(.number(number), to: metric, labels)
    }

    package mutating func add(_ count: Int, to metric: MetricDefinition, _ labels: String...) {
        add(.number(Double(count)), to: metric, labels)
    }

    package mutating func add(_ histogram: Histogram, to metric: MetricDefinition, _ labels: String...) {
        add(.histogram(histogram), to: metric, labels)
    }

    package mutating func merge(_ other: MetricsSnapshot) {
        for (metric, series) in other.families {
            for (labels, value) in series { add(value, to: metric, labels) }
        }
    }

    private mutating func add(_ value: Value, to metric: MetricDefinition, _ labels: [String]) {
        precondition(labels.count == metric.labels.count, "\(metric.name) has labels \(metric.labels)")
        let old = families[metric]?[labels]
        families[metric, default: [:]][labels] = old.map { $0.merged(with: value, metric.merging) } ?? value
    }
}

extension MetricsSnapshot.Value {
    fileprivate func merged(with other: Self, _ merging: MetricDefinition.Merging) -> Self {
        switch (self, other) {
        case (.number(let left), .number(let right)):
            return .number(merging == .sum ? left + right : max(left, right))
        case (.histogram(var left), .histogram(let right)):
            left.add(right)
            return .histogram(left)
        case (.number, .histogram), (.histogram, .number):
            preconditionFailure("a metric has one kind")
        }
    }
}

extension MetricsSnapshot {
    package static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

    /// The values in Prometheus' text format 0.0.4 (Prometheus, "Exposition formats"), in the order of
    /// `MetricDefinition.all`, without metrics that have no values.
    package func prometheusText() -> [UInt8] {
        var text = ""
        for metric in MetricDefinition.all {
            guard let series = families[metric], !series.isEmpty else { continue }
            text += "# HELP \(metric.name) \(metric.help.escaped(quotes: false))\n"
            text += "# TYPE \(metric.name) \(metric.kind.rawValue)\n"
            for (values, value) in series.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
                let labels = zip(metric.labels, values).map { "\($0)=\"\($1.escaped(quotes: true))\"" }
                switch value {
                case .number(let number): text += Self.line(metric.name, labels, number)
                case .histogram(let histogram): text += Self.lines(metric.name, labels, histogram)
                }
            }
        }
        return Array(text.utf8)
    }

    /// The lines of a histogram. Buckets are cumulative: each counts all values up to its bound.
    private static func lines(_ name: String, _ labels: [String], _ histogram: Histogram) -> String {
        var text = ""
        var count: UInt64 = 0
        for (bound, bucket) in zip(histogram.bounds + [.infinity], histogram.counts) {
            count &+= bucket
            text += line("\(name)_bucket", labels + ["le=\"\(bound.prometheusText)\""], Double(count))
        }
        text += line("\(name)_sum", labels, histogram.sum)
        text += line("\(name)_count", labels, Double(count))
        return text
    }

    private static func line(_ name: String, _ labels: [String], _ value: Double) -> String {
        let labels = labels.isEmpty ? "" : "{\(labels.joined(separator: ","))}"
        return "\(name)\(labels) \(value.prometheusText)\n"
    }
}

extension Double {
    /// The number in the format of Go's `ParseFloat`.
    fileprivate var prometheusText: String {
        if isInfinite { return self > 0 ? "+Inf" : "-Inf" }
        if isNaN { return "NaN" }
        return Int(exactly: self).map(String.init) ?? description
    }
}

extension String {
    fileprivate func escaped(quotes: Bool) -> String {
        replacingScalars { scalar in
            switch scalar {
            case "\\": "\\\\"
            case "\n": "\\n"
            case "\"" where quotes: "\\\""
            default: nil
            }
        }
    }
}

package struct Histogram: Hashable, Sendable {
    /// The inclusive upper bounds of the buckets, in seconds; one bucket without a bound follows.
    package let bounds: [Double]
    package private(set) var counts: [UInt64]
    /// In seconds.
    package private(set) var sum = 0.0

    /// - Parameter bounds: in ascending order.
    package init(bounds: [Double]) {
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count + 1)
    }

    package var count: UInt64 { counts.reduce(0, &+) }

    /// In seconds.
    package mutating func record(_ seconds: Double) {
        var index = 0
        while index < bounds.count, bounds[index] < seconds { index += 1 }
        counts[index] &+= 1
        sum += seconds
    }

    package mutating func add(_ other: Histogram) {
        precondition(bounds == other.bounds, "a metric has one set of buckets")
        for index in counts.indices { counts[index] &+= other.counts[index] }
        sum += other.sum
    }
}

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

    mutating func add(_ batch: EventCounts) {
        acceptedCount += batch.accepted
        duplicateCount += batch.duplicates
        unknownNameCount += batch.unknownNames
    }

    mutating func addRefusal() {
        refusedBatchCount += 1
    }

    func collect(into snapshot: inout MetricsSnapshot) {
        snapshot.add(acceptedCount, to: Self.accepted)
        snapshot.add(duplicateCount, to: Self.duplicates)
        snapshot.add(unknownNameCount, to: Self.unknownNames)
        snapshot.add(refusedBatchCount, to: Self.refused)
    }
}
