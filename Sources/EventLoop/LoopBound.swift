/// Carries a value that belongs to one loop through `@Sendable` closures, and traps where another
/// thread touches it.
///
/// What belongs to a loop is a plain class without locks, so the compiler doesn't let it into a
/// task's closure. A task that prefers the loop's executor runs on the loop's thread, where the
/// value is at home: this type states that and checks it at every access. In the manner of
/// SwiftNIO's `NIOLoopBound`.
public struct LoopBound<Value>: @unchecked Sendable {
    // @unchecked: `value` is reached on the loop's thread only, which the getter checks.
    private let confined: Value

    /// The loop whose thread alone may touch the value.
    public let loop: EventLoop

    /// Confines `value` to `loop`; to be called on the loop's thread.
    public init(_ value: Value, loop: EventLoop) {
        loop.preconditionInEventLoop()
        confined = value
        self.loop = loop
    }

    /// Runs `body` with the value on the loop's thread, and returns when it has ended. Any thread.
    public func onLoop(_ body: @escaping @Sendable (Value) async -> Void) async {
        await Task(executorPreference: loop) { await body(value) }.value
    }

    /// The value. Traps off the loop's thread: that is a mistake in the program, never one of its input.
    public var value: Value {
        loop.preconditionInEventLoop()
        return confined
    }
}
