#if canImport(CISAL)
    import CISAL
#endif
import CZlib
import EventLoop

/// Compresses bodies with gzip (RFC 1952), with the same memory for each.
///
/// Confined to one loop.
protocol GzipEncoder: AnyObject {
    /// Compresses a body to one gzip member; nil if it is too long for one call.
    func encode(_ body: [UInt8]) -> [UInt8]?
}

extension [UInt8] {
    /// The bytes that `compress` makes of these; nil where it fails, or there may be more than one call can write.
    ///
    /// - Parameter compress: gets the input, which it doesn't write to (only the libraries' types say so), and room for so
    ///   many bytes; returns how many it left, nil where it failed.
    fileprivate func compressed(
        atMost bound: Int,
        _ compress: (UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt8>?, UInt32) -> UInt32?
    ) -> [UInt8]? {
        guard let room = UInt32(exactly: bound) else { return nil }
        var rest: UInt32?
        let encoded = [UInt8](unsafeUninitializedCapacity: bound) { output, count in
            rest = withUnsafeBufferPointer { input in
                compress(UnsafeMutablePointer(mutating: input.baseAddress), output.baseAddress, room)
            }
            count = Int(room - (rest ?? room))
        }
        return rest == nil ? nil : encoded
    }
}

/// zlib's encoder.
final class ZlibEncoder: GzipEncoder {
    /// What is worth more: the loop's time, or the client's.
    enum Aim {
        /// zlib's quickest level, with the smallest memory that makes no page of places larger.
        case speed
        /// zlib's thorough level, for bodies that are compressed once and sent often.
        case size
    }

    /// zlib keeps a pointer to it (`deflateInit2`, zlib.h), so it never moves.
    private let stream: UnsafeMutablePointer<z_stream>

    /// Allocates 64 KiB (256 KiB for `size`); nil if there is no memory.
    init?(_ aim: Aim) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // The window is 2¹³ bytes, or 2¹⁵, and adding 16 selects gzip's frame.
        let (level, windowBits, memoryLevel): (Int32, Int32, Int32) =
            switch aim {
            case .speed: (1, 13 + 16, 6)
            case .size: (9, 15 + 16, 8)
            }
        let status = deflateInit2_(
            stream, level, Z_DEFLATED, windowBits, memoryLevel, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        if status != Z_OK {
            stream.deallocate()
            return nil
        }
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    func encode(_ body: [UInt8]) -> [UInt8]? {
        guard let length = UInt32(exactly: body.count), deflateReset(stream) == Z_OK else { return nil }
        return body.compressed(atMost: Int(deflateBound(stream, UInt(length)))) { input, output, room in
            stream.pointee.next_in = input
            stream.pointee.avail_in = length
            stream.pointee.next_out = output
            stream.pointee.avail_out = room
            defer {
                stream.pointee.next_in = nil
                stream.pointee.next_out = nil
            }
            return deflate(stream, Z_FINISH) == Z_STREAM_END ? stream.pointee.avail_out : nil
        }
    }
}

#if canImport(CISAL)
    /// The encoder of ISA-L, Intel's library for storage, which has code for ARM's processors, too.
    ///
    /// At its level 0 it writes every body with the same Huffman codes (RFC 1951 section 3.2.7), a fifth of the work of
    /// zlib's quickest level. The codes are made anew from what is sent, of one body in 256 in the end, so they suit the
    /// places' language: a page is about as long as by zlib's quickest level, and 15 % shorter than by codes for any text.
    final class ISALEncoder: GzipEncoder {
        private let stream: UnsafeMutablePointer<isal_zstream>
        /// The stream has a pointer to them.
        private let codes: UnsafeMutablePointer<isal_hufftables>
        /// How often each symbol was used in the bodies that codes were made from.
        private let histogram: UnsafeMutablePointer<isal_huff_histogram>
        private var encodedBodies = 0
        /// The number of the body from which codes are made next.
        private var nextLesson = 0
        private var hasCodes = false

        private static let bodiesBetweenLessons = 256
        /// The most that a body becomes longer: five bytes for each stored block (RFC 1951 section 3.2.4), and gzip's frame.
        private static let storedBlockBytes = 65_535
        private static let frameBytes = 18

        /// Allocates 104 KiB.
        init() {
            // Zeros: `isal_deflate_stateless_init` leaves alone how far back a body is searched for repetitions (`hist_bits`), and
            // whatever was in the memory before would be taken for it.
            stream = .allocateZeroed()
            codes = .allocateZeroed()
            histogram = .allocateZeroed()
        }

        deinit {
            stream.deallocate()
            codes.deallocate()
            histogram.deallocate()
        }

        func encode(_ body: [UInt8]) -> [UInt8]? {
            let bound = body.count + 5 * (body.count / Self.storedBlockBytes + 1) + Self.frameBytes
            guard let length = UInt32(exactly: body.count) else { return nil }
            learn(from: body)
            isal_deflate_stateless_init(stream)
            stream.pointee.gzip_flag = UInt16(IGZIP_GZIP)
            stream.pointee.end_of_stream = 1
            if hasCodes { stream.pointee.hufftables = codes }
            return body.compressed(atMost: bound) { input, output, room in
                stream.pointee.next_in = input
                stream.pointee.avail_in = length
                stream.pointee.next_out = output
                stream.pointee.avail_out = room
                return isal_deflate_stateless(stream) == COMP_OK ? stream.pointee.avail_out : nil
            }
        }

        /// Makes codes from the first body, the second, the fourth, and so on.
        private func learn(from body: [UInt8]) {
            defer { encodedBodies += 1 }
            guard encodedBodies == nextLesson, let length = Int32(exactly: body.count) else { return }
            nextLesson += min(nextLesson + 1, Self.bodiesBetweenLessons)
            body.withUnsafeBufferPointer { input in
                isal_update_histogram(UnsafeMutablePointer(mutating: input.baseAddress), length, histogram)
            }
            hasCodes = isal_create_hufftables(codes, histogram) == 0
        }
    }
#endif
