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
        var requestID: String

        /// Number of bytes of the response's body that are sent.
        func bodyBytes(of response: HTTPResponse) -> Int {
            isHead || response.status.forbidsBody ? 0 : response.body.count
        }
    }

    static let continueResponse: [UInt8] = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)

    /// An interim response without information, which clients ignore (RFC 2518 section 10.1).
    static let processingResponse: [UInt8] = Array("HTTP/1.1 102 Processing\r\n\r\n".utf8)

    /// Maximum bytes of a head's fixed text and numbers.
    private static let headAllowance = 256

    /// Encodes a response.
    ///
    /// - Parameters:
    ///   - date: the value of the `Date` field.
    ///   - commonFields: encoded fields that every response has.
    static func encode(
        _ response: HTTPResponse, _ framing: Framing, date: [UInt8], commonFields: [UInt8] = []
    ) -> [UInt8] {
        let bodyBytes = framing.bodyBytes(of: response)
        let fields = response.headers
        let capacity =
            headAllowance + date.count + framing.requestID.utf8.count + fields.storage.count
            + 4 * fields.count + commonFields.count + bodyBytes
        return [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
            var writer = ByteWriter(buffer)
            writeHead(response, framing, date: date, commonFields: commonFields, to: &writer)
            if bodyBytes > 0 { writer.write(response.body) }
            count = writer.count
        }
    }

    private static func writeHead(
        _ response: HTTPResponse, _ framing: Framing, date: [UInt8], commonFields: [UInt8],
        to writer: inout ByteWriter
    ) {
        writer.write("HTTP/1.1 ")
        writer.write(decimal: response.status.code)
        writer.write(" ")
        response.status.withReasonPhrase { writer.write($0) }
        writer.write("\r\nDate: ")
        writer.write(date)
        writer.write("\r\n")
        writeFields(response.headers, to: &writer)
        writer.write(commonFields)
        if !response.status.forbidsBody, !framing.isHead || response.tellsLengthToHead {
            writer.write("Content-Length: ")
            writer.write(decimal: response.body.count)
            writer.write("\r\n")
        }
        writer.write("X-Request-Id: ")
        writer.write(framing.requestID)
        switch (framing.keepsAlive, framing.version) {
        case (true, .http11): writer.write("\r\n\r\n")
        case (true, .http10): writer.write("\r\nConnection: keep-alive\r\n\r\n")
        case (false, _): writer.write("\r\nConnection: close\r\n\r\n")
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
            var writer = ByteWriter(buffer)
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

    init(_ memory: UnsafeMutableBufferPointer<UInt8>) {
        self.memory = UnsafeMutableRawBufferPointer(memory)
    }

    mutating func write(_ bytes: UnsafeRawBufferPointer) {
        precondition(bytes.count <= memory.count - count, "the computed size was too small")
        guard let source = bytes.baseAddress, let target = memory.baseAddress else { return }
        (target + count).copyMemory(from: source, byteCount: bytes.count)
        count += bytes.count
    }

    mutating func write(_ bytes: UnsafeBufferPointer<UInt8>) {
        write(UnsafeRawBufferPointer(bytes))
    }

    mutating func write(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { write($0) }
    }

    mutating func write(_ text: StaticString) {
        text.withUTF8Buffer { write($0) }
    }

    mutating func write(_ text: String) {
        var text = text
        text.withUTF8 { write($0) }
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
