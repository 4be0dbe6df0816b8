import EventLoop
import Program

/// Whether a signal has asked a command to end.
///
/// Confined to the loop.
final class StopRequest {
    private let signals: StopSignals
    private var task: Task<Void, Never>?
    /// The signal's name, once one has come.
    private(set) var reason: String?
    /// Called when a signal comes.
    var onSignal: (() -> Void)?

    init(loop: EventLoop) throws {
        signals = try StopSignals(loop: loop)
        let request = LoopBound(self, loop: loop)
        let signals = LoopBound(signals, loop: loop)
        task = Task(executorPreference: loop) {
            let name = await signals.value.first()
            request.value.reason = name
            request.value.onSignal?()
        }
    }

    /// Restores the default effect of the signals.
    func close() async {
        onSignal = nil
        signals.ask("the end")
        await task?.value
        signals.close()
    }
}
