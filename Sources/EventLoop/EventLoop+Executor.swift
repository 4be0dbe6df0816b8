extension EventLoop: SerialExecutor, TaskExecutor {
    /// Takes a job of the Swift runtime, to be run on the loop's thread. Any thread.
    public func enqueue(_ job: consuming ExecutorJob) {
        schedule(UnownedJob(job))
    }

    /// The loop as the executor of actors.
    public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    /// The loop as the executor that tasks prefer.
    public func asUnownedTaskExecutor() -> UnownedTaskExecutor {
        UnownedTaskExecutor(ordinary: self)
    }

    /// Traps off the loop's thread, for `assumeIsolated` of the loop's actors.
    public func checkIsolated() {
        preconditionInEventLoop()
    }
}
