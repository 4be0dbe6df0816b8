#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Encodes a response, head and body, into one array of bytes for one write.
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

    /// Encodes a response into one array.
    ///
    /// - Parameters:
    ///   - date: the value of the `Date` field.
    ///   - commonFields: encoded fields that every response has.
    static func encode(
        _ response: HTTPResponse, _ framing: Framing, date: [UInt8], commonFields: [UInt8] = []
    ) -> [UInt8] {
        let memory = ResponseMemory()
        return withEncoded(response, framing, date: date, commonFields: commonFields, memory) { Array($0) }
    }

    /// Encodes a response in place, where its body has room for the head, or else into `memory`, and calls `body` with
    /// its bytes.
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
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var rest = number.magnitude
            var index = digits.count
            repeat {
                index -= 1
                digits[index] = ASCII.zero + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
            write(UnsafeBufferPointer(rebasing: digits[index...]))
        }
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
