#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Encodes a response, head and body, for one write.
enum ResponseEncoder {
    /// What the server decides about a response.
    struct Framing {
        /// Whether the request was a `HEAD`: the body's length is sent, the body isn't.
        var isHead = false
        /// Whether the connection is kept after the response.
        var keepsAlive: Bool
        /// With HTTP/1.0 a kept connection has to be announced, with HTTP/1.1 one that is closed.
        var version: HTTPVersion
        var id: RequestID

        /// Number of bytes of the response's body that are sent.
        func bodyBytes(of response: HTTPResponse) -> Int {
            isHead || response.status.forbidsBody ? 0 : response.bodyCount
        }
    }

    static let continueResponse: [UInt8] = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)

    /// An interim response without information, which clients ignore (RFC 2518 section 10.1).
    static let processingResponse: [UInt8] = Array("HTTP/1.1 102 Processing\r\n\r\n".utf8)

    /// Maximum bytes of a head's fixed text and numbers.
    private static let headAllowance = 320

    /// Encodes a response in place, where its body has room for the head, or else into `memory`, and calls `body` with
    /// its bytes.
    ///
    /// - Parameters:
    ///   - date: the value of the `Date` field.
    ///   - commonFields: encoded fields that every response has.
    @inline(__always)
    static func withEncoded<Result>(
        _ response: HTTPResponse, _ framing: Framing, date: [UInt8],
        commonFields: [UInt8], _ memory: ResponseMemory, _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        let headBytes = headCapacity(response, framing, date.count + commonFields.count)
        let sendsBody = !framing.isHead && !response.status.forbidsBody
        switch response.content {
        case .memory(let content) where sendsBody:
            var writer = ByteWriter(memory.scratch(atLeast: headBytes))
            writeHead(response, framing, date: date, commonFields: commonFields, to: &writer)
            if let whole = content.withHead(writer.bytes) { return body(whole) }
            let head = Array(writer.bytes)
            writer = ByteWriter(memory.scratch(atLeast: head.count + content.bytes.count))
            writer.write(head)
            writer.write(content.bytes)
            return body(writer.bytes)
        case .array(let content) where sendsBody:
            var writer = ByteWriter(memory.scratch(atLeast: headBytes + content.count))
            writeHead(response, framing, date: date, commonFields: commonFields, to: &writer)
            writer.write(content)
            return body(writer.bytes)
        case .memory, .array:
            var writer = ByteWriter(memory.scratch(atLeast: headBytes))
            writeHead(response, framing, date: date, commonFields: commonFields, to: &writer)
            return body(writer.bytes)
        }
    }

    /// Bytes that the head has at most.
    private static func headCapacity(
        _ response: HTTPResponse, _ framing: Framing, _ otherBytes: Int
    ) -> Int {
        var count = headAllowance + otherBytes + framing.id.maximumCount
        if let prepared = response.preparedFields { count += prepared.lines.count }
        if let link = response.link { count += link.count + 8 }
        if let fields = response.otherFields { count += fields.storage.count + 4 * fields.count }
        return count
    }

    private static func writeHead(
        _ response: HTTPResponse, _ framing: Framing, date: [UInt8],
        commonFields: [UInt8], to writer: inout ByteWriter
    ) {
        writeStatusLine(response.status, to: &writer)
        writer.write(date)
        writer.write("\r\n")
        if let prepared = response.preparedFields { writer.write(prepared.lines) }
        if let tag = response.entityTag {
            writer.write("ETag: ")
            writer.write(tag)
            writer.write("\r\n")
        }
        if let link = response.link {
            writer.write("Link: ")
            writer.write(link)
            writer.write("\r\n")
        }
        if let fields = response.otherFields { writeFields(fields, to: &writer) }
        writer.write(commonFields)
        if !response.status.forbidsBody, !framing.isHead || response.tellsLengthToHead {
            writer.write("Content-Length: ")
            writer.write(decimal: response.bodyCount)
            writer.write("\r\n")
        }
        writer.write("X-Request-Id: ")
        writer.write(framing.id)
        switch (framing.keepsAlive, framing.version) {
        case (true, .http11): writer.write("\r\n\r\n")
        case (true, .http10): writer.write("\r\nConnection: keep-alive\r\n\r\n")
        case (false, _): writer.write("\r\nConnection: close\r\n\r\n")
        }
    }

    /// Writes the first line, and the name of the `Date` field.
    private static func writeStatusLine(_ status: HTTPStatus, to writer: inout ByteWriter) {
        switch status {
        case .ok: writer.write("HTTP/1.1 200 OK\r\nDate: ")
        case .notModified: writer.write("HTTP/1.1 304 Not Modified\r\nDate: ")
        default:
            writer.write("HTTP/1.1 ")
            writer.write(decimal: status.code)
            writer.write(" ")
            status.withReasonPhrase { writer.write($0) }
            writer.write("\r\nDate: ")
        }
    }

    private static func writeFields(_ headers: HTTPHeaders, to writer: inout ByteWriter) {
        headers.storage.withUnsafeBytes { bytes in
            for field in headers.fields {
                let name = bytes[field.nameStart..<field.nameEnd]
                if isWrittenByServer(name) { continue }
                writer.write(UnsafeRawBufferPointer(rebasing: name))
                writer.write(": ")
                writer.write(UnsafeRawBufferPointer(rebasing: bytes[field.valueStart..<field.valueEnd]))
                writer.write("\r\n")
            }
        }
    }

    /// Encodes fields, without those that the server writes itself.
    static func encode(_ fields: HTTPHeaders) -> [UInt8] {
        let capacity = fields.storage.count + 4 * fields.count
        // Without capacity this would write the count of the empty array, which all threads share.
        guard capacity > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
            var writer = ByteWriter(UnsafeMutableRawBufferPointer(buffer))
            writeFields(fields, to: &writer)
            count = writer.count
        }
    }

    private static func isWrittenByServer(_ name: Slice<UnsafeRawBufferPointer>) -> Bool {
        switch name.count {
        case 4: ASCII.equalIgnoringCase(name, "date".utf8)
        case 10:
            ASCII.equalIgnoringCase(name, "connection".utf8)
                || ASCII.equalIgnoringCase(name, "keep-alive".utf8)
        case 12: ASCII.equalIgnoringCase(name, "x-request-id".utf8)
        case 14: ASCII.equalIgnoringCase(name, "content-length".utf8)
        case 17: ASCII.equalIgnoringCase(name, "transfer-encoding".utf8)
        default: false
        }
    }
}

/// Appends bytes to memory whose size was computed before.
struct ByteWriter {
    private(set) var count = 0
    private let memory: UnsafeMutableRawBufferPointer

    init(_ memory: UnsafeMutableRawBufferPointer) {
        self.memory = memory
    }

    /// What was written.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[..<count]) }

    @inline(__always)
    mutating func write(_ bytes: UnsafeRawBufferPointer) {
        precondition(bytes.count <= memory.count - count, "the computed size was too small")
        guard let source = bytes.baseAddress, let target = memory.baseAddress else { return }
        (target + count).copyMemory(from: source, byteCount: bytes.count)
        count += bytes.count
    }

    mutating func write(_ bytes: UnsafeBufferPointer<UInt8>) {
        write(UnsafeRawBufferPointer(bytes))
    }

    @inline(__always)
    mutating func write(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { write($0) }
    }

    @inline(__always)
    mutating func write(_ text: StaticString) {
        write(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    mutating func write(_ id: RequestID) {
        precondition(id.maximumCount <= memory.count - count, "the computed size was too small")
        guard let target = memory.baseAddress else { return }
        count += id.store(at: target + count)
    }

    @inline(__always)
    mutating func write(_ tag: EntityTag) {
        precondition(EntityTag.storedBytes <= memory.count - count, "the computed size was too small")
        guard let target = memory.baseAddress else { return }
        count += tag.store(at: target + count)
    }

    /// Writes a number, which must not be negative, in decimal digits.
    mutating func write(decimal number: Int) {
        var rest = number.magnitude
        var end = count + 1
        while rest >= 10 {
            rest /= 10
            end += 1
        }
        precondition(end <= memory.count, "the computed size was too small")
        rest = number.magnitude
        var index = end
        while index > count {
            index -= 1
            memory[index] = ASCII.zero + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        count = end
    }
}

/// Makes the value of the `Date` field, once a second (RFC 9110 section 5.6.7).
struct DateHeader {
    private var second = Int.min
    private var text: [UInt8] = []

    /// The current time by the system's clock.
    mutating func now() -> [UInt8] {
        let now = time(nil)
        if now != second {
            second = now
            text = Self.format(secondsSince1970: now)
        }
        return text
    }

    /// Formats a time as an IMF-fixdate: `Sun, 06 Nov 1994 08:49:37 GMT`.
    static func format(secondsSince1970 seconds: Int) -> [UInt8] {
        var seconds = seconds
        var parts = tm()
        gmtime_r(&seconds, &parts)
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        func padded(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let date = "\(padded(parts.tm_mday)) \(months[Int(parts.tm_mon)]) \(parts.tm_year + 1900)"
        let time = "\(padded(parts.tm_hour)):\(padded(parts.tm_min)):\(padded(parts.tm_sec))"
        return Array("\(days[Int(parts.tm_wday)]), \(date) \(time) GMT".utf8)
    }
}

/// A complete body in memory that has room for the response's head in front of it.
///
/// A handler takes memory by `RequestContext.takeResponseMemory`, writes the body from `headroom` on, and gives it back
/// by making this of it. The server writes the head into the room and sends both by one call.
public final class ResponseBody: @unchecked Sendable {
    // @unchecked: raw memory, whose accesses the compiler can't follow. Once it is here, one loop alone uses it: first
    // to read the body, then, when the response is sent, to take the memory back.

    /// Number of bytes in front of the body that belong to the head. A head that is longer is sent from elsewhere.
    public static let headroom = 1024

    private(set) var memory: UnsafeMutableRawBufferPointer
    private var end: Int

    /// Takes over memory that was made by `UnsafeMutableRawBufferPointer.allocate` with an alignment of at most 16.
    ///
    /// - Parameter end: where the body ends; it begins at `headroom`. Traps if that isn't inside the memory.
    public init(adopting memory: UnsafeMutableRawBufferPointer, end: Int) {
        precondition(end >= Self.headroom && end <= memory.count, "a body lies inside its memory")
        self.memory = memory
        self.end = end
    }

    /// The same for a body whose memory was given away.
    fileprivate func adopt(_ memory: UnsafeMutableRawBufferPointer, end: Int) {
        precondition(end >= Self.headroom && end <= memory.count, "a body lies inside its memory")
        self.memory = memory
        self.end = end
    }

    deinit {
        memory.deallocate()
    }

    /// The body's bytes.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[Self.headroom..<end]) }

    /// Places a head right in front of the body; nil if the room doesn't suffice.
    func withHead(_ head: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard head.count <= Self.headroom, let base = memory.baseAddress, let source = head.baseAddress else {
            return nil
        }
        let start = Self.headroom - head.count
        (base + start).copyMemory(from: source, byteCount: head.count)
        return UnsafeRawBufferPointer(start: base + start, count: end - start)
    }

    /// Gives the memory away; the body is empty from then on, and isn't used any more.
    fileprivate func releaseMemory() -> UnsafeMutableRawBufferPointer {
        let released = memory
        memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        return released
    }
}

/// The memory that the responses of one loop are written into, used again and again. Confined to its loop.
final class ResponseMemory {
    /// Memory for the next body; empty while a handler has it.
    private var spare = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    /// The body that had it, to be used again; nil while a handler has it.
    private var spareBody: ResponseBody?
    /// Memory for heads, and for bodies that have no room for one.
    private var scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)

    /// Larger memory isn't kept, so that one large response doesn't fill memory for good.
    private static let maximumKeptBytes = 256 * 1024
    private static let minimumBytes = 16 * 1024

    deinit {
        spare.deallocate()
        scratch.deallocate()
    }

    /// Memory for a body, whose owner the caller becomes.
    func take(atLeast count: Int) -> UnsafeMutableRawBufferPointer {
        guard spare.count >= count, !spare.isEmpty else { return Self.make(atLeast: count) }
        let taken = spare
        spare = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        return taken
    }

    static func make(atLeast count: Int) -> UnsafeMutableRawBufferPointer {
        .allocate(byteCount: max(count, minimumBytes), alignment: 16)
    }

    /// Takes back the memory of a body that was sent, if nobody else has the body.
    func recycle(_ body: consuming ResponseBody) {
        guard isKnownUniquelyReferenced(&body), body.memory.count <= Self.maximumKeptBytes,
            body.memory.count > spare.count
        else { return }
        spare.deallocate()
        spare = body.releaseMemory()
        spareBody = body
    }

    /// Makes a body of memory that it takes over: see `ResponseBody.init`.
    func makeBody(adopting memory: UnsafeMutableRawBufferPointer, end: Int) -> ResponseBody {
        guard let body = spareBody.take() else { return ResponseBody(adopting: memory, end: end) }
        body.adopt(memory, end: end)
        return body
    }

    /// Memory to encode a response into. Valid until the next call.
    func scratch(atLeast count: Int) -> UnsafeMutableRawBufferPointer {
        if scratch.count < count || scratch.count > Self.maximumKeptBytes {
            scratch.deallocate()
            scratch = Self.make(atLeast: count)
        }
        return scratch
    }
}
