extension EventLoop {
    /// Returns after a while, with the loop's resolution of a millisecond; cancelling doesn't shorten it. On the loop.
    public func sleep(for duration: Duration) async {
        await withCheckedContinuation { continuation in
            var timer: LoopTimer?
            timer = LoopTimer(loop: self) {
                timer?.close()
                timer = nil
                continuation.resume()
            }
            timer?.start(after: duration)
        }
    }
}
