import CZlib

/// Decompresses gzip (RFC 1952), with the same memory for every body. Confined to one loop.
final class GzipDecoder {
    enum Outcome: Equatable {
        case decoded([UInt8])
        /// It isn't gzip, or is incomplete or damaged.
        case malformed
        case tooLarge
    }

    private let state = LibraryState<z_stream>()

    /// The largest window of gzip, 2¹⁵ bytes; adding 16 selects gzip's frame.
    private static let windowBits: Int32 = 15 + 16
    private static let pieceBytes = 16 * 1024

    /// Allocates 40 KiB with the first body; nil if there is no memory.
    init?() {
        let status = inflateInit2_(
            state.pointer, Self.windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        if status != Z_OK { return nil }
    }

    deinit {
        inflateEnd(state.pointer)
    }

    /// Decompresses one or several members (RFC 1952 section 2.2); never produces more than `limit` + 1 bytes.
    func decode(_ body: [UInt8], limit: Int) -> Outcome {
        let stream = state.pointer
        guard let length = UInt32(exactly: body.count), !body.isEmpty, inflateReset(stream) == Z_OK else {
            return .malformed
        }
        return body.withInput { input in
            stream.pointee.next_in = input
            stream.pointee.avail_in = length
            defer { stream.pointee.next_in = nil }
            return inflateAll(limit: limit)
        }
    }

    private func inflateAll(limit: Int) -> Outcome {
        var output: [UInt8] = []
        // Allocated once for all pieces: a body may have an empty member every 20 bytes.
        var piece = [UInt8](repeating: 0, count: Self.pieceBytes)
        let stream = state.pointer
        while true {
            guard output.count <= limit else { return .tooLarge }
            let room = min(limit + 1 - output.count, Self.pieceBytes)
            stream.pointee.avail_out = UInt32(room)
            let status = piece.withOutput { output in
                stream.pointee.next_out = output
                defer { stream.pointee.next_out = nil }
                return inflate(stream, Z_NO_FLUSH)
            }
            let count = room - Int(stream.pointee.avail_out)
            output += piece[..<count]
            switch status {
            case Z_STREAM_END where stream.pointee.avail_in == 0:
                return output.count <= limit ? .decoded(output) : .tooLarge
            case Z_STREAM_END:
                guard inflateReset(stream) == Z_OK else { return .malformed }
            case Z_OK where count == room || stream.pointee.avail_in > 0:
                continue
            default:
                // Z_BUF_ERROR: the input is incomplete. All other statuses: it isn't gzip.
                return .malformed
            }
        }
    }
}
