extension HTTPConnection {
    /// Sends an answer otherwise than whole.
    ///
    /// - Parameters:
    ///   - bytes: the answer as it would go over the wire.
    ///   - bodyBytes: how many of them are the body's.
    func transmit(_ bytes: [UInt8], bodyBytes: Int, as transmission: ResponseTransmission) {
        let headBytes = bytes.count - bodyBytes
        switch transmission {
        case .whole:
            write(bytes, canWait: false)
            process(.responseWritten(isDrained: stream.queuedWriteBytes == 0))
        case .cutOff(let count):
            write(Array(bytes.prefix(headBytes + max(0, min(count, bodyBytes)))), canWait: false)
            process(.responseCutOff)
            process(.responseWritten(isDrained: stream.queuedWriteBytes == 0))
        case .reset:
            process(.responseWithheld)
        case .dripped(let size, let interval):
            var pieces = BodyPieces(bytes[headBytes...], size: size)
            write(Array(bytes.prefix(headBytes) + pieces.next()), canWait: false)
            send(pieces, every: interval)
        }
    }

    private func send(_ pieces: BodyPieces, every interval: Duration) {
        guard !pieces.isEmpty else {
            return process(.responseWritten(isDrained: stream.queuedWriteBytes == 0))
        }
        drip = DrippedOutput(
            loop: environment.loop, pieces: pieces, interval: interval,
            send: { [self] in stream.write($0) },
            onFinished: { [self] in
                drip = nil
                process(.responseWritten(isDrained: stream.queuedWriteBytes == 0))
            })
    }
}
