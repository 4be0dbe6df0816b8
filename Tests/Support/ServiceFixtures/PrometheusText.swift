import Foundation

/// Metrics as a scraper reads them (Prometheus, "Exposition formats", text format 0.0.4), refused where anything in them
/// is against the format.
package struct PrometheusText: Sendable {
    /// What is against the format.
    package struct Malformed: Error, CustomStringConvertible {
        package let description: String
    }

    /// A family by its declaration.
    package struct Family: Sendable, Hashable {
        package let kind: String
        package let help: String
    }

    /// By their names.
    package private(set) var families: [String: Family] = [:]
    /// By their names with their labels, as they are written.
    package private(set) var samples: [String: Double] = [:]

    /// Reads a whole page.
    package init(_ text: String) throws {
        guard text.hasSuffix("\n") else { throw Malformed(description: "the last line doesn't end") }
        var help: (name: String, text: String)?
        var current = ""
        let (helping, typing) = (/# HELP ([a-z_]+) (.+)/, /# TYPE ([a-z_]+) (counter|gauge|histogram)/)
        let sample =
            /([a-z_]+)(\{[a-z_]+="(?:[^"\\]|\\[\\n"])*"(?:,[a-z_]+="(?:[^"\\]|\\[\\n"])*")*\})? (\S+)/
        for line in text.split(separator: "\n") {
            if let match = line.wholeMatch(of: helping) {
                help = (String(match.1), String(match.2))
            } else if let match = line.wholeMatch(of: typing) {
                current = String(match.1)
                guard let help, help.name == current, families[current] == nil else {
                    throw Malformed(description: "a type without its help, or twice: \(line)")
                }
                families[current] = Family(kind: String(match.2), help: help.text)
            } else {
                guard let match = line.wholeMatch(of: sample), let value = Double(match.3) else {
                    throw Malformed(description: "no sample: \(line)")
                }
                try add(String(match.1), labels: String(match.2 ?? ""), value, to: current)
            }
        }
        for (name, family) in families where family.kind == "histogram" { try checkHistogram(name) }
    }

    /// The value of a sample, its labels as they are written.
    package subscript(name: String) -> Double? { samples[name] }

    /// The sum of a family's samples that have all these labels.
    package func sum(_ name: String, _ labels: String...) -> Double {
        samples.filter { sample in
            sample.key.prefix { $0 != "{" } == name && labels.allSatisfy(sample.key.contains)
        }
        .values.reduce(0, +)
    }

    private mutating func add(
        _ name: String, labels: String, _ value: Double, to family: String
    ) throws {
        let suffixes = families[family]?.kind == "histogram" ? ["_bucket", "_sum", "_count"] : [""]
        guard suffixes.contains(where: { family + $0 == name }) else {
            throw Malformed(description: "not of the family \(family): \(name)\(labels)")
        }
        guard samples.updateValue(value, forKey: name + labels) == nil else {
            throw Malformed(description: "twice: \(name)\(labels)")
        }
    }

    /// Each series has buckets that only grow, the last of which counts as many as the whole.
    private func checkHistogram(_ name: String) throws {
        var series: [String: [(bound: Double, count: Double)]] = [:]
        for (sample, count) in samples where sample.hasPrefix(name + "_bucket{") {
            guard let match = sample.firstMatch(of: /,?le="([^"]+)"\}/), let bound = Double(match.1) else {
                throw Malformed(description: "a bucket without a bound: \(sample)")
            }
            let labels = sample.dropFirst("\(name)_bucket{".count).replacing(match.0, with: "")
            series[String(labels), default: []].append((bound, count))
        }
        for (labels, buckets) in series {
            let sorted = buckets.sorted { $0.bound < $1.bound }
            let total = samples[labels.isEmpty ? "\(name)_count" : "\(name)_count{\(labels)}"]
            guard sorted.map(\.count) == sorted.map(\.count).sorted(), sorted.last?.bound == .infinity,
                sorted.last?.count == total
            else { throw Malformed(description: "buckets of \(name){\(labels)}: \(sorted), \(total ?? -1)") }
        }
    }
}
