/// A family of metrics as Prometheus knows it: what it is called, what it counts and how.
public struct MetricDefinition: Hashable, Sendable {
    /// What its values do over time.
    public enum Kind: String, Sendable {
        /// Only grows while the process lives.
        case counter
        /// Goes up and down.
        case gauge
        /// Counts values by their size.
        case histogram
    }

    /// How the values of several loops become the process's one.
    public enum Merging: Sendable {
        /// Their sum.
        case sum
        /// The greatest of them.
        case greatest
    }

    /// The name, with its unit and, for a counter, `_total` at its end (Prometheus, "Metric and label naming").
    public let name: String
    /// What its values do over time.
    public let kind: Kind
    /// What it tells, in a sentence.
    public let help: String
    /// The names of its labels, whose values are few and never a client's to choose.
    public let labels: [String]
    /// How the values of several loops become one.
    public let merging: Merging

    /// Defines a family; it belongs into `all`.
    public init(
        _ name: String, _ kind: Kind, labels: [String] = [], merging: Merging = .sum, _ help: String
    ) {
        self.name = name
        self.kind = kind
        self.help = help
        self.labels = labels
        self.merging = merging
    }

    /// By its name, which no other has.
    public static func == (left: MetricDefinition, right: MetricDefinition) -> Bool {
        left.name == right.name
    }

    /// By its name.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
    }
}
