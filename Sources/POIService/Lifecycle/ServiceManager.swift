import EventLoop
import Program

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The service manager that started the process, usually systemd. It receives datagrams on a socket whose name is in the
/// environment (sd_notify(3)). Any thread. A message that can't be sent is dropped, and the process goes on.
struct ServiceManager: Sendable {
    enum Message: Hashable, Sendable {
        case ready
        case stopping
        case watchdog
        /// The state of the process, for people.
        case status(String)

        fileprivate var text: String {
            switch self {
            case .ready: "READY=1"
            case .stopping: "STOPPING=1"
            case .watchdog: "WATCHDOG=1"
            case .status(let text): "STATUS=\(text.onOneLine)"
            }
        }
    }

    /// The maximum time between two `watchdog` messages; nil if the manager doesn't expect any.
    let watchdogTimeout: Duration?
    private let socketName: String

    /// The manager that the environment names; nil if there is none.
    /// - Parameter environment: returns the value of a variable. `NOTIFY_SOCKET` is a path or, with `@`, an abstract
    ///   name. `WATCHDOG_USEC` counts if `WATCHDOG_PID` is absent or this process (sd_watchdog_enabled(3)).
    init?(environment: (String) -> String?) {
        guard let name = environment("NOTIFY_SOCKET"), name.first == "/" || name.first == "@",
            name.utf8.count < Self.maximumNameSize
        else { return nil }
        socketName = name
        let isMeant = environment("WATCHDOG_PID").map { $0 == String(getpid()) } ?? true
        let microseconds = environment("WATCHDOG_USEC").flatMap { Int64($0) } ?? 0
        watchdogTimeout = isMeant && microseconds > 0 ? .microseconds(microseconds) : nil
    }

    static var current: ServiceManager? {
        ServiceManager { name in getenv(name).map { String(cString: $0) } }
    }

    /// Sends messages in one datagram, and returns whether that succeeded.
    @discardableResult
    func send(_ messages: Message...) -> Bool {
        let text = messages.map(\.text).joined(separator: "\n")
        let descriptor = Self.makeSocket()
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        // A manager that doesn't read must not block the process for longer than 100 ms.
        var timeout = timeval(tv_sec: 0, tv_usec: 100_000)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        let (address, length) = address
        let bytes = Array(text.utf8)
        return withUnsafePointer(to: address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                sendto(descriptor, bytes, bytes.count, 0, address, length) == bytes.count
            }
        }
    }

    /// The size of `sun_path`, with its terminating zero (unix(7)).
    private static let maximumNameSize = MemoryLayout.size(ofValue: sockaddr_un().sun_path)

    private static func makeSocket() -> Int32 {
        #if canImport(Darwin)
            socket(AF_UNIX, SOCK_DGRAM, 0)
        #else
            socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        #endif
    }

    /// An abstract name has a zero in place of the `@`, and no terminating zero.
    private var address: (sockaddr_un, socklen_t) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var name = Array(socketName.utf8)
        let isAbstract = name.first == UInt8(ascii: "@")
        if isAbstract { name[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let start = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
        return (address, socklen_t(start + name.count + (isAbstract ? 0 : 1)))
    }
}

/// Tells the service manager when the process is ready, alive and stopping. Confined to its loop.
final class ServiceManagerReports {
    private let manager: ServiceManager
    private let health: Health
    private var watchdog: LoopTimer?
    private var isReady = false
    private var lastReason: String?
    private var isStopping = false

    /// Sends `watchdog` messages if the manager expects them. They stop as soon as one loop is stuck: its connections get no
    /// responses then.
    init(loop: EventLoop, health: Health, manager: ServiceManager) {
        self.manager = manager
        self.health = health
        guard let timeout = manager.watchdogTimeout else { return }
        watchdog = LoopTimer(loop: loop) { [weak self] in
            guard let self, self.health.allLoopsTurn(within: timeout) else { return }
            self.manager.send(.watchdog)
        }
        // sd_watchdog_enabled(3) recommends half of the timeout.
        watchdog?.start(after: .zero, repeating: timeout / 2)
    }

    /// Sends the reason why the process isn't ready, whenever it changes, until it sends that the process is ready.
    /// What couldn't be sent is sent again at the next call.
    func update(_ report: Health.Report) {
        guard !isReady, !isStopping else { return }
        if let reason = report.notReadyReason {
            guard reason != lastReason else { return }
            if manager.send(.status(reason)) { lastReason = reason }
        } else {
            isReady = manager.send(.ready, .status("Serving."))
        }
    }

    func stop() {
        isStopping = true
        manager.send(.stopping, .status("Shutting down."))
    }

    func close() {
        watchdog?.close()
        watchdog = nil
    }
}
