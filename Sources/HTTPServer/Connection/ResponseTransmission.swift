import EventLoop

/// How an answer goes over the wire.
///
/// All but `whole` are faults below HTTP, for a server that stands in for a bad network in an app's tests.
public enum ResponseTransmission: Hashable, Sendable {
    /// As it should.
    case whole
    /// The connection ends, in order, after so many bytes of the body, of which the head has told the whole length.
    case cutOff(afterBodyBytes: Int)
    /// The connection is reset in the answer's place.
    case reset
    /// The body goes so many bytes at a time: the first piece with the head, then one every interval.
    case dripped(bytes: Int, every: Duration)
}

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

/// A body that goes out in pieces of one size, the last of which may be shorter.
struct BodyPieces {
    private var rest: ArraySlice<UInt8>
    private let size: Int

    /// - Parameter size: a size below 1 counts as 1.
    init(_ body: ArraySlice<UInt8>, size: Int) {
        rest = body
        self.size = max(1, size)
    }

    /// Whether there is no piece left.
    var isEmpty: Bool { rest.isEmpty }

    /// Takes the next piece; empty where none is left.
    mutating func next() -> ArraySlice<UInt8> {
        let piece = rest.prefix(size)
        rest = rest.dropFirst(size)
        return piece
    }
}
