extension MetricsSnapshot {
    /// The media type of `prometheusText`.
    static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

    /// The values in Prometheus' text format, version 0.0.4 (Prometheus, "Exposition formats"): families in the order
    /// of `MetricDefinition.all`, those without values left out.
    func prometheusText() -> [UInt8] {
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

    /// Buckets are cumulative: each counts all times up to its bound.
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
    /// As Go's `ParseFloat` reads it.
    fileprivate var prometheusText: String {
        if isInfinite { return self > 0 ? "+Inf" : "-Inf" }
        if isNaN { return "NaN" }
        return Int(exactly: self).map(String.init) ?? description
    }
}

extension String {
    fileprivate func escaped(quotes: Bool) -> String {
        let text = replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
        return quotes ? text.replacing("\"", with: "\\\"") : text
    }
}
