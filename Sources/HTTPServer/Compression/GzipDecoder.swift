import CZlib

/// Decompresses gzip (RFC 1952), with the same memory for every body.
///
/// Confined to one loop.
final class GzipDecoder {
    /// The result for a body.
    enum Outcome: Equatable {
        case decoded([UInt8])
        /// It isn't gzip, or is incomplete or damaged.
        case malformed
        /// It is longer than the limit.
        case tooLarge
    }

    /// zlib keeps a pointer to it (`inflateInit2`, zlib.h), so it never moves.
    private let stream: UnsafeMutablePointer<z_stream>

    /// The largest window of gzip, 2¹⁵ bytes; adding 16 selects gzip's frame.
    private static let windowBits: Int32 = 15 + 16
    private static let pieceBytes = 16 * 1024

    /// Allocates 40 KiB with the first body; nil if there is no memory.
    init?() {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let status = inflateInit2_(
            stream, Self.windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        if status != Z_OK {
            stream.deallocate()
            return nil
        }
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Decompresses a body of one or several members (RFC 1952 section 2.2) to at most `limit` bytes.
    ///
    /// Never produces more than `limit` + 1 bytes.
    func decode(_ body: [UInt8], limit: Int) -> Outcome {
        guard let length = UInt32(exactly: body.count), !body.isEmpty, inflateReset(stream) == Z_OK else {
            return .malformed
        }
        return body.withUnsafeBufferPointer { input in
            // zlib doesn't write to its input, only its type says so.
            stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            stream.pointee.avail_in = length
            defer { stream.pointee.next_in = nil }
            return inflateAll(limit: limit)
        }
    }

    private func inflateAll(limit: Int) -> Outcome {
        var output: [UInt8] = []
        // Allocated once for all pieces: a body may have an empty member every 20 bytes.
        let piece = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: Self.pieceBytes)
        defer { piece.deallocate() }
        while true {
            guard output.count <= limit else { return .tooLarge }
            let room = min(limit + 1 - output.count, Self.pieceBytes)
            let (count, status) = inflatePart(into: piece, room: room)
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

    private func inflatePart(
        into piece: UnsafeMutableBufferPointer<UInt8>, room: Int
    ) -> (count: Int, status: Int32) {
        stream.pointee.next_out = piece.baseAddress
        stream.pointee.avail_out = UInt32(clamping: room)
        defer { stream.pointee.next_out = nil }
        let status = inflate(stream, Z_NO_FLUSH)
        return (room - Int(stream.pointee.avail_out), status)
    }
}
