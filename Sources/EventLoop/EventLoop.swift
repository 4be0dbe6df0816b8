import CLibUV
import CSystem
import Locking
import Synchronization

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A libuv loop as a Swift executor: `async` functions that prefer it run on the loop's own thread.
///
/// The thread that calls `run()` is the loop's thread from then on. Everything made with a loop (timers, streams,
/// listeners) is used on that thread only; `execute`, `submit`, `enqueue` and `stop` may be called from any thread.
/// A job that becomes ready on the loop runs in the same turn, after all events of that turn; see `runTurn`.
///
/// The first loop makes the whole process ignore SIGPIPE: libuv writes without MSG_NOSIGNAL, and a peer that is gone
/// is an error of its stream, not a reason for the process to end.
package final class EventLoop: @unchecked Sendable {
    // @unchecked: libuv's loop is a C pointer. `inbox` is locked, `thread` is atomic. Everything else is used on the
    // loop's thread only, by callbacks of libuv and by functions that check the thread.
    let raw: UnsafeMutablePointer<uv_loop_t>
    private let thread = Atomic<UInt>(0)
    private let inbox = Lock(Inbox())
    private let async: UnsafeMutablePointer<uv_async_t>
    private let prepare: UnsafeMutablePointer<uv_prepare_t>
    private let check: UnsafeMutablePointer<uv_check_t>
    private let idle: UnsafeMutablePointer<uv_idle_t>

    private let turn: Confined<Turn>
    private var openHandles = 0

    private struct Turn {
        var ready: [UnownedJob] = []
        var running: [UnownedJob] = []
        var endOfTurn: [() -> Void] = []
        /// Whether `idle` makes the loop poll without waiting.
        var isPolling = false

        var isEmpty: Bool { ready.isEmpty && endOfTurn.isEmpty }
    }

    /// The buffer that all streams read into. A read is delivered before the next one starts, so one is enough.
    let readBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)

    /// Maximum rounds of jobs in one turn, before the loop polls for events again.
    private static let roundsPerTurn = 64

    /// Its handles are made and closed on the thread that calls `run()`. Most likely error: `EMFILE`.
    package init() throws {
        _ = Self.ignoreBrokenPipes
        raw = .allocate(capacity: 1)
        async = .allocateZeroed()
        prepare = .allocateZeroed()
        check = .allocateZeroed()
        idle = .allocateZeroed()
        turn = Confined(Turn())
        try EventLoopError.check(uv_loop_init(raw))
        uv_loop_set_data(raw, Unmanaged.passUnretained(self).toOpaque())
        try EventLoopError.check(
            uv_async_init(raw, async) { handle in EventLoop.with(handle?.pointee.loop) { $0.receive() } })
        uv_prepare_init(raw, prepare)
        uv_check_init(raw, check)
        uv_idle_init(raw, idle)
        uv_prepare_start(prepare) { handle in EventLoop.with(handle?.pointee.loop) { $0.runTurn() } }
        uv_check_start(check) { handle in EventLoop.with(handle?.pointee.loop) { $0.runTurn() } }
        // `async` keeps the loop alive until `stop()`; `idle` keeps it alive while jobs wait.
        uv_unref(Self.base(prepare))
        uv_unref(Self.base(check))
    }

    deinit {
        async.deallocate()
        prepare.deallocate()
        check.deallocate()
        idle.deallocate()
        raw.deallocate()
        readBuffer.deallocate()
    }

    private static let ignoreBrokenPipes: Void = {
        signal(SIGPIPE, SIG_IGN)
    }()

    /// Runs the loop on the calling thread until `stop()` was called and no handle is active.
    ///
    /// Call it once. Jobs that arrive after it has returned never run.
    /// - Returns: how many handles their owners forgot to close, 0 in a correct program. They are closed here, so that
    ///   the loop itself always closes cleanly.
    @discardableResult
    package func run() -> Int {
        let claimed = thread.compareExchange(
            expected: 0, desired: UInt(poi_current_thread()), ordering: .sequentiallyConsistent)
        precondition(claimed.exchanged, "a loop runs once, on one thread")
        repeat {
            uv_run(raw, UV_RUN_DEFAULT)
            runTurn()
        } while uv_loop_alive(raw) != 0

        let leaked = openHandles
        inbox.withLock { $0.isOpen = false }
        uv_walk(raw, { handle, _ in EventLoop.closeAtTheEnd(handle) }, nil)
        uv_run(raw, UV_RUN_DEFAULT)
        let status = uv_loop_close(raw)
        precondition(status == 0, "uv_loop_close: \(EventLoopError(code: status))")
        return leaked
    }

    /// Lets `run()` return once all active handles are closed. Any thread.
    package func stop() {
        execute { uv_unref(Self.base(self.async)) }
    }

    private static func closeAtTheEnd(_ handle: UnsafeMutablePointer<uv_handle_t>?) {
        guard let handle, uv_is_closing(handle) == 0 else { return }
        if let box = AnyHandleBox.of(handle) {
            box.closeForgotten()
        } else {
            uv_close(handle, nil)  // a handle of the loop itself
        }
    }

    package var isInEventLoop: Bool {
        thread.load(ordering: .relaxed) == UInt(poi_current_thread())
    }

    /// Traps when called off the loop's thread or before `run()`, which is a programming error.
    @inline(__always)
    package func preconditionInEventLoop() {
        precondition(isInEventLoop, "this belongs to the loop's thread")
    }

    package func execute(_ work: @escaping @Sendable () -> Void) {
        send(.closure(work))
    }

    /// Any thread.
    package func submit<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value
    {
        try await withCheckedThrowingContinuation { continuation in
            execute { continuation.resume(with: Result(catching: work)) }
        }
    }

    /// The time of `MonotonicClock` in milliseconds, read once a turn (`uv_now`). For deadlines.
    package var now: Duration {
        preconditionInEventLoop()
        return .milliseconds(nowMilliseconds)
    }

    package var nowMilliseconds: Int64 { Int64(clamping: uv_now(raw)) }

    /// Runs `work` after the jobs of this turn, before the loop waits for events: what the jobs wrote is sent by one call.
    package func atEndOfTurn(_ work: @escaping () -> Void) {
        preconditionInEventLoop()
        turn.value.endOfTurn.append(work)
    }

    func handleOpened() {
        openHandles += 1
    }

    func handleClosed() {
        openHandles -= 1
    }

    /// Runs the ready jobs, the jobs that these make ready, and then the work of `atEndOfTurn`.
    ///
    /// Called right before the loop waits for events (for jobs from timers and close callbacks) and right after (for
    /// jobs from reads). So all connections of a turn are read before the first handler runs, and what the handlers
    /// send leaves together. Jobs that keep making each other ready don't starve the loop: after `roundsPerTurn` it
    /// polls for events without waiting.
    private func runTurn() {
        guard !turn.value.isEmpty || turn.value.isPolling else { return }
        runReadyJobs()
        if !turn.value.endOfTurn.isEmpty {
            let works = turn.value.endOfTurn
            turn.value.endOfTurn.removeAll(keepingCapacity: true)
            for work in works { work() }
        }
        turn.value.isPolling = !turn.value.isEmpty
        if turn.value.isPolling {
            // An idle handle makes the loop poll without waiting.
            uv_idle_start(idle) { _ in }
        } else {
            uv_idle_stop(idle)
        }
    }

    private func runReadyJobs() {
        var rounds = 0
        while !turn.value.ready.isEmpty && rounds < Self.roundsPerTurn {
            rounds += 1
            swap(&turn.value.ready, &turn.value.running)
            for job in turn.value.running {
                // The loop isn't passed as a serial executor, too: a task that another thread has resumed would
                // sometimes be queued again between two statements, and miss what happens in between (Swift 6.3).
                job.runSynchronously(on: asUnownedTaskExecutor())
            }
            turn.value.running.removeAll(keepingCapacity: true)
        }
    }

    private enum Work {
        case job(UnownedJob)
        case closure(@Sendable () -> Void)
    }

    private struct Inbox {
        var works: [Work] = []
        var isOpen = true
    }

    private func send(_ work: Work) {
        inbox.withLock { inbox in
            guard inbox.isOpen else { return }
            inbox.works.append(work)
            // Inside the lock: `run()` closes the handle only after it has closed the inbox.
            if inbox.works.count == 1 { uv_async_send(async) }
        }
    }

    private func receive() {
        let works = inbox.withLock { inbox in
            let works = inbox.works
            inbox.works.removeAll(keepingCapacity: true)
            return works
        }
        for work in works {
            switch work {
            case .job(let job): turn.value.ready.append(job)
            case .closure(let closure): closure()
            }
        }
    }

    func schedule(_ job: UnownedJob) {
        if isInEventLoop {
            turn.value.ready.append(job)
        } else {
            send(.job(job))
        }
    }

    /// Calls `body` with the loop that libuv passes to a callback. The thread that runs it keeps it alive.
    @inline(__always)
    static func with(_ loop: UnsafeMutablePointer<uv_loop_t>?, _ body: (EventLoop) -> Void) {
        guard let loop, let data = uv_loop_get_data(loop) else { return }
        Unmanaged<EventLoop>.fromOpaque(data)._withUnsafeGuaranteedRef { body($0) }
    }

    private static func base<Raw>(_ raw: UnsafeMutablePointer<Raw>) -> UnsafeMutablePointer<uv_handle_t> {
        UnsafeMutableRawPointer(raw).assumingMemoryBound(to: uv_handle_t.self)
    }
}

/// An error code of libuv, most often one of the operating system ("Error handling" in libuv's documentation).
package struct EventLoopError: Error, Hashable, Sendable, CustomStringConvertible {
    /// libuv's error code: negative, and on Unix the negated `errno`.
    package let code: Int32

    package init(code: Int32) {
        self.code = code
    }

    package var name: String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
            guard let base = buffer.baseAddress else { return "" }
            return String(cString: uv_err_name_r(code, base, buffer.count))
        }
    }

    package var description: String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            guard let base = buffer.baseAddress else { return name }
            return name + ": " + String(cString: uv_strerror_r(code, base, buffer.count))
        }
    }

    static func check(_ status: Int32) throws(EventLoopError) {
        if status < 0 { throw EventLoopError(code: status) }
    }

    /// The calling thread's `errno` as libuv would report it.
    static var lastSystemError: EventLoopError {
        EventLoopError(code: uv_translate_sys_error(errno))
    }
}
