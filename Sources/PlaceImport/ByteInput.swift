import CZlib
import Foundation

/// The bytes of a file from its start, decompressed where they are gzip (RFC 1952).
///
/// Only what is read and not yet consumed is kept.
final class ByteInput {
    /// How much is read at once.
    static let chunk = 256 * 1024

    let path: String
    /// How much of the file was read, compressed where it is.
    private(set) var bytesRead = 0

    private let descriptor: Int32
    private let closesDescriptor: Bool
    private var buffer = [UInt8](repeating: 0, count: 2 * chunk)
    private var unreadRange = 0..<0
    private var gzip: GzipStream?
    /// Whether all was read.
    private(set) var isAtEnd = false
    /// The member of an archive that is read; nil for a whole file.
    private let member: ZIPMember?
    /// How many bytes of the member weren't read yet, compressed, and how many may still come out of them.
    private var (compressedLeft, contentLeft) = (0, 0)
    /// Whether bytes are in Windows-1252, and become UTF-8 as they are read.
    private(set) var isWindows1252 = false

    /// Opens a file; `-` is the standard input.
    convenience init(path: String) throws(ImportError) {
        guard path != "-" else {
            try self.init(descriptor: STDIN_FILENO, path: "standard input", closes: false)
            return
        }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw ImportError(String(cString: strerror(errno)), path: path) }
        try self.init(descriptor: descriptor, path: path, closes: true)
    }

    /// Opens the one file in a ZIP archive.
    init(member: ZIPMember, path: String) throws(ImportError) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw ImportError(String(cString: strerror(errno)), path: path) }
        self.path = path
        self.member = member
        closesDescriptor = true
        (compressedLeft, contentLeft) = (member.compressedSize, member.size)
        guard lseek(descriptor, off_t(member.offset), SEEK_SET) >= 0 else {
            throw error(String(cString: strerror(errno)))
        }
        if member.isCompressed {
            gzip = GzipStream(compressed: [], isRaw: true)
            guard gzip != nil else { throw error("there is no memory to decompress it") }
        }
        try fill()
    }

    /// Reads an open file.
    init(descriptor: Int32, path: String, closes: Bool) throws(ImportError) {
        self.descriptor = descriptor
        self.path = path
        closesDescriptor = closes
        member = nil
        try fill()
        guard startsWith([0x1f, 0x8b]) else { return }
        gzip = GzipStream(compressed: Array(buffer[unreadRange]))
        guard gzip != nil else { throw error("there is no memory to decompress it") }
        unreadRange = 0..<0
        isAtEnd = false
        try fill()
    }

    deinit {
        if closesDescriptor { close(descriptor) }
    }

    /// How many bytes a file has; nil where it isn't a regular file.
    static func size(ofFile path: String) -> Int? {
        var status = stat()
        guard path != "-", stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int(status.st_size)
    }

    func error(_ message: String, line: Int? = nil) -> ImportError {
        ImportError(message, path: path, line: line)
    }

    /// How many bytes are there to be read without another `fill()`.
    var unreadCount: Int { unreadRange.count }

    /// Calls a closure with the bytes that aren't consumed.
    @inline(__always)
    func withUnread<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        buffer.withUnsafeBufferPointer { body(UnsafeBufferPointer(rebasing: $0[unreadRange])) }
    }

    func startsWith(_ bytes: [UInt8]) -> Bool { buffer[unreadRange].starts(with: bytes) }

    @inline(__always)
    func consume(_ count: Int) {
        unreadRange = (unreadRange.lowerBound + count)..<unreadRange.upperBound
    }

    /// The bytes that were consumed last, until more are read.
    func consumed(_ count: Int) -> ArraySlice<UInt8> {
        buffer[(unreadRange.lowerBound - count)..<unreadRange.lowerBound]
    }

    /// Adds up to a chunk of bytes to the unread ones; returns whether there were any.
    @discardableResult
    func fill() throws(ImportError) -> Bool {
        let kept = unreadRange.count
        buffer.withUnsafeMutableBytes {
            $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[unreadRange]))
        }
        unreadRange = 0..<kept
        if buffer.count - kept < Self.chunk {
            buffer.append(contentsOf: repeatElement(0, count: buffer.count))
        }
        // A read of a pipe may return little, and the parser would begin a row again after each.
        while !isAtEnd, unreadRange.count - kept < Self.chunk {
            let count = try gzip == nil ? readOnce() : inflateOnce()
            unreadRange = 0..<(unreadRange.count + count)
        }
        if isWindows1252 { convert(from: kept) }
        return unreadRange.count > kept
    }

    /// Makes UTF-8 of what wasn't consumed yet, and of all that follows.
    func readAsWindows1252() {
        isWindows1252 = true
        buffer.withUnsafeMutableBytes {
            $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[unreadRange]))
        }
        unreadRange = 0..<unreadRange.count
        convert(from: 0)
    }

    private func convert(from start: Int) {
        var text: [UInt8] = []
        for byte in buffer[start..<unreadRange.count] { Windows1252.append(byte, to: &text) }
        let end = start + text.count
        if buffer.count < end { buffer.append(contentsOf: repeatElement(0, count: end - buffer.count)) }
        buffer.replaceSubrange(start..<end, with: text)
        unreadRange = 0..<end
    }

    private func readOnce() throws(ImportError) -> Int {
        let room = unreadRange.count..<buffer.count
        return try read { body in buffer.withUnsafeMutableBytes { body(.init(rebasing: $0[room])) } }
    }

    private func inflateOnce() throws(ImportError) -> Int {
        guard let gzip else { return 0 }
        if gzip.needsInput {
            let count = try read { body in gzip.withInput(body) }
            if count == 0 {
                guard gzip.isBetweenMembers else {
                    throw error(member == nil ? "the gzip data ends early" : "the archive's file ends early")
                }
                return 0
            }
            gzip.beginInput(count)
        }
        let room = unreadRange.count..<buffer.count
        let count = buffer.withUnsafeMutableBufferPointer {
            gzip.inflate(into: .init(rebasing: $0[room]))
        }
        guard let count else {
            throw error(member == nil ? "the gzip data is damaged" : "the archive's file is damaged")
        }
        if member != nil {
            guard count <= contentLeft else { throw error("the archive's file has more bytes than it says") }
            contentLeft -= count
        }
        return count
    }

    private func read(_ withRoom: ((UnsafeMutableRawBufferPointer) -> Int) -> Int) throws(ImportError) -> Int
    {
        var count = -1
        repeat {
            count = withRoom { room in
                let most = member == nil ? room.count : min(room.count, compressedLeft)
                return Foundation.read(descriptor, room.baseAddress, most)
            }
        } while count < 0 && errno == EINTR
        guard count >= 0 else { throw error(String(cString: strerror(errno))) }
        isAtEnd = count == 0
        bytesRead += count
        if member != nil { compressedLeft -= count }
        return count
    }
}

/// Decompresses gzip, of one or several members, or DEFLATE alone (RFC 1951), a piece at a time.
private final class GzipStream {
    /// zlib keeps a pointer to it (`inflateInit2`, zlib.h), so it never moves.
    private let stream: UnsafeMutablePointer<z_stream>
    private let input: UnsafeMutableBufferPointer<UInt8>
    /// Whether nothing of a member was read yet, or all.
    private(set) var isBetweenMembers = true
    /// Whether the last output was full: then zlib may have more without further input.
    private var hasMore = false

    private let isRaw: Bool

    /// Nil if there is no memory.
    init?(compressed: [UInt8], isRaw: Bool = false) {
        self.isRaw = isRaw
        input = .allocate(capacity: max(compressed.count, 64 * 1024))
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // The largest window, 2¹⁵ bytes; adding 16 selects gzip's frame, a negative number none.
        guard
            inflateInit2_(stream, isRaw ? -15 : 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
                == Z_OK
        else {
            input.deallocate()
            stream.deallocate()
            return nil
        }
        _ = input.update(fromContentsOf: compressed)
        beginInput(compressed.count)
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
        input.deallocate()
    }

    var needsInput: Bool { stream.pointee.avail_in == 0 && !hasMore }

    func withInput(_ body: (UnsafeMutableRawBufferPointer) -> Int) -> Int {
        body(UnsafeMutableRawBufferPointer(input))
    }

    /// Says how much of the input was filled.
    func beginInput(_ count: Int) {
        stream.pointee.next_in = input.baseAddress
        stream.pointee.avail_in = UInt32(count)
    }

    /// Returns how much was decompressed; nil where the data is damaged.
    func inflate(into output: UnsafeMutableBufferPointer<UInt8>) -> Int? {
        let room = UInt32(clamping: output.count)
        stream.pointee.next_out = output.baseAddress
        stream.pointee.avail_out = room
        defer { stream.pointee.next_out = nil }
        isBetweenMembers = false
        switch CZlib.inflate(stream, Z_NO_FLUSH) {
        case Z_OK, Z_BUF_ERROR: hasMore = stream.pointee.avail_out == 0
        case Z_STREAM_END:
            isBetweenMembers = true
            hasMore = false
            // In an archive there is nothing behind it.
            guard !isRaw || stream.pointee.avail_in == 0, inflateReset(stream) == Z_OK else { return nil }
        default: return nil
        }
        return Int(room - stream.pointee.avail_out)
    }
}
