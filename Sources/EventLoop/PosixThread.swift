import CThreadIdentity

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A joinable thread that runs one closure.
final class PosixThread: Sendable {
    private let handle: pthread_t

    /// Starts a thread; Linux keeps 15 bytes of its name.
    init(name: String, _ body: @escaping @Sendable () -> Void) throws(EventLoopError) {
        let start = Unmanaged.passRetained(Start(name: name, body: body))
        #if canImport(Darwin)
            var thread: pthread_t?
        #else
            var thread = pthread_t()
        #endif
        let status = pthread_create(&thread, nil, posixThreadMain, start.toOpaque())
        guard status == 0 else {
            start.release()
            throw EventLoopError(code: -status)
        }
        #if canImport(Darwin)
            guard let thread else { throw EventLoopError(code: -EAGAIN) }
        #endif
        handle = thread
    }

    /// Waits for the closure's end. Call it once, from another thread.
    func join() {
        pthread_join(handle, nil)
    }

    /// Lets the thread end by itself, in place of `join()`.
    func detach() {
        pthread_detach(handle)
    }

    fileprivate final class Start: Sendable {
        let name: String
        let body: @Sendable () -> Void

        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }

        static func run(_ argument: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
            let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
            poi_name_current_thread(start.name)
            start.body()
            return nil
        }
    }
}

#if canImport(Darwin)
    private func posixThreadMain(_ argument: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        PosixThread.Start.run(argument)
    }
#else
    private func posixThreadMain(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        argument.flatMap(PosixThread.Start.run)
    }
#endif
