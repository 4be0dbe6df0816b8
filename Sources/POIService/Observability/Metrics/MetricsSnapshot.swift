/// Values of metrics at one moment: of one loop at first, of the process after they were merged.
public struct MetricsSnapshot: Sendable {
    enum Value: Hashable, Sendable {
        case number(Double)
        case histogram(Histogram)
    }

    /// By their labels' values, in the order of the definition.
    private(set) var families: [MetricDefinition: [[String]: Value]] = [:]

    /// Nothing yet.
    public init() {}

    /// Adds a value to what the snapshot has, by the way of merging that the definition names.
    ///
    /// - Parameter labels: the labels' values in the order of the definition, as many as it has.
    public mutating func add(_ number: Double, to metric: MetricDefinition, _ labels: String...) {
        add(.number(number), to: metric, labels)
    }

    /// Adds a count.
    public mutating func add(_ count: Int, to metric: MetricDefinition, _ labels: String...) {
        add(.number(Double(count)), to: metric, labels)
    }

    /// Adds times.
    public mutating func add(_ histogram: Histogram, to metric: MetricDefinition, _ labels: String...) {
        add(.histogram(histogram), to: metric, labels)
    }

    /// Adds another loop's values.
    public mutating func merge(_ other: MetricsSnapshot) {
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
            preconditionFailure("a family is of one kind")
        }
    }
}
