import CZlib

/// Undoes gzip (RFC 1952); nil for what isn't one whole member.
package func gunzip(_ bytes: [UInt8]) -> [UInt8]? {
    let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    stream.initialize(to: z_stream())
    defer { stream.deallocate() }
    guard inflateInit2_(stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
        return nil
    }
    defer { inflateEnd(stream) }
    let capacity = 1 << 22
    var isWhole = false
    let plain = [UInt8](unsafeUninitializedCapacity: capacity) { output, count in
        bytes.withUnsafeBufferPointer { input in
            stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            stream.pointee.avail_in = UInt32(input.count)
            stream.pointee.next_out = output.baseAddress
            stream.pointee.avail_out = UInt32(capacity)
            isWhole = inflate(stream, Z_FINISH) == Z_STREAM_END && stream.pointee.avail_in == 0
        }
        count = capacity - Int(stream.pointee.avail_out)
    }
    return isWhole ? plain : nil
}
