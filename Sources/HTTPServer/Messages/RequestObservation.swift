import EventLoop

/// What happened to one request, for logs and metrics.
///
/// Every response of the server makes one, also the responses to requests that can't be read. It holds texts as the
/// bytes that were received; strings are made when they are asked for.
public struct RequestObservation: Sendable {
    /// Why a request was never complete.
    public enum Interruption: String, Sendable {
        /// It took too long: 408.
        case timeout
        /// The connection ended inside it.
        case disconnected
    }

    /// Where a handler looked for the data of a response.
    public enum Source: String, Sendable {
        /// In what the process has in memory.
        case memory
        /// In a database.
        case database
    }

    /// The method; nil if no request could be read.
    public internal(set) var method: HTTPMethod?
    var sentPath: RequestPath?
    /// The template of the request's route; nil if it has none.
    public internal(set) var routeTemplate: String?
    /// Whether `path` is `routeTemplate`, since the template has no parameters.
    public internal(set) var isPathOfRoute = false
    /// The response's status; nil if the client was gone before there was a response.
    public internal(set) var status: HTTPStatus?
    /// Why the request was never complete; nil if it was, or if it couldn't be read.
    public var interruption: Interruption?
    /// From the request's last byte until the system has the response.
    public internal(set) var durationNanoseconds: Int64 = 0
    /// When that was, in nanoseconds of the monotonic clock; 0 if it isn't known.
    public internal(set) var endNanoseconds: Int64 = 0
    /// Length of the request's body in bytes.
    public internal(set) var requestBodyBytes = 0
    /// Length of the response in bytes, head included.
    public internal(set) var responseBytes = 0
    /// The request's id.
    public internal(set) var id: RequestID
    /// The trace that the request is part of.
    public internal(set) var traceParent: TraceParent?
    /// Where its handler looked for data; nil if it needed none.
    public internal(set) var source: Source?
    /// What its handler waited for; nil if it responded at once.
    public internal(set) var waits: WaitTimes?
    /// The peer's numeric address.
    public let remoteAddress: String?
    /// Notes of the handler.
    public var logNotes: [(name: StaticString, value: String)] = []

    /// Makes an observation that has only an id and an address so far.
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
    /// Makes an observation from texts, for tests.
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

    /// The path as it was sent, without the query; nil if no request could be read. It holds whatever the client
    /// sent, so metrics are labelled with `routeTemplate` instead.
    public var path: String? { sentPath?.text }

    /// Number of bytes of `path`; nil if there is none.
    public var pathByteCount: Int? { sentPath.map { max(1, $0.range.count) } }

    /// Copies the bytes of `path`, without making a string.
    ///
    /// - Parameter memory: has room for `pathByteCount` bytes.
    public func storePath(at memory: UnsafeMutableRawPointer) {
        guard let sentPath else { return }
        guard !sentPath.range.isEmpty else { return memory.storeBytes(of: ASCII.slash, as: UInt8.self) }
        sentPath.bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            memory.copyMemory(from: start + sentPath.range.lowerBound, byteCount: sentPath.range.count)
        }
    }

    /// From the request's last byte until the system has the response.
    public var duration: Duration { .nanoseconds(durationNanoseconds) }

    /// The request's id.
    public var requestID: String { id.description }
}

/// A request's id: the client's, or 15 letters and digits, of which a string is made only when it is asked for.
public struct RequestID: Sendable, CustomStringConvertible {
    /// The bytes of a new id, the first one lowest; of a client's id, where it begins in `bytes` and its length.
    private let low: UInt64
    private let high: UInt64
    /// Has the client's id, and what it was received with; nil for a new one.
    fileprivate let bytes: [UInt8]?

    private static let newLength = 15
    private static let alphabet: StaticString = "0123456789abcdefghjkmnpqrstvwxyz"

    /// An id that the client chose.
    public init(_ text: String) {
        self.init(in: Array(text.utf8), at: 0..<text.utf8.count)
    }

    /// An id that the client chose, as a part of what was received.
    fileprivate init(in bytes: [UInt8], at range: Range<Int>) {
        (low, high) = (UInt64(range.lowerBound), UInt64(range.count))
        self.bytes = bytes
    }

    private init() {
        (low, high, bytes) = (0, 0, nil)
    }

    /// The id of a request that was forgotten.
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

    /// The id.
    public var description: String {
        String(
            decoding: [UInt8](unsafeUninitializedCapacity: maximumCount) { buffer, count in
                guard let start = buffer.baseAddress else { return }
                count = store(at: UnsafeMutableRawPointer(start))
            }, as: UTF8.self)
    }

    /// Number of bytes that `store` may write.
    public var maximumCount: Int { bytes == nil ? 16 : max(16, Int(high)) }

    /// Stores the id's bytes, without making a string; returns how many these are.
    public func store(at memory: UnsafeMutableRawPointer) -> Int {
        if let bytes {
            let text = Int(low)..<Int(low + high)
            bytes.withUnsafeBytes { bytes in
                guard let source = UnsafeRawBufferPointer(rebasing: bytes[text]).baseAddress else { return }
                memory.copyMemory(from: source, byteCount: text.count)
            }
            return text.count
        }
        memory.storeBytes(of: low.littleEndian, as: UInt64.self)
        memory.storeBytes(of: high.littleEndian, toByteOffset: 8, as: UInt64.self)
        return Self.newLength
    }
}

/// Chooses the ids of requests: the client's `X-Request-Id` if it is acceptable, otherwise a new one.
struct RequestIDs {
    private static let maximumAcceptedLength = 128

    /// State of a SplitMix64 generator: ids have to differ, they don't have to be secret.
    private var state = UInt64.random(in: .min ... .max)

    /// The id for a request with these fields.
    mutating func id(for headers: HTTPHeaders) -> RequestID {
        guard headers.has(.requestID),
            let field = headers.fields.first(where: { $0.known == .requestID })
        else { return nextID() }
        let range = field.valueStart..<field.valueEnd
        let isAcceptable = headers.storage.withUnsafeBytes { bytes in
            Self.isAcceptable(UnsafeRawBufferPointer(rebasing: bytes[range]))
        }
        return isAcceptable ? RequestID(in: headers.storage, at: range) : nextID()
    }

    /// The id that a client's field gives; nil if it isn't acceptable.
    static func accepted(_ value: Slice<UnsafeRawBufferPointer>) -> RequestID? {
        let value = Array(value)
        guard value.withUnsafeBytes({ isAcceptable($0) }) else { return nil }
        return RequestID(in: value, at: 0..<value.count)
    }

    /// A new id: 75 random bits in 15 letters and digits.
    mutating func nextID() -> RequestID {
        RequestID(randomBits: randomBits(), randomBits())
    }

    /// A new id, as a string.
    mutating func next() -> String { nextID().description }

    /// Letters, digits, dot, underscore and hyphen, at most 128: nothing that could disturb a log line.
    private static func isAcceptable(_ value: UnsafeRawBufferPointer) -> Bool {
        !value.isEmpty && value.count <= maximumAcceptedLength
            && ASCII.endOfWord(in: value, from: 0) == value.count
    }

    private mutating func randomBits() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }
}

/// The `traceparent` field, which says which trace a request is part of (W3C Trace Context, section 3.2).
public struct TraceParent: Hashable, Sendable {
    /// The digits of the trace's id, in their order.
    private let digits: (EightBytes, EightBytes, EightBytes, EightBytes)

    /// Length of a trace's id, in bytes.
    public static let traceIDLength = 32

    /// Reads a field's value; nil if it isn't valid. Of versions after 00 only the parts of version 00 are read, as
    /// the recommendation demands.
    public init?(_ value: String) {
        var value = value
        let parsed = value.withUTF8 { Self(UnsafeRawBufferPointer($0)) }
        guard let parsed else { return nil }
        self = parsed
    }

    init?(_ bytes: UnsafeRawBufferPointer) {
        // Two digits of the version, 32 of the trace, 16 of its parent and two of flags, with hyphens between.
        guard bytes.count >= 55, let version = Self.byte(bytes, at: 0), version != 0xFF,
            bytes.count == 55 || version != 0 && bytes[55] == ASCII.hyphen,
            bytes[2] == ASCII.hyphen, bytes[35] == ASCII.hyphen, bytes[52] == ASCII.hyphen,
            Self.byte(bytes, at: 53) != nil
        else { return nil }
        let parent = (EightBytes(bytes, at: 36), EightBytes(bytes, at: 44))
        digits = (
            EightBytes(bytes, at: 3), EightBytes(bytes, at: 11), EightBytes(bytes, at: 19),
            EightBytes(bytes, at: 27)
        )
        guard digits.0.areLowercaseHex, digits.1.areLowercaseHex, digits.2.areLowercaseHex,
            digits.3.areLowercaseHex,
            parent.0.areLowercaseHex, parent.1.areLowercaseHex, !(parent.0.areZeros && parent.1.areZeros),
            !(digits.0.areZeros && digits.1.areZeros && digits.2.areZeros && digits.3.areZeros)
        else { return nil }
    }

    /// The trace's id: 32 lower-case hexadecimal digits, not all zero.
    public var traceID: String {
        String(unsafeUninitializedCapacity: Self.traceIDLength) { buffer in
            guard let start = buffer.baseAddress else { return 0 }
            store(at: UnsafeMutableRawPointer(start))
            return Self.traceIDLength
        }
    }

    /// Stores the trace's id, without making a string.
    public func store(at memory: UnsafeMutableRawPointer) {
        digits.0.store(at: memory)
        digits.1.store(at: memory + 8)
        digits.2.store(at: memory + 16)
        digits.3.store(at: memory + 24)
    }

    /// The byte that two lower-case hexadecimal digits stand for.
    private static func byte(_ bytes: UnsafeRawBufferPointer, at index: Int) -> UInt8? {
        guard let high = ASCII.hexValue(bytes[index]), let low = ASCII.hexValue(bytes[index + 1]),
            ASCII.lowercased(bytes[index]) == bytes[index],
            ASCII.lowercased(bytes[index + 1]) == bytes[index + 1]
        else { return nil }
        return high << 4 | low
    }

    /// Whether two requests are part of the same trace.
    public static func == (left: TraceParent, right: TraceParent) -> Bool { left.digits == right.digits }

    /// Hashes the trace's id.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(digits.0)
        hasher.combine(digits.1)
        hasher.combine(digits.2)
        hasher.combine(digits.3)
    }
}
