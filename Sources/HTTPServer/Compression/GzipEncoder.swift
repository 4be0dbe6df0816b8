#if canImport(CISAL)
    import CISAL
#endif
import CZlib

/// Compresses bodies with gzip (RFC 1952), with the same memory for each. Confined to one loop.
protocol GzipEncoder: AnyObject {
    /// One gzip member; nil if the body is too long for one call.
    func encode(_ body: [UInt8]) -> [UInt8]?
}

final class ZlibEncoder: GzipEncoder {
    /// What is worth more: the loop's time, or the client's.
    enum Aim {
        /// zlib's quickest level, with the smallest memory that makes no page of places larger.
        case speed
        /// zlib's usual level, for long bodies that are compressed elsewhere than on the loop.
        case balance
        /// zlib's thorough level, for bodies that are compressed once and sent often.
        case size
    }

    private let state = LibraryState<z_stream>()

    /// Allocates 64 KiB (256 KiB for `size`); nil if there is no memory.
    init?(_ aim: Aim) {
        // The window is 2¹³ bytes, or 2¹⁵, and adding 16 selects gzip's frame.
        let (level, windowBits, memoryLevel): (Int32, Int32, Int32) =
            switch aim {
            case .speed: (1, 13 + 16, 6)
            case .balance: (6, 15 + 16, 8)
            case .size: (9, 15 + 16, 8)
            }
        let status = deflateInit2_(
            state.pointer, level, Z_DEFLATED, windowBits, memoryLevel, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        if status != Z_OK { return nil }
    }

    deinit {
        deflateEnd(state.pointer)
    }

    func encode(_ body: [UInt8]) -> [UInt8]? {
        let stream = state.pointer
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
    /// zlib's quickest level. The codes stand in each compressed body, so they tell what they were made from: it is
    /// ``SamplePages``, never a body, which would tell one client what others asked. A page is at most a tenth longer
    /// than by zlib's quickest level.
    final class ISALEncoder: GzipEncoder {
        // Zeros: `isal_deflate_stateless_init` leaves alone how far back a body is searched for repetitions (`hist_bits`), and
        // whatever was in the memory before would be taken for it.
        private let state = LibraryState<isal_zstream>()
        private let codes = LibraryState<isal_hufftables>()

        /// The most that a body becomes longer: five bytes for each stored block (RFC 1951 section 3.2.4), and gzip's frame.
        private static let storedBlockBytes = 65_535
        private static let frameBytes = 18

        /// Allocates 79 KiB; nil if no codes can be made.
        init?() {
            let histogram = LibraryState<isal_huff_histogram>()
            for page in SamplePages.all {
                page.withInput { isal_update_histogram($0, Int32(page.count), histogram.pointer) }
            }
            guard isal_create_hufftables(codes.pointer, histogram.pointer) == 0 else { return nil }
        }

        func encode(_ body: [UInt8]) -> [UInt8]? {
            let bound = body.count + 5 * (body.count / Self.storedBlockBytes + 1) + Self.frameBytes
            guard let length = UInt32(exactly: body.count) else { return nil }
            let stream = state.pointer
            isal_deflate_stateless_init(stream)
            stream.pointee.gzip_flag = UInt16(IGZIP_GZIP)
            stream.pointee.end_of_stream = 1
            stream.pointee.hufftables = codes.pointer
            return body.compressed(atMost: bound) { input, output, room in
                stream.pointee.next_in = input
                stream.pointee.avail_in = length
                stream.pointee.next_out = output
                stream.pointee.avail_out = room
                return isal_deflate_stateless(stream) == COMP_OK ? stream.pointee.avail_out : nil
            }
        }
    }
#endif
