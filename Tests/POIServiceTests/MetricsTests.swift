import Foundation
import Testing

@testable import HTTPServer
@testable import POIService
@testable import Telemetry

@Suite("Metrics")
struct MetricsTests {
    private func observation(
        _ method: HTTPMethod?, _ route: String?, _ status: HTTPStatus?,
        _ duration: Duration = .milliseconds(3)
    ) -> RequestObservation {
        RequestObservation(
            method: method, path: "/x", routeTemplate: route, status: status, duration: duration,
            requestBodyBytes: 0, responseBytes: 0, requestID: "id", traceParent: nil, remoteAddress: nil)
    }

    private func text(_ snapshot: MetricsSnapshot) -> String {
        String(decoding: snapshot.prometheusText(), as: UTF8.self)
    }

    @Test("A time is counted in the first bucket whose bound it doesn't exceed")
    func buckets() {
        var histogram = Histogram(bounds: [0.1, 1])
        for seconds in [0, 0.1, 0.100001, 1, 1.5, 1e9] { histogram.record(seconds) }
        #expect(histogram.counts == [2, 2, 2])
        #expect(histogram.count == 6)
        #expect(histogram.sum == 1e9 + 2.700001)
    }

    @Test("The values of loops are merged to their sum or maximum")
    func merging() {
        var (left, right) = (MetricsSnapshot(), MetricsSnapshot())
        for (index, keyPath) in [1, 2].enumerated() {
            var snapshot = MetricsSnapshot()
            snapshot.add(keyPath, to: .activeRequests)
            snapshot.add(1, to: .build, "0.4.0", "6.3")
            var lag = Histogram(bounds: [1])
            lag.record(Double(index) * 2)
            snapshot.add(lag, to: .eventLoopLag, "0")
            if index == 0 { left = snapshot } else { right = snapshot }
        }
        left.merge(right)
        #expect(
            text(left) == """
                # HELP http_server_active_requests Requests in flight.
                # TYPE http_server_active_requests gauge
                http_server_active_requests 3
                # HELP poi_event_loop_lag_seconds How late a loop's timer fired, measured twice a second, in seconds.
                # TYPE poi_event_loop_lag_seconds histogram
                poi_event_loop_lag_seconds_bucket{loop="0",le="1"} 1
                poi_event_loop_lag_seconds_bucket{loop="0",le="+Inf"} 2
                poi_event_loop_lag_seconds_sum{loop="0"} 2
                poi_event_loop_lag_seconds_count{loop="0"} 2
                # HELP poi_build_info The version of the program, and of the Swift compiler that built it.
                # TYPE poi_build_info gauge
                poi_build_info{version="0.4.0",swift="6.3"} 1

                """)
    }

    @Test("A label's value can't break out of its quotes or its line")
    func escaping() {
        var snapshot = MetricsSnapshot()
        snapshot.add(1, to: .connections, "a\"} 1\nb\\")
        #expect(text(snapshot).hasSuffix("\npoi_http_connections{loop=\"a\\\"} 1\\nb\\\\\"} 1\n"))
        // By scalars: a quote with a combining mark is another character, and so is CR with LF.
        var marked = MetricsSnapshot()
        marked.add(1, to: .connections, "\"\u{301}\r\n\\\u{301}")
        let expected = "\npoi_http_connections{loop=\"\\\"\u{301}\r\\n\\\\\u{301}\"} 1\n"
        #expect(text(marked).utf8.reversed().starts(with: expected.utf8.reversed()))
    }

    @Test("Numbers have the format that scrapers parse")
    func numbers() {
        for (number, expected) in [
            (0.0, "0"), (-1, "-1"), (1.5, "1.5"), (1e-7, "1e-07"), (1e300, "1e+300"), (.infinity, "+Inf"),
            (-.infinity, "-Inf"), (.nan, "NaN"), (9_007_199_254_740_992, "9007199254740992"),
        ] {
            var snapshot = MetricsSnapshot()
            snapshot.add(number, to: .ready)
            #expect(text(snapshot).hasSuffix("\npoi_ready \(expected)\n"))
        }
    }

    @Test("A request is counted by route, method and status, and by one label for all unknown methods")
    func requests() throws {
        let metrics = RequestMetrics()
        let brew = try #require(HTTPMethod("BREW"))
        let steep = try #require(HTTPMethod("STEEP"))
        for _ in 0..<3 {
            metrics.record(observation(.get, "/locations", .ok))
            metrics.record(observation(.get, "/locations", .badRequest))
            metrics.record(observation(.head, "/locations", .ok))
            metrics.record(observation(.get, "/livez", .ok))
            metrics.record(observation(brew, nil, .notFound))
            metrics.record(observation(steep, nil, .notFound))
            metrics.record(observation(nil, nil, .badRequest))
            metrics.record(observation(.get, "/locations", nil))
        }
        var snapshot = MetricsSnapshot()
        metrics.collect(into: &snapshot)
        let lines = text(snapshot).split(separator: "\n")
        func count(_ route: String, _ method: String, _ status: Int) -> String? {
            let labels =
                "http_route=\"\(route)\",http_request_method=\"\(method)\",http_response_status_code=\"\(status)\""
            return lines.first { $0.hasPrefix("http_server_request_duration_seconds_count{\(labels)} ") }
                .map { String($0.split(separator: " ")[1]) }
        }
        #expect(count("/locations", "GET", 200) == "3")
        #expect(count("/locations", "GET", 400) == "3")
        #expect(count("/locations", "HEAD", 200) == "3")
        #expect(count("/livez", "GET", 200) == "3")
        #expect(count("", "_OTHER", 404) == "6")
        #expect(count("", "_OTHER", 400) == "3")
        #expect(lines.count { $0.hasPrefix("http_server_request_duration_seconds_count") } == 6)
        #expect(lines.contains(#"poi_http_requests_abandoned_total{http_route="/locations"} 3"#))
    }

    @Test("Every metric has a unique name, a help text, and the suffix that its kind demands")
    func catalog() {
        let names = MetricDefinition.all.map(\.name)
        #expect(Set(names).count == names.count)
        for metric in MetricDefinition.all {
            #expect(metric.name.hasSuffix("_total") == (metric.kind == .counter), "\(metric.name)")
            #expect(metric.help.hasSuffix("."), "\(metric.name)")
            #expect(Set(metric.labels).count == metric.labels.count, "\(metric.name)")
        }
    }
}

/// `Documentation/observability.md` against the code.
@Suite("The document about logs and metrics")
struct ObservabilityDocumentTests {
    private static let package = (0..<3).reduce(URL(filePath: #filePath)) { url, _ in
        url.deletingLastPathComponent()
    }

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: package.appending(path: path), encoding: .utf8)
    }

    /// The first cells of a section's table, without their quotes, each with its row.
    private static func rows(of section: String) throws -> [String: String] {
        let sections = try text("Documentation/observability.md").components(separatedBy: "\n## ")
        let body = try #require(sections.first { $0.hasPrefix(section + "\n") })
        let rows = body.split(separator: "\n").compactMap { line in
            line.firstMatch(of: /^\| `([a-z_-]+)` \|/).map { (String($0.1), String(line)) }
        }
        return Dictionary(rows) { first, _ in first }
    }

    @Test("The document explains exactly the metrics that exist, with their kinds and labels")
    func metrics() throws {
        let rows = try Self.rows(of: "Metrics")
        #expect(Set(rows.keys) == Set(MetricDefinition.all.map(\.name)))
        for metric in MetricDefinition.all {
            let row = try #require(rows[metric.name], "\(metric.name)")
            #expect(row.contains("| \(metric.kind.rawValue) |"), "\(row)")
            for label in metric.labels { #expect(row.contains("`\(label)`"), "\(row)") }
        }
    }

    @Test("The document explains exactly the events of the log that exist")
    func events() throws {
        let events = try ["Observation", "IndexObservation"].flatMap { file in
            let source = try Self.text("Sources/Telemetry/Log/\(file).swift")
            let names = try #require(
                source.components(separatedBy: "var name: String").dropFirst().first?
                    .components(separatedBy: "var message: String").first)
            return names.matches(of: /case \.\w+: "([a-z-]+)"/).map { String($0.1) }
        }
        #expect(events.contains("listening"))
        #expect(Set(try Self.rows(of: "Events").keys) == Set(events + ["request"]))
    }
}
