import EventLoop

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The service manager that started the process, systemd mostly: it is told by datagrams to a socket that it names
/// (sd_notify(3)).
///
/// Any thread. A message that can't be sent is dropped: the process serves all the same.
struct ServiceManager: Sendable {
    /// What it is told.
    enum Message: Hashable, Sendable {
        /// The process listens and can take requests.
        case ready
        /// The process has begun to end.
        case stopping
        /// The process turns.
        case watchdog
        /// What it is up to, for people.
        case status(String)

        fileprivate var text: String {
            switch self {
            case .ready: "READY=1"
            case .stopping: "STOPPING=1"
            case .watchdog: "WATCHDOG=1"
            case .status(let text): "STATUS=\(text.replacing("\n", with: " "))"
            }
        }
    }

    /// Within which time it wants to hear `watchdog` again; nil where it doesn't.
    let watchdogTimeout: Duration?
    private let socketName: String

    /// The manager that the environment names; nil where there is none.
    ///
    /// - Parameter environment: the value of a variable: `NOTIFY_SOCKET`, a path or with `@` an abstract name;
    ///   `WATCHDOG_USEC`, which counts where `WATCHDOG_PID` is absent or this process (sd_watchdog_enabled(3)).
    init?(environment: (String) -> String?) {
        guard let name = environment("NOTIFY_SOCKET"), name.first == "/" || name.first == "@",
            name.utf8.count < Self.longestName
        else { return nil }
        socketName = name
        let isMeant = environment("WATCHDOG_PID").map { $0 == String(getpid()) } ?? true
        let microseconds = environment("WATCHDOG_USEC").flatMap { Int64($0) } ?? 0
        watchdogTimeout = isMeant && microseconds > 0 ? .microseconds(microseconds) : nil
    }

    /// The manager of this process.
    static var current: ServiceManager? {
        ServiceManager { name in getenv(name).map { String(cString: $0) } }
    }

    /// Tells it, all in one datagram; answers whether it took that.
    @discardableResult
    func send(_ messages: Message...) -> Bool {
        let text = messages.map(\.text).joined(separator: "\n")
        let descriptor = Self.makeSocket()
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        // A manager that doesn't read is not waited for longer than this.
        var patience = timeval(tv_sec: 0, tv_usec: 100_000)
        setsockopt(
            descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        let (address, length) = address
        return withUnsafePointer(to: address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                Array(text.utf8).withUnsafeBytes { bytes in
                    sendto(descriptor, bytes.baseAddress, bytes.count, 0, address, length) == bytes.count
                }
            }
        }
    }

    /// What `sun_path` has room for, its terminating zero included (unix(7)).
    private static let longestName = MemoryLayout.size(ofValue: sockaddr_un().sun_path)

    private static func makeSocket() -> Int32 {
        #if canImport(Darwin)
            socket(AF_UNIX, SOCK_DGRAM, 0)
        #else
            socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        #endif
    }

    /// An abstract name begins with a zero in place of the `@`, and ends where the length says.
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

/// Keeps the service manager informed: ready, stopping, and alive in between. Confined to its loop.
final class ServiceManagerReports {
    private let manager: ServiceManager
    private let health: Health
    private var watchdog: LoopTimer?
    private var isReady = false
    private var lastReason: String?
    private var isStopping = false

    /// Starts to tell that the process turns, where the manager wants to know.
    ///
    /// - Parameter health: knows the loops of the process, all of which have to turn: one that is stuck is enough for
    ///   the process to be of no use.
    init(loop: EventLoop, health: Health, manager: ServiceManager) {
        self.manager = manager
        self.health = health
        guard let timeout = manager.watchdogTimeout else { return }
        watchdog = LoopTimer(loop: loop) { [weak self] in
            guard let self, self.health.allLoopsTurn(within: timeout) else { return }
            self.manager.send(.watchdog)
        }
        // Half of it is what sd_watchdog_enabled(3) recommends.
        watchdog?.start(after: .zero, repeating: timeout / 2)
    }

    /// Takes note of the process's health. A manager that has no room for a message is told again the next time.
    func update(_ report: Health.Report) {
        guard !isReady, !isStopping else { return }
        if let reason = report.notReadyReason {
            guard reason != lastReason else { return }
            if manager.send(.status(reason)) { lastReason = reason }
        } else {
            isReady = manager.send(.ready, .status("Serving."))
        }
    }

    /// The process has begun to end.
    func stop() {
        isStopping = true
        manager.send(.stopping, .status("Shutting down."))
    }

    /// Tells nothing any more.
    func close() {
        watchdog?.close()
        watchdog = nil
    }
}
