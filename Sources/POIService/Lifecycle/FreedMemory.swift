import CSystem
import EventLoop
import HTTPServer

/// Gives memory back to the system once clients hold much less of it than before. The allocator alone would keep it.
///
/// Confined to the main thread's loop, which serves no clients.
final class FreedMemory {
    private let memory: ClientMemory
    private var timer: LoopTimer?
    private var highestBytes = 0

    private static let interval = Duration.seconds(2)
    /// The number of bytes whose return is worth the milliseconds for which other threads may have to wait.
    private static let worthwhileBytes = 2 << 20

    init(loop: EventLoop, memory: ClientMemory) {
        self.memory = memory
        timer = LoopTimer(loop: loop) { [weak self] in self?.look() }
        timer?.start(after: Self.interval, repeating: Self.interval)
    }

    func close() {
        timer?.close()
        timer = nil
    }

    private func look() {
        highestBytes = max(highestBytes, memory.takePeak())
        let heldBytes = memory.heldBytes
        guard highestBytes - heldBytes >= Self.worthwhileBytes else { return }
        highestBytes = heldBytes
        poi_return_freed_memory()
    }
}
