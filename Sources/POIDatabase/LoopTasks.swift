import EventLoop

/// Tasks that an object starts on its loop, and ends before it is closed.
///
/// Confined to the loop.
final class LoopTasks {
    private let loop: EventLoop
    private var tasks: [Int: Task<Void, Never>] = [:]
    private var startedCount = 0

    init(loop: EventLoop) {
        self.loop = loop
    }

    /// Runs `body` in a task of its own.
    func start(_ body: @escaping @Sendable () async -> Void) {
        startedCount += 1
        let number = startedCount
        let bound = LoopBound(self, loop: loop)
        // What the task waits for counts for no request, even if a request began it.
        tasks[number] = TaskWaits.$current.withValue(nil) {
            Task(executorPreference: loop) {
                await body()
                bound.value.tasks[number] = nil
            }
        }
    }

    func end() async {
        for task in tasks.values { task.cancel() }
        for task in tasks.values { await task.value }
    }
}
