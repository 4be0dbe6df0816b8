import EventLoop

/// The rest of an answer that goes out piece by piece. Confined to its loop.
///
/// Its timer keeps it alive until the last piece, or until it is cancelled.
final class DrippedOutput {
    private var pieces: BodyPieces
    private var timer: LoopTimer?
    private let send: ([UInt8]) -> Void
    private let onFinished: () -> Void

    /// Sends the next piece after one interval; there has to be one.
    init(
        loop: EventLoop, pieces: BodyPieces, interval: Duration, send: @escaping ([UInt8]) -> Void,
        onFinished: @escaping () -> Void
    ) {
        self.pieces = pieces
        self.send = send
        self.onFinished = onFinished
        timer = LoopTimer(loop: loop) { [self] in sendNext() }
        timer?.start(after: interval, repeating: interval)
    }

    /// Sends nothing more, and tells nobody.
    func cancel() {
        timer?.close()
        timer = nil
    }

    private func sendNext() {
        send(Array(pieces.next()))
        guard pieces.isEmpty else { return }
        cancel()
        onFinished()
    }
}
