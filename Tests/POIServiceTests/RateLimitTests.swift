import EventLoop
import HTTPServer
import PointsOfInterestAPI
@testable import Program
import Randomness
import Testing

@testable import POIService

@Suite("The rate limit")
struct RateLimitTests {
    private static let second: Int64 = 1_000_000_000

    private static func limiter(
        _ text: String, burst: Int? = nil, capacity: Int = 100
    ) throws -> RateLimiter {
        var limit = try #require(RateLimit(settingText: text))
        if let burst { limit.burst = burst }
        return RateLimiter(limit, capacity: capacity)
    }

    private static func address(_ text: String) throws -> IPAddress { try #require(IPAddress(text)) }

    @Test("A client may send a burst, and then as many requests as the rate permits")
    func burst() throws {
        let limiter = try Self.limiter("2/s", burst: 3)
        let client = try Self.address("192.0.2.1")
        let start = 77 * Self.second
        for _ in 0..<3 { #expect(limiter.secondsToWait(client, nowNanoseconds: start) == nil) }
        #expect(limiter.secondsToWait(client, nowNanoseconds: start) == 1)
        #expect(limiter.secondsToWait(client, nowNanoseconds: start + Self.second / 2 - 1) == 1)
        #expect(limiter.secondsToWait(client, nowNanoseconds: start + Self.second / 2) == nil)
        #expect(limiter.secondsToWait(client, nowNanoseconds: start + Self.second / 2) == 1)
        // After a long pause it is a burst again, and no more.
        let later = start + 100 * Self.second
        for _ in 0..<3 { #expect(limiter.secondsToWait(client, nowNanoseconds: later) == nil) }
        #expect(limiter.secondsToWait(client, nowNanoseconds: later) == 1)
    }

    @Test("A client that waits as long as Retry-After says is allowed")
    func retryAfter() throws {
        let limiter = try Self.limiter("7/m", burst: 1)
        let client = try Self.address("::1")
        var now = Self.second
        for _ in 0..<5 {
            #expect(limiter.secondsToWait(client, nowNanoseconds: now) == nil)
            let wait = try #require(limiter.secondsToWait(client, nowNanoseconds: now))
            #expect(wait == 9)
            now += Int64(wait) * Self.second
        }
    }

    @Test("The number of remembered clients is bounded, and the latest are remembered")
    func bounded() throws {
        let limiter = try Self.limiter("1/h", capacity: 10)
        for index in 0..<1000 {
            let client = IPAddress(high: UInt64(index), low: 0)
            #expect(limiter.secondsToWait(client, nowNanoseconds: 0) == nil)
            #expect(limiter.secondsToWait(client, nowNanoseconds: 0) != nil)
            #expect(limiter.clientCount <= 20)
        }
    }

    @Test("A client is never allowed more than burst and rate, whenever its requests come")
    func neverMore() throws {
        var random = SeededGenerator()
        for _ in 0..<100 {
            let (rate, burst) = (
                Int.random(in: 1...50, using: &random), Int.random(in: 1...50, using: &random)
            )
            let limiter = try Self.limiter("\(rate)/s", burst: burst)
            var (now, granted) = (Int64(0), 0)
            for _ in 0..<300 {
                now += Int64.random(in: 0...(Self.second / 10), using: &random)
                let wait = limiter.secondsToWait(IPAddress(high: 1, low: 1), nowNanoseconds: now)
                if wait == nil { granted += 1 }
            }
            let allowed = Double(burst) + Double(now) / Double(Self.second) * Double(rate) + 1
            #expect(Double(granted) <= allowed, "POI_TEST_SEED=\(random.seed)")
        }
    }

    @Test("Too many requests are 429 with the time to wait; health isn't counted")
    func refused() async throws {
        let site = try ServiceSite(StubStore(), environment: ["POI_RATE_LIMIT": "1/h"])
        #expect(try await site.ask("/categories", from: "192.0.2.1").status == .ok)
        for target in ["/categories", "/locations?lat=0&long=0", "/problems", "/"] {
            let answer = try await site.ask(target, from: "192.0.2.1")
            #expect(answer.status == .tooManyRequests)
            #expect(answer.headers.first(.retryAfter) == "3600")
            #expect(answer.headers.first(.cacheControl) == "no-store")
            #expect(try answer.problem().code == .tooManyRequests)
        }
        #expect(try await site.ask("/livez", from: "192.0.2.1").status == .ok)
        #expect(try await site.ask("/categories", from: "192.0.2.2").status == .ok)
    }
}

extension RateLimitTests {
    @Test("Unknown paths and wrong methods count as well")
    func failuresCount() async throws {
        for (target, method, status) in [("/nowhere", HTTPMethod.get, 404), ("/locations", .delete, 405)] {
            let site = try ServiceSite(StubStore(), environment: ["POI_RATE_LIMIT": "1/h"])
            #expect(try await site.ask(target, method, from: "192.0.2.1").status.code == status)
            #expect(try await site.ask(target, method, from: "192.0.2.1").status == .tooManyRequests)
            #expect(try await site.ask("/categories", from: "192.0.2.1").status == .tooManyRequests)
        }
    }

    @Test(
        "A request that can't be parsed counts for its client, but not if it came through a trusted proxy")
    func malformedCounts() throws {
        let limiting = RateLimiting(
            limiter: try Self.limiter("1/h"),
            identification: ClientIdentification(
                trustedProxies: [try #require(AddressRange(settingText: "10.0.0.0/8"))]))
        func refusal(_ address: String) -> HTTPError? {
            limiting.refusal(
                ofMalformedRequest: RequestContext(requestID: "id-1", remoteAddress: address))
        }
        #expect(refusal("192.0.2.1") == nil)
        #expect(refusal("192.0.2.1")?.status == .tooManyRequests)
        for _ in 0..<3 { #expect(refusal("10.0.0.1") == nil) }
    }
}

@Suite("The connections of one client")
struct ClientConnectionsTests {
    private static func connections(_ limit: Int) throws -> ClientConnections {
        ClientConnections(
            limit: limit,
            identification: ClientIdentification(
                trustedProxies: [try #require(AddressRange(settingText: "10.0.0.0/8"))]))
    }

    @Test("A client may have a limited number of connections, and a new one when one of them closes")
    func limited() throws {
        let connections = try Self.connections(2)
        #expect(connections.open(from: "192.0.2.1"))
        #expect(connections.open(from: "192.0.2.1"))
        #expect(!connections.open(from: "192.0.2.1"))
        #expect(connections.open(from: "192.0.2.2"), "another client")
        connections.close(from: "192.0.2.1")
        #expect(connections.open(from: "192.0.2.1"))
        #expect(!connections.open(from: "192.0.2.1"))
    }

    @Test("With IPv6 the connections of a /64 network count together")
    func networks() throws {
        let connections = try Self.connections(1)
        #expect(connections.open(from: "2001:db8::1"))
        #expect(!connections.open(from: "2001:db8::2"))
        #expect(connections.open(from: "2001:db8:0:1::1"))
    }

    @Test("A trusted proxy, which has many clients, may have any number of connections")
    func trustedProxy() throws {
        let connections = try Self.connections(1)
        for _ in 0..<5 { #expect(connections.open(from: "10.0.0.1")) }
    }
}

@Suite("The identity of a client")
struct ClientIdentificationTests {
    private static let identification = ClientIdentification(
        trustedProxies: ["10.0.0.0/8", "2001:db8::/32", "192.0.2.7"].compactMap {
            AddressRange(settingText: $0)
        })

    private static func client(peer: String?, _ fields: String...) throws -> IPAddress {
        var headers = HTTPHeaders()
        for field in fields { headers.add("X-Forwarded-For", field) }
        let request = try HTTPRequest(method: .get, target: "/", headers: headers)
        return identification.client(
            of: request, RequestContext(requestID: "id-1", remoteAddress: peer))
    }

    @Test("A client is identified by its peer's address, whatever it sends, unless that is a trusted proxy")
    func peer() throws {
        #expect(try Self.client(peer: "192.0.2.1", "198.51.100.9") == IPAddress("192.0.2.1"))
        #expect(try Self.client(peer: "10.1.2.3") == IPAddress("10.1.2.3"))
        #expect(try Self.client(peer: nil, "198.51.100.9") == IPAddress(high: 0, low: 0))
    }

    @Test("Behind trusted proxies a client is the last untrusted address, since earlier ones may be forged")
    func forwarded() throws {
        let client = IPAddress("198.51.100.9")
        #expect(try Self.client(peer: "10.1.2.3", "198.51.100.9") == client)
        #expect(try Self.client(peer: "192.0.2.7", "1.1.1.1, 198.51.100.9 ,10.9.9.9") == client)
        #expect(try Self.client(peer: "2001:db8::5", "1.1.1.1,198.51.100.9:4711") == client)
        #expect(try Self.client(peer: "10.1.2.3", "1.1.1.1", "198.51.100.9", "10.0.0.1") == client)
        #expect(try Self.client(peer: "::ffff:10.1.2.3", "::ffff:198.51.100.9") == client)
        #expect(try Self.client(peer: "10.1.2.3", "nonsense, 198.51.100.9") == client)
        #expect(try Self.client(peer: "10.1.2.3", "198.51.100.9, nonsense") == IPAddress("10.1.2.3"))
        #expect(try Self.client(peer: "10.1.2.3", "10.0.0.4, 10.0.0.5") == IPAddress("10.0.0.4"))
        #expect(
            try Self.client(peer: "10.1.2.3", "[2001:db9::1%eth0]:80,\t[2001:db8::1]:4711")
                == IPAddress("2001:db9::").map(\.client))
    }

    @Test("The client is looked for only at the end of an overlong list of addresses")
    func longLists() throws {
        let proxies = Array(repeating: "10.0.0.1", count: 40).joined(separator: ",")
        #expect(
            try Self.client(peer: "10.1.2.3", "198.51.100.9,10.0.0.2,\(proxies)") == IPAddress("10.0.0.1"))
        let digits = String(repeating: "1", count: 101)
        #expect(try Self.client(peer: "10.1.2.3", "198.51.100.9,\(digits)") == IPAddress("10.1.2.3"))
    }

    @Test("With IPv6 a client is a /64 network")
    func networks() throws {
        let first = try Self.client(peer: "2001:db9:0:1::1")
        #expect(try first == Self.client(peer: "2001:db9:0:1:ffff::2"))
        #expect(try first != Self.client(peer: "2001:db9:0:2::1"))
        #expect(try Self.client(peer: "10.0.0.1", "[2001:db9:0:1::9]:443") == first)
        #expect(try Self.client(peer: "fe80::1%eth0") == Self.client(peer: "fe80::2"))
    }

    @Test("A range contains the addresses with its prefix")
    func ranges() throws {
        let range = try #require(AddressRange(settingText: "172.16.0.0/12"))
        for (text, isInside) in [
            ("172.16.0.0", true), ("172.31.255.255", true), ("172.32.0.0", false), ("172.15.255.255", false),
            ("::ac10:0", false),
        ] {
            #expect(range.contains(try #require(IPAddress(text))) == isInside, "\(text)")
        }
        let all = try #require(AddressRange(settingText: "0.0.0.0/0"))
        #expect(all.contains(try #require(IPAddress("255.255.255.255"))))
        #expect(!all.contains(try #require(IPAddress("::1"))))
        #expect(try #require(AddressRange(settingText: "::/0")).contains(try #require(IPAddress("1.2.3.4"))))
        let single = try #require(AddressRange(settingText: "2001:db8::1"))
        #expect(single.contains(try #require(IPAddress("2001:db8::1"))))
        #expect(!single.contains(try #require(IPAddress("2001:db8::2"))))
    }

    @Test(
        "A text that isn't a range is refused",
        arguments: [
            "", "/", "x", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.1/8", "::/129", "1.2.3",
            "::1%lo",
            "10.0.0.0/8/8", "[::1]",
        ])
    func badRanges(text: String) {
        #expect(AddressRange(settingText: text) == nil)
    }
}
