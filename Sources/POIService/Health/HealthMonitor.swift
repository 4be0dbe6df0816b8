import EventLoop
import Places
import Telemetry

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Checks the health of the stores every second, and ten times a second until they are good. Confined to the stores' loop.
final class HealthMonitor {
    private let store: any PlaceStore
    private let events: any EventStore
    private let health: Health
    private let observability: Observability
    private let onReport: (Health.Report) -> Void
    /// One check for each database, so that a timeout of one doesn't delay the check of the other.
    private var checks: [RepeatedCheck] = []

    /// - Parameter onReport: called with the process's health after each check of places.
    init(
        loop: EventLoop, store: any PlaceStore, events: any EventStore, health: Health,
        observability: Observability, onReport: @escaping (Health.Report) -> Void
    ) {
        self.store = store
        self.events = events
        self.health = health
        self.observability = observability
        self.onReport = onReport
        let monitor = LoopBound(self, loop: loop)
        checks = [
            RepeatedCheck(loop: loop) { await monitor.value.checkPlaces() },
            RepeatedCheck(loop: loop) { await monitor.value.checkEvents() },
        ]
    }

    func start() {
        for check in checks { check.start() }
    }

    func stop() async {
        for check in checks { await check.stop() }
        checks = []
    }

    /// Returns whether another check should follow soon.
    private func checkPlaces() async -> Bool {
        let state = await store.checkHealth()
        if let state {
            for news in health.update(state) { observability.record(news) }
        }
        onReport(health.report)
        return state != .reachable(missingMigrations: [])
    }

    private func checkEvents() async -> Bool {
        guard let state = await events.checkHealth() else { return false }
        for news in health.updateEvents(state) { observability.record(news) }
        return state != .reachable(missingMigrations: [])
    }
}

/// Runs a check again some time after it has ended. Confined to its loop.
private final class RepeatedCheck {
    private let loop: EventLoop
    private let body: @Sendable () async -> Bool
    private var timer: LoopTimer?
    private var task: Task<Void, Never>?

    private static let interval = Duration.seconds(1)
    private static let shortInterval = Duration.milliseconds(100)

    /// - Parameter body: returns whether it should run again soon.
    init(loop: EventLoop, body: @escaping @Sendable () async -> Bool) {
        self.loop = loop
        self.body = body
    }

    func start() {
        timer = LoopTimer(loop: loop) { [self] in run() }
        run()
    }

    /// Starts no more runs, and waits for the one that is running.
    func stop() async {
        timer?.close()
        timer = nil
        await task?.value
        task = nil
    }

    private func run() {
        let check = LoopBound(self, loop: loop)
        task = Task(executorPreference: loop) { await check.value.runBody() }
    }

    private func runBody() async {
        timer?.start(after: await body() ? Self.shortInterval : Self.interval)
    }
}

/// Requests a server's health over a plain socket, for `poi healthcheck`.
package struct HealthProbe: Sendable {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    private let host: String
    private let port: Int
    private let path: String

    /// - Parameter host: an address or a name, or `unix:` and the path of a socket. `0.0.0.0` and `::`, which stand for all
    ///   addresses of a machine, become the loopback address.
    package init(host: String, port: Int, path: String) {
        self.host =
            switch host {
            case "0.0.0.0": "127.0.0.1"
            case "::": "::1"
            default: host
            }
        self.port = port
        self.path = path
    }

    package var url: String { Service.url(host: host, port: port) + path }

    /// Returns if the status is 200. Blocks, without a time limit.
    package func run() throws(Failure) {
        let descriptor = try connected()
        defer { close(descriptor) }
        let request = "GET \(path) HTTP/1.1\r\nHost: \(hostField)\r\nConnection: close\r\n\r\n"
        let bytes = Array(request.utf8)
        guard send(descriptor, bytes, bytes.count, 0) == bytes.count else {
            throw failure("it doesn't accept a request")
        }
        let response = response(from: descriptor)
        guard let line = response.split(separator: "\r\n").first, line.hasPrefix("HTTP/1."),
            let status = line.split(separator: " ").dropFirst().first
        else { throw failure("it doesn't respond with HTTP") }
        guard status == "200" else { throw failure("its response is \(status)\(Self.detail(of: response))") }
    }

    private var hostField: String {
        host.hasPrefix("unix:") ? "localhost" : Service.authority(host: host, port: port)
    }

    private func failure(_ reason: String) -> Failure { Failure(description: "\(url): \(reason)") }

    private func connected(to address: UnixSocketAddress) throws(Failure) -> Int32 {
        do throws(EventLoopError) {
            return try address.connect()
        } catch {
            throw failure(String(cString: strerror(-error.code)))
        }
    }

    private func connected() throws(Failure) -> Int32 {
        if let address = UnixSocketAddress(host: host) { return try connected(to: address) }
        var hints = addrinfo()
        #if canImport(Darwin)
            hints.ai_socktype = SOCK_STREAM
        #else
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #endif
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(port), &hints, &list) == 0 else {
            throw failure("there is no such host")
        }
        defer { freeaddrinfo(list) }
        var reason = "it can't be reached"
        var next = list
        while let address = next {
            let descriptor = socket(address.pointee.ai_family, address.pointee.ai_socktype, 0)
            if connect(descriptor, address.pointee.ai_addr, address.pointee.ai_addrlen) == 0 {
                return descriptor
            }
            reason = String(cString: strerror(errno))
            if descriptor >= 0 { close(descriptor) }
            next = address.pointee.ai_next
        }
        throw failure(reason)
    }

    /// The response to its end, or its first 64 KiB.
    private func response(from descriptor: Int32) -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while bytes.count < 64 * 1024 {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func detail(of response: String) -> String {
        guard let match = response.firstMatch(of: /"detail":"([ !#-\[\]-~]*)"/) else { return "" }
        return ": \(match.1)"
    }
}
