import Foundation
import Randomness
import ServerProcess

/// Requests over everything that the contract speaks of, most of them nearly right: the same seed, the same requests.
struct RandomRequests {
    private var generator: SeededGenerator
    private let words: QueryWords

    /// - Parameter words: the parts that requests are made of.
    init(_ generator: SeededGenerator, words: QueryWords) {
        self.generator = generator
        self.words = words
    }

    mutating func next() -> WireRequest {
        var request = WireRequest(target: target())
        if chance(0.15) {
            request.method = pick(["HEAD", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "BREW"])
        }
        for (name, values) in QueryWords.headers where chance(0.2) {
            request = request.adding(name, pick(values))
        }
        return request
    }

    private mutating func target() -> String {
        switch Double.random(in: 0..<1, using: &generator) {
        case ..<0.7: "/locations?" + query()
        case ..<0.8: "/locations/\(pick(words.ids))" + (chance(0.5) ? "?" + query(ofPlace: true) : "")
        case ..<0.85: "/categories" + (chance(0.2) ? "?" + query() : "")
        default: pick(QueryWords.paths)
        }
    }

    /// Parameters of which most are right, with one more wrong one now and then.
    private mutating func query(ofPlace: Bool = false) -> String {
        var items: [String] = []
        if chance(0.9) { items += center() }
        if !ofPlace {
            for (name, values) in words.parameters where chance(0.25) {
                items.append("\(name)=\(pick(values))")
            }
        }
        if chance(0.15) { items.append(pick(QueryWords.faults)) }
        if chance(0.05), let item = items.randomElement(using: &generator) { items.append(item) }
        if chance(0.3) { items.shuffle(using: &generator) }
        return items.joined(separator: "&")
    }

    private mutating func center() -> [String] {
        switch Double.random(in: 0..<1, using: &generator) {
        case ..<0.5: ["lat=\(random(37.2...37.5))", "long=\(random(-122...(-121.7)))"]
        case ..<0.8: ["lat=\(random(-90...90))", "long=\(random(-180...180))"]
        default: ["lat=\(pick(QueryWords.latitudes))", "long=\(pick(QueryWords.longitudes))"]
        }
    }

    private mutating func random(_ range: ClosedRange<Double>) -> Double {
        .random(in: range, using: &generator)
    }

    private mutating func chance(_ share: Double) -> Bool { random(0...1) < share }

    private mutating func pick(_ values: [String]) -> String { values.randomElement(using: &generator) ?? "" }
}

/// What random requests are put together from.
struct QueryWords {
    /// Ids of places, and what is none.
    let ids: [String]
    /// Names of categories, and what is none.
    let categories: [String]

    init(ids: [Int], categories: [String]) {
        self.ids =
            ids.map(String.init) + ["0", "-1", "01", "x", "9223372036854775808", "1.0", "%31", "1/2", ""]
        let pairs = zip(categories, categories.reversed()).map { "\($0),\($1)" }
        self.categories =
            categories + pairs
            + ["museums", "Museum", "cafe,,park", "cafe,cafe", "", "caf%C3%A9", "museum,nothing"]
    }

    /// The parameters of `/locations` beside the centre, with right and wrong values.
    var parameters: [(name: String, values: [String])] {
        [
            (
                "radius",
                ["1", "55.5", "300", "5000", "1e5", "20037508", "20037509", "0", "-1", "1e-300", "near"]
            ),
            ("limit", ["1", "2", "7", "20", "99", "100", "101", "0", "-5", "1.5", "ten"]),
            (
                "bbox",
                [
                    "-122,37,-121.5,38", "170,-60,-170,60", "-180,-90,180,90", "0,0,0,0", "180,10,-180,20",
                    "-122,38,-121,37", "1,2,3", "a,b,c,d", "-181,0,0,0", "-122%2C37%2C-121%2C38",
                ]
            ),
            ("category", categories),
            (
                "dataset",
                [
                    "poi-seed-world", "poi-seed-san-jose", "poi-seed-world,poi-seed-san-jose", "poi-seed",
                    "poi-seed-world%2Cpoi-seed-san-jose", "poi%2Dseed-world", "poi-seed-world,", "", "%2C",
                ]
            ),
            (
                "q",
                [
                    "san", "SAN%20JOS%C3%89", "mus+art", "children%27s", "plaza", "caf%C3%A9", "--", "%20",
                    "",
                    "zzzz", "%F0%9F%8D%9C", String(repeating: "a", count: 100),
                    String(repeating: "a", count: 101),
                    "st", "s",
                ]
            ),
            ("featured", ["true", "false", "TRUE", "1", ""]),
            ("lang", ["ja,en", "zh-Hant-TW", "en,EN", "en-a-b", "*", "en_US", "en,", ""]),
            ("cursor", ["AAAA", "", "!", "AYSixrBx0VpEQFvVk4q-a4YAAAAAAAAAbwAAAANIdxOU"]),
        ]
    }

    static let latitudes = [
        "0", "90", "-90", "-0", "37.3293", "1e1", "91", "-121.8893", "north", "", "1e999", "NaN",
    ]
    static let longitudes = [
        "0", "180", "-180", "179.9999999", "-121.8893", "181", "east", "", "+1", "%2B1", "1e-400",
    ]

    /// What is wrong wherever it stands.
    static let faults = [
        "lon=1", "colour=red", "lat=1&lat=2", "=", "&&", "%", "%zz=1", "q=%FF", "q=%00", "limit", "LAT=1",
        "utm_source=x", (0..<70).map { "a\($0)=1" }.joined(separator: "&"),
    ]

    static let paths = [
        "/", "/livez", "/livez?x=1", "/openapi.json", "/problems", "/problems/out-of-range",
        "/problems/nothing",
        "/nowhere", "/locations/", "//locations", "/LOCATIONS?lat=1&long=2", "/%6Cocations?lat=1&long=2",
        "/%2e",
        "/locations/1/photos", "/categories/cafe", "/locations%2F1", "/favicon.ico", "*",
    ]

    static let headers: [(name: String, values: [String])] = [
        (
            "Accept",
            [
                "*/*", "application/json", "application/geo+json",
                "application/geo+json;q=0.5, application/json",
                "text/html", "text/csv", "application/*;q=0.1", "application/json;q=0", ";;;", "",
            ]
        ),
        (
            "Accept-Encoding",
            [
                "gzip", "identity", "gzip;q=0", "identity;q=0", "br", "*;q=0", "gzip, br",
                "deflate, gzip;q=0.5",
            ]
        ),
        ("Origin", [OwnServers.origin, "https://evil.example", "null"]),
        ("If-None-Match", ["*", "\"another\"", "W/\"another\"", "nonsense", ""]),
        ("Access-Control-Request-Method", ["GET", "POST"]),
        ("Authorization", ["Bearer nobody-asks-for-one"]),
        ("Content-Length", ["0"]),
    ]
}
