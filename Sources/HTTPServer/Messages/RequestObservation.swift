import Bytes
import EventLoop

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// What happened to one request, for logs and metrics.
///
/// Every response of the server makes one, also the responses to requests that can't be read. It holds texts as the
/// bytes that were received; strings are made when they are asked for.
package struct RequestObservation: Sendable {
    package enum Interruption: String, Sendable {
        case timeout
        case disconnected
    }

    package enum Source: String, Sendable {
        case memory
        case database
    }

    package internal(set) var method: HTTPMethod?
    var sentPath: RequestPath?
    package internal(set) var routeTemplate: String?
    /// Whether `path` is `routeTemplate`, since the template has no parameters.
    package internal(set) var isPathOfRoute = false
    /// Nil if the client was gone before there was a response.
    package internal(set) var status: HTTPStatus?
    /// Nil if it was complete, or couldn't be read.
    package var interruption: Interruption?
    /// From the request's last byte until the system has the response.
    package internal(set) var durationNanoseconds: Int64 = 0
    /// Of the monotonic clock; 0 if it isn't known.
    package internal(set) var endNanoseconds: Int64 = 0
    package internal(set) var requestBodyBytes = 0
    /// Head included.
    package internal(set) var responseBytes = 0
    package internal(set) var id: RequestID
    package internal(set) var traceParent: TraceParent?
    /// Nil if its handler needed none.
    package internal(set) var source: Source?
    /// Nil if its handler responded at once.
    package internal(set) var waits: WaitTimes?
    package let remoteAddress: String?
    package var logNotes: [(name: StaticString, value: String)] = []

    init(id: RequestID, remoteAddress: String?) {
        self.id = id
        self.remoteAddress = remoteAddress
    }

    /// Forgets the request, and its id, if that is a part of it.
    mutating func forgetRequest() {
        // Checking for nil costs less than assigning nil.
        if id.bytes != nil { id = .none }
        if sentPath != nil { sentPath = nil }
        if routeTemplate != nil { routeTemplate = nil }
        if !logNotes.isEmpty { logNotes = [] }
        if waits != nil { waits = nil }
        source = nil
        isPathOfRoute = false
        traceParent = nil
        requestBodyBytes = 0
    }
}

extension RequestObservation {
    init(
        method: HTTPMethod?, path: String?, routeTemplate: String?, status: HTTPStatus?,
        interruption: Interruption? = nil, duration: Duration, requestBodyBytes: Int, responseBytes: Int,
        requestID: String, traceParent: TraceParent?, remoteAddress: String?,
        logNotes: [(name: StaticString, value: String)] = [], source: Source? = nil, waits: WaitTimes? = nil
    ) {
        let (seconds, attoseconds) = duration.components
        self.init(id: RequestID(requestID), remoteAddress: remoteAddress)
        self.method = method
        sentPath = path.map { RequestPath(bytes: Array($0.utf8), range: 0..<$0.utf8.count) }
        self.routeTemplate = routeTemplate
        isPathOfRoute = routeTemplate != nil && path == routeTemplate
        self.status = status
        self.interruption = interruption
        durationNanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        self.requestBodyBytes = requestBodyBytes
        self.responseBytes = responseBytes
        self.traceParent = traceParent
        self.logNotes = logNotes
        self.source = source
        self.waits = waits
    }

    /// It holds whatever the client sent, so metrics are labelled with `routeTemplate` instead.
    package var path: String? { sentPath?.text }

    /// From the request's last byte until the system has the response.
    package var duration: Duration { .nanoseconds(durationNanoseconds) }

    package var requestID: String { id.description }
}

/// A request's id: the client's, or 15 letters and digits, of which a string is made only when it is asked for.
package struct RequestID: Sendable, CustomStringConvertible {
    /// The bytes of a new id, the first one lowest; of a client's id, where it begins in `bytes` and its length.
    private let low: UInt64
    private let high: UInt64
    /// Has the client's id, and what it was received with; nil for a new one.
    fileprivate let bytes: [UInt8]?

    private static let newLength = 15
    private static let alphabet: StaticString = "0123456789abcdefghjkmnpqrstvwxyz"

    package init(_ text: String) {
        self.init(in: Array(text.utf8), at: 0..<text.utf8.count)
    }

    fileprivate init(in bytes: [UInt8], at range: Range<Int>) {
        (low, high) = (UInt64(range.lowerBound), UInt64(range.count))
        self.bytes = bytes
    }

    private init() {
        (low, high, bytes) = (0, 0, nil)
    }

    fileprivate static var none: RequestID { RequestID() }

    /// A new id of 75 random bits: 40 of the first number, 35 of the second.
    init(randomBits first: UInt64, _ second: UInt64) {
        low = Self.letters(first, count: 8)
        high = Self.letters(second, count: 7)
        bytes = nil
    }

    @inline(__always)
    private static func letters(_ bits: UInt64, count: Int) -> UInt64 {
        var letters: UInt64 = 0
        for index in 0..<count {
            let digit = Int(truncatingIfNeeded: bits &>> UInt64(5 &* index) & 31)
            letters |= UInt64(alphabet.utf8Start[digit]) &<< UInt64(8 &* index)
        }
        return letters
    }

    package var description: String {
        var text = ByteBuffer(capacity: 16)
        append(to: &text)
        return text.text
    }

    package func append(to buffer: inout ByteBuffer) {
        guard let bytes else { return buffer.append(low: low, high: high, count: Self.newLength) }
        buffer.append(bytes[Int(low)..<Int(low + high)])
    }
}

/// Chooses the ids of requests: the client's `X-Request-Id` if it is acceptable, otherwise a new one.
struct RequestIDs {
    private static let maximumAcceptedLength = 128

    /// Random numbers of the system, which are used up in order. A generator that can be computed would tell whoever has two ids
    /// how many others were made between them.
    private var bits = [UInt64](repeating: 0, count: 32)
    private var next = 32

    mutating func id(for headers: HTTPHeaders) -> RequestID {
        guard headers.has(.requestID),
            let field = headers.fields.first(where: { $0.known == .requestID })
        else { return nextID() }
        let range = field.valueStart..<field.valueEnd
        return Self.isAcceptable(headers.storage, range)
            ? RequestID(in: headers.storage, at: range) : nextID()
    }

    /// Nil if a client's id isn't acceptable.
    static func accepted(_ value: some Collection<UInt8>) -> RequestID? {
        let value = Array(value)
        return isAcceptable(value, 0..<value.count) ? RequestID(in: value, at: 0..<value.count) : nil
    }

    mutating func nextID() -> RequestID {
        RequestID(randomBits: randomBits(), randomBits())
    }

    /// Letters, digits, dot, underscore and hyphen, at most 128: nothing that could disturb a log line.
    private static func isAcceptable(_ bytes: [UInt8], _ range: Range<Int>) -> Bool {
        !range.isEmpty && range.count <= maximumAcceptedLength && ASCII.isWord(range, of: bytes)
    }

    private mutating func randomBits() -> UInt64 {
        if next == bits.count {
            // The most that one call gives (getentropy(3)).
            let isFilled = getentropy(&bits, bits.count * MemoryLayout<UInt64>.size) == 0
            if !isFilled { for index in bits.indices { bits[index] = .random(in: .min ... .max) } }
            next = 0
        }
        next += 1
        return bits[next - 1]
    }
}
