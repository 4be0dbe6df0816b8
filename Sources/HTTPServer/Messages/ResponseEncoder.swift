import Bytes
import Locking

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

enum ResponseEncoder {
    struct Framing {
        var isHead = false
        var keepsAlive: Bool
        /// With HTTP/1.0 a kept connection has to be announced, with HTTP/1.1 one that is closed.
        var version: HTTPVersion
        var id: RequestID

        func bodyBytes(of response: HTTPResponse) -> Int {
            isHead || response.status.forbidsBody ? 0 : response.bodyCount
        }
    }

    static let continueResponse: [UInt8] = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)

    /// An interim response without information, which clients ignore (RFC 2518 section 10.1).
    static let processingResponse: [UInt8] = Array("HTTP/1.1 102 Processing\r\n\r\n".utf8)

    /// Encodes a response in place, where its body has room for the head, or else into `memory`.
    @inline(__always)
    static func withEncoded<Result>(
        _ response: HTTPResponse, _ framing: Framing, date: [UInt8],
        commonFields: [UInt8], _ memory: ResponseMemory, _ body: (RawSpan) -> Result
    ) -> Result {
        memory.prepareScratch()
        writeHead(response, framing, date: date, commonFields: commonFields, to: &memory.scratch.value)
        let sendsBody = !framing.isHead && !response.status.forbidsBody
        switch response.content {
        case .memory(let content) where sendsBody:
            if let whole = content.withHead(memory.scratch.value.unsafeBytes) { return body(whole.bytes) }
            memory.scratch.value.append(content.bytes)
        case .array(let content) where sendsBody: memory.scratch.value.append(content)
        case .written(let content) where sendsBody: memory.scratch.value.append(content.bytes)
        case .memory, .array, .written: break
        }
        return body(memory.scratch.value.unsafeBytes.bytes)
    }

    private static func writeHead(
        _ response: HTTPResponse, _ framing: Framing, date: [UInt8],
        commonFields: [UInt8], to writer: inout ByteBuffer
    ) {
        writeStatusLine(response.status, to: &writer)
        writer.append(date)
        writer.append("\r\n")
        if let lines = response.preparedFields?.lines { writer.append(lines) }
        if let tag = response.entityTag {
            writer.append("ETag: ")
            tag.append(to: &writer)
            writer.append("\r\n")
        }
        if let link = response.link {
            writer.append("Link: ")
            writer.append(link)
            writer.append("\r\n")
        }
        if let fields = response.otherFields { writeFields(fields, to: &writer) }
        writer.append(commonFields)
        if !response.status.forbidsBody, !framing.isHead || response.tellsLengthToHead {
            writer.append("Content-Length: ")
            writer.appendDecimal(response.bodyCount)
            writer.append("\r\n")
        }
        writer.append("X-Request-Id: ")
        framing.id.append(to: &writer)
        switch (framing.keepsAlive, framing.version) {
        case (true, .http11): writer.append("\r\n\r\n")
        case (true, .http10): writer.append("\r\nConnection: keep-alive\r\n\r\n")
        case (false, _): writer.append("\r\nConnection: close\r\n\r\n")
        }
    }

    /// Writes the first line, and the name of the `Date` field.
    private static func writeStatusLine(_ status: HTTPStatus, to writer: inout ByteBuffer) {
        switch status {
        case .ok: writer.append("HTTP/1.1 200 OK\r\nDate: ")
        case .notModified: writer.append("HTTP/1.1 304 Not Modified\r\nDate: ")
        default:
            writer.append("HTTP/1.1 ")
            writer.appendDecimal(status.code)
            writer.append(" ")
            writer.append(utf8: status.reasonPhrase)
            writer.append("\r\nDate: ")
        }
    }

    private static func writeFields(_ headers: HTTPHeaders, to writer: inout ByteBuffer) {
        headers.storage.withUnsafeBytes { bytes in
            for field in headers.fields {
                let name = bytes[field.name]
                if isWrittenByServer(name) { continue }
                writer.append(UnsafeRawBufferPointer(rebasing: name))
                writer.append(": ")
                writer.append(UnsafeRawBufferPointer(rebasing: bytes[field.value]))
                writer.append("\r\n")
            }
        }
    }

    static func encode(_ fields: HTTPHeaders) -> [UInt8] {
        var writer = ByteBuffer()
        writeFields(fields, to: &writer)
        return writer.bytes
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

/// Makes the value of the `Date` field, once a second (RFC 9110 section 5.6.7).
struct DateHeader {
    private var second = Int.min
    private var text: [UInt8] = []

    mutating func now() -> [UInt8] {
        let now = time(nil)
        if now != second {
            second = now
            text = Self.format(secondsSince1970: now)
        }
        return text
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT`.
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

/// A body in memory that has room for the response's head in front of it.
///
/// A handler takes a buffer by `RequestContext.takeResponseBuffer`, appends the body, and gives it back by making this of
/// it. The server writes the head into the room and sends both by one call.
package final class ResponseBody: @unchecked Sendable {
    // @unchecked: raw memory, whose accesses the compiler can't follow. Once it is here, one loop alone uses it: first
    // to read the body, then, when the response is sent, to take the memory back.

    /// Number of bytes in front of the body that belong to the head. A head that is longer is sent from elsewhere.
    package static let headroom = 1024

    private(set) var memory: UnsafeMutableRawBufferPointer
    private var end: Int

    /// Takes over memory that was made by `UnsafeMutableRawBufferPointer.allocate` with an alignment of at most 16.
    ///
    /// - Parameter end: where the body ends; it begins at `headroom`. Traps if that isn't inside the memory.
    package init(adopting memory: UnsafeMutableRawBufferPointer, end: Int) {
        precondition(end >= Self.headroom && end <= memory.count, "a body lies inside its memory")
        self.memory = memory
        self.end = end
    }

    fileprivate func adopt(_ memory: UnsafeMutableRawBufferPointer, end: Int) {
        precondition(end >= Self.headroom && end <= memory.count, "a body lies inside its memory")
        self.memory = memory
        self.end = end
    }

    deinit {
        memory.deallocate()
    }

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
    fileprivate let scratch = Confined(ByteBuffer(capacity: 4096))

    /// Larger memory isn't kept, so that one large response doesn't fill memory for good.
    private static let maximumKeptBytes = 256 * 1024
    private static let minimumBytes = 16 * 1024

    deinit {
        spare.deallocate()
    }

    /// The caller becomes the owner.
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

    /// See `ResponseBody.init`.
    func makeBody(adopting memory: UnsafeMutableRawBufferPointer, end: Int) -> ResponseBody {
        guard let body = spareBody.take() else { return ResponseBody(adopting: memory, end: end) }
        body.adopt(memory, end: end)
        return body
    }

    fileprivate func prepareScratch() {
        if scratch.value.capacity > Self.maximumKeptBytes { scratch.value = ByteBuffer(capacity: 4096) }
        scratch.value.removeAll()
    }
}
