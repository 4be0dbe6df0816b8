import CZlib
import Foundation

/// The bytes of a file from its start, decompressed where they are gzip (RFC 1952). Only what is read and not yet consumed
/// is kept.
final class ByteInput {
    /// How much is read at once.
    static let chunk = 256 * 1024

    let path: String
    /// How much of the file was read, compressed where it is.
    private(set) var bytesRead = 0

    private let descriptor: Int32
    private let closesDescriptor: Bool
    /// What was read last, decompressed.
    private var piece = [UInt8](repeating: 0, count: chunk)
    /// What was read and not yet dropped, and from where on it isn't consumed.
    private var (buffer, start) = ([UInt8](), 0)
    private var gzip: GzipStream?
    /// Whether all was read.
    private(set) var isAtEnd = false
    /// The member of an archive that is read; nil for a whole file.
    private let member: ZIPMember?
    /// How many bytes of the member weren't read yet, compressed where it is.
    private var memberBytesLeft = 0
    private var memberCheck: ZIPMemberCheck?
    /// Makes UTF-8 of the bytes as they are read; nil where they are UTF-8.
    private var decoder: TextDecoder?

    convenience init(path: String) throws(ImportError) {
        guard path != "-" else {
            try self.init(descriptor: STDIN_FILENO, path: "standard input", closes: false)
            return
        }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw ImportError(String(cString: strerror(errno)), path: path) }
        try self.init(descriptor: descriptor, path: path, closes: true)
    }

    /// Opens a file in a ZIP archive; at its end, its size and its checksum are compared with the archive's directory.
    init(member: ZIPMember, path: String) throws(ImportError) {
        let offset = try member.offset(in: path)
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw ImportError(String(cString: strerror(errno)), path: path) }
        self.path = path
        self.member = member
        closesDescriptor = true
        (memberBytesLeft, memberCheck) = (member.compressedSize, ZIPMemberCheck(member))
        guard lseek(descriptor, off_t(offset), SEEK_SET) >= 0 else {
            throw error(String(cString: strerror(errno)))
        }
        if member.isCompressed {
            gzip = GzipStream(compressed: [], isRaw: true)
            guard gzip != nil else { throw error("there is no memory to decompress it") }
        }
        try fill()
    }

    init(descriptor: Int32, path: String, closes: Bool) throws(ImportError) {
        self.descriptor = descriptor
        self.path = path
        closesDescriptor = closes
        member = nil
        try fill()
        guard startsWith([0x1f, 0x8b]) else { return }
        gzip = GzipStream(compressed: buffer)
        guard gzip != nil else { throw error("there is no memory to decompress it") }
        buffer = []
        isAtEnd = false
        try fill()
    }

    deinit {
        if closesDescriptor { close(descriptor) }
    }

    static func size(ofFile path: String) -> Int? {
        var status = stat()
        guard path != "-", stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int(status.st_size)
    }

    func error(_ message: String, line: Int? = nil) -> ImportError {
        ImportError(message, path: path, line: line)
    }

    /// The bytes that aren't consumed. Whoever keeps them over the next `fill()` makes it copy.
    @inline(__always)
    var unread: ArraySlice<UInt8> { buffer[start...] }

    func startsWith(_ bytes: [UInt8]) -> Bool { unread.starts(with: bytes) }

    @inline(__always)
    func consume(_ count: Int) { start += count }

    /// The bytes that were consumed last, until more are read.
    func consumed(_ count: Int) -> ArraySlice<UInt8> { buffer[(start - count)..<start] }

    /// Adds a chunk of bytes, or all that are left, to the unread ones; returns whether there were any.
    @discardableResult
    func fill() throws(ImportError) -> Bool {
        buffer.removeFirst(start)
        start = 0
        let kept = buffer.count
        // A read of a pipe may return little, and the parser would begin a row again after each.
        while !isAtEnd, buffer.count - kept < Self.chunk {
            let count = try gzip == nil ? read(into: &piece) : inflateOnce()
            try checkMember(count)
            buffer += piece[..<count]
        }
        try decode(from: kept)
        return buffer.count > kept
    }

    /// The encoding that is made UTF-8; nil where the text is that.
    var encoding: String? { decoder?.name }

    /// Makes UTF-8 of what wasn't consumed yet, and of all that follows.
    func read(as encoding: String) throws(ImportError) {
        guard let decoder = TextDecoder(encoding) else {
            throw error("this system's iconv doesn't know the encoding \(encoding.prefix(40).printable)")
        }
        self.decoder = decoder
        try decode(from: start)
    }

    private func decode(from start: Int) throws(ImportError) {
        guard let decoder else { return }
        guard let text = decoder.utf8(of: buffer[start...], isLast: isAtEnd) else {
            throw error("the text isn't \(decoder.name) throughout: \(ImportError.seeEncoding)")
        }
        buffer.replaceSubrange(start..., with: text)
    }

    private func inflateOnce() throws(ImportError) -> Int {
        guard let gzip else { return 0 }
        if gzip.needsInput {
            let count = try read(into: &gzip.input)
            if count == 0 {
                guard gzip.isBetweenMembers else {
                    throw damaged("it ends early", gzip: "the gzip data ends early")
                }
                return 0
            }
            // In an archive there is nothing behind the end of the compressed data.
            guard member == nil || !gzip.hasEnded else { throw damaged("it has more bytes than it needs") }
            gzip.inputRange = 0..<count
        }
        guard let count = gzip.inflate(into: &piece) else {
            throw damaged("it can't be unpacked", gzip: "the gzip data is damaged")
        }
        return count
    }

    /// The error for a member of an archive, or for gzip.
    private func damaged(_ reason: String, gzip: String = "") -> ImportError {
        error(member.map { "\($0.shownName) in the archive is damaged: \(reason)" } ?? gzip)
    }

    /// Checks the bytes of an archive's member that were read last, and at its end all of it.
    private func checkMember(_ count: Int) throws(ImportError) {
        guard memberCheck != nil else { return }
        var fault = memberCheck?.take(piece, count)
        if isAtEnd { fault = fault ?? memberCheck?.fault }
        if let fault { throw damaged(fault) }
    }

    private func read(into room: inout [UInt8]) throws(ImportError) -> Int {
        let most = member == nil ? room.count : min(room.count, memberBytesLeft)
        var count = -1
        repeat { count = Foundation.read(descriptor, &room, most) } while count < 0 && errno == EINTR
        guard count >= 0 else { throw error(String(cString: strerror(errno))) }
        isAtEnd = count == 0
        bytesRead += count
        if member != nil { memberBytesLeft -= count }
        return count
    }
}

/// Decompresses gzip, of one or several members, or DEFLATE alone (RFC 1951), a piece at a time.
private final class GzipStream {
    /// zlib keeps a pointer to it (`inflateInit2`, zlib.h), so it never moves.
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    var input: [UInt8]
    /// Where in the input is what zlib hasn't taken yet.
    var inputRange: Range<Int>
    /// Whether nothing of a member was read yet, or all.
    private(set) var isBetweenMembers = true
    /// Whether the end of a member was read.
    private(set) var hasEnded = false
    /// Whether the last output was full: then zlib may have more without further input.
    private var hasMore = false

    private let isRaw: Bool

    /// Nil if there is no memory.
    init?(compressed: [UInt8], isRaw: Bool = false) {
        self.isRaw = isRaw
        inputRange = 0..<compressed.count
        input = compressed + Array(repeating: 0, count: max(0, 64 * 1024 - compressed.count))
        stream.initialize(to: z_stream())
        // The largest window, 2¹⁵ bytes; adding 16 selects gzip's frame, a negative number none.
        let bits: Int32 = isRaw ? -15 : 15 + 16
        guard inflateInit2_(stream, bits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            return nil
        }
    }

    deinit {
        // Where it wasn't begun, this does nothing.
        inflateEnd(stream)
        stream.deallocate()
    }

    var needsInput: Bool { inputRange.isEmpty && !hasMore }

    /// Returns how much was decompressed; nil where the data is damaged.
    func inflate(into output: inout [UInt8]) -> Int? {
        isBetweenMembers = false
        let (start, left, room) = (
            inputRange.lowerBound, UInt32(inputRange.count), UInt32(clamping: output.count)
        )
        func run(_ input: UnsafeMutablePointer<UInt8>, _ output: UnsafeMutablePointer<UInt8>) -> Int32 {
            (stream.pointee.next_in, stream.pointee.avail_in) = (input + start, left)
            (stream.pointee.next_out, stream.pointee.avail_out) = (output, room)
            defer { (stream.pointee.next_in, stream.pointee.next_out) = (nil, nil) }
            return CZlib.inflate(stream, Z_NO_FLUSH)
        }
        let status = run(&input, &output)
        inputRange = (inputRange.upperBound - Int(stream.pointee.avail_in))..<inputRange.upperBound
        switch status {
        case Z_OK, Z_BUF_ERROR: hasMore = stream.pointee.avail_out == 0
        case Z_STREAM_END:
            (isBetweenMembers, hasEnded, hasMore) = (true, true, false)
            // In an archive there is nothing behind it.
            guard !isRaw || inputRange.isEmpty, inflateReset(stream) == Z_OK else { return nil }
        default: return nil
        }
        return Int(room - stream.pointee.avail_out)
    }
}
