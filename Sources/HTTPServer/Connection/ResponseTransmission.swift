import EventLoop

/// How a response is sent.
///
/// All but `whole` are faults below HTTP, which the mock server causes to imitate a bad network in an app's tests.
public enum ResponseTransmission: Hashable, Sendable {
    /// As it should be.
    case whole
    /// The connection is closed, in order, after this number of bytes of the body. `Content-Length` is that of all.
    case cutOff(afterBodyBytes: Int)
    /// The connection is reset instead.
    case reset
    /// The body is sent in pieces of this number of bytes: the first one with the head, then one every interval.
    case dripped(bytes: Int, every: Duration)
}

extension HTTPConnection {
    /// Sends a response as `transmission` says.
    ///
    /// - Parameters:
    ///   - bytes: the encoded response.
    ///   - bodyBytes: length of the body at the end of `bytes`.
    func transmit(_ bytes: [UInt8], bodyBytes: Int, as transmission: ResponseTransmission) {
        let headBytes = bytes.count - bodyBytes
        switch transmission {
        case .whole:
            write(bytes)
            process(.responseWritten(isDrained: stream.queuedWriteBytes == 0))
        case .cutOff(let count):
            write(Array(bytes.prefix(headBytes + max(0, min(count, bodyBytes)))))
            process(.responseCutOff)
            process(.responseWritten(isDrained: stream.queuedWriteBytes == 0))
        case .reset:
            process(.responseWithheld)
        case .dripped(let size, let interval):
            var pieces = BodyPieces(bytes[headBytes...], size: size)
            write(Array(bytes.prefix(headBytes) + pieces.next()))
            send(pieces, every: interval)
        }
    }

    private func write(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { write($0, canWait: false) }
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

/// Sends the rest of a response piece by piece. Confined to its loop.
///
/// Its timer keeps it alive until the last piece, or until it is cancelled.
final class DrippedOutput {
    private var pieces: BodyPieces
    private var timer: LoopTimer?
    private let send: ([UInt8]) -> Void
    private let onFinished: () -> Void

    /// Sends the first of `pieces`, which must not be empty, after one interval.
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

    /// Sends nothing more, and doesn't call `onFinished`.
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

/// A body in pieces of one size, the last of which may be shorter.
struct BodyPieces {
    private var rest: ArraySlice<UInt8>
    private let size: Int

    /// - Parameter size: in bytes; less than 1 counts as 1.
    init(_ body: ArraySlice<UInt8>, size: Int) {
        rest = body
        self.size = max(1, size)
    }

    /// Whether there is no piece left.
    var isEmpty: Bool { rest.isEmpty }

    /// Takes the next piece; empty if none is left.
    mutating func next() -> ArraySlice<UInt8> {
        let piece = rest.prefix(size)
        rest = rest.dropFirst(size)
        return piece
    }
}
