/// The ranges of a request target's parts (RFC 9112 section 3.2).
struct RequestTarget: Equatable, Sendable {
    // Small, since requests are passed on with it.
    private let start: UInt32
    private let pathStart: UInt32
    /// Where the path ends, at the `?` of a query or at the end.
    private let pathEnd: UInt32
    private let end: UInt32

    var whole: Range<Int> { Int(start)..<Int(end) }
    /// Empty for an absolute target that has only a host.
    var path: Range<Int> { Int(pathStart)..<Int(pathEnd) }
    var query: Range<Int>? { pathEnd == end ? nil : Int(pathEnd) + 1..<Int(end) }

    /// Makes a target that is a path, with a query unless it ends with the path.
    init(path: Range<Int>, end: Int) {
        self.init(start: path.lowerBound, path: path, end: end)
    }

    private init(start: Int, path: Range<Int>, end: Int) {
        self.start = UInt32(start)
        pathStart = UInt32(path.lowerBound)
        pathEnd = UInt32(path.upperBound)
        self.end = UInt32(end)
    }

    /// Throws 400 unless it is a path, an absolute `http` or `https` URI, or `*` with `OPTIONS`.
    init(_ bytes: [UInt8], method: HTTPMethod) throws(HTTPError) {
        for byte in bytes where byte <= ASCII.space || byte >= ASCII.delete {
            throw .malformed("A byte in the request target that must be percent-encoded.")
        }
        try self.init(checked: bytes, 0..<bytes.count, method: method)
    }

    /// The same for a part of `bytes`, which a guard has checked.
    init(checked bytes: [UInt8], _ whole: Range<Int>, method: HTTPMethod) throws(HTTPError) {
        let target = bytes.withUnsafeBytes { bytes in
            Result { () throws(HTTPError) in try RequestTarget(checked: bytes, whole, method: method) }
        }
        self = try target.get()
    }

    private init(
        checked bytes: UnsafeRawBufferPointer, _ whole: Range<Int>, method: HTTPMethod
    ) throws(HTTPError) {
        guard !whole.isEmpty else { throw .malformed("An empty request target.") }
        let first = bytes[whole.lowerBound]
        var start = whole.lowerBound
        if first != ASCII.slash, !(first == ASCII.asterisk && whole.count == 1 && method == .options) {
            start = try Self.authority(of: bytes, whole).upperBound
        }
        var queryMark: Int?
        var index = start
        while index < whole.upperBound {
            if whole.upperBound - index >= 8 {
                let marks = EightBytes(bytes, at: index).marksOfParts
                index &+= marks == 0 ? 8 : EightBytes.countBefore(marks)
                if marks == 0 { continue }
            }
            if bytes[index] == ASCII.questionMark, queryMark == nil { queryMark = index }
            if bytes[index] == ASCII.numberSign { throw .malformed("A fragment in the request target.") }
            index &+= 1
        }
        self.init(
            start: whole.lowerBound, path: start..<(queryMark ?? whole.upperBound), end: whole.upperBound)
    }

    private static func authority(
        of bytes: UnsafeRawBufferPointer, _ whole: Range<Int>
    ) throws(HTTPError) -> Range<Int> {
        for scheme in ["http://", "https://"] {
            let end = whole.lowerBound + scheme.utf8.count
            guard end <= whole.upperBound,
                ASCII.equalIgnoringCase(bytes[whole.lowerBound..<end], scheme.utf8)
            else { continue }
            let authorityEnd = (end..<whole.upperBound).first {
                bytes[$0] == ASCII.slash || bytes[$0] == ASCII.questionMark || bytes[$0] == ASCII.numberSign
            }
            let authority = end..<(authorityEnd ?? whole.upperBound)
            guard HostValidation.isValid(bytes[authority]) else {
                throw .malformed("An invalid host in the request target.")
            }
            return authority
        }
        throw .malformed("A request target that is neither a path nor an http URI.")
    }
}

extension EightBytes {
    @inline(__always)
    fileprivate var marksOfParts: UInt64 { equal(to: ASCII.questionMark) | equal(to: ASCII.numberSign) }
}
