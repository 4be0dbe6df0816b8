/// A request method: a case-sensitive token of at most 32 bytes (RFC 9110 section 9.1).
///
/// The token lies in the value itself, so that methods are copied and compared without strings and references.
public struct HTTPMethod: Hashable, Sendable, CustomStringConvertible {
    /// The token's bytes, the first one lowest in the first word, with zeros behind them.
    private let first: UInt64
    private let second: UInt64
    private let third: UInt64
    private let fourth: UInt64

    /// Longer methods are refused as unknown. The longest method that IANA has registered has 17 bytes.
    static let maximumBytes = 32

    /// A method from its token; nil if the text isn't a token, or too long.
    public init?(_ token: String) {
        var token = token
        let method = token.withUTF8 { bytes -> HTTPMethod? in
            guard !bytes.isEmpty, bytes.count <= Self.maximumBytes, bytes.allSatisfy(ASCII.isToken) else {
                return nil
            }
            return HTTPMethod(tokenBytes: UnsafeRawBufferPointer(bytes))
        }
        guard let method else { return nil }
        self = method
    }

    /// A method from at most 32 bytes that are known to be a token; what is beyond them is ignored.
    init(tokenBytes: UnsafeRawBufferPointer) {
        first = Self.word(0, of: tokenBytes)
        guard tokenBytes.count > 8 else {
            (second, third, fourth) = (0, 0, 0)
            return
        }
        second = Self.word(1, of: tokenBytes)
        third = Self.word(2, of: tokenBytes)
        fourth = Self.word(3, of: tokenBytes)
    }

    @inline(__always)
    private static func word(_ number: Int, of bytes: UnsafeRawBufferPointer) -> UInt64 {
        var word: UInt64 = 0
        var index = 8 * number
        var shift: UInt64 = 0
        while index < bytes.count, shift < 64 {
            word |= UInt64(bytes[index]) &<< shift
            index &+= 1
            shift &+= 8
        }
        return word
    }

    /// A method of at most eight letters.
    @inline(__always)
    private init(_ token: StaticString) {
        var word: UInt64 = 0
        for index in 0..<token.utf8CodeUnitCount {
            word |= UInt64(token.utf8Start[index]) &<< UInt64(8 * index)
        }
        first = word
        (second, third, fourth) = (0, 0, 0)
    }

    /// The token, for example `GET`.
    public var rawValue: String {
        let bytes = [first, second, third, fourth].flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word &>> UInt64(8 * $0)) }
        }
        return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }

    /// The token.
    public var description: String { rawValue }

    /// The token, without making a string; nil for a method that RFC 9110 and RFC 5789 don't define.
    public var knownToken: StaticString? {
        switch self {
        case .get: "GET"
        case .head: "HEAD"
        case .post: "POST"
        case .put: "PUT"
        case .patch: "PATCH"
        case .delete: "DELETE"
        case .options: "OPTIONS"
        case .connect: "CONNECT"
        case .trace: "TRACE"
        default: nil
        }
    }

    /// Gets a representation.
    public static var get: HTTPMethod { HTTPMethod("GET" as StaticString) }
    /// Gets the head of the response that `get` would get.
    public static var head: HTTPMethod { HTTPMethod("HEAD" as StaticString) }
    /// Sends the resource something to process.
    public static var post: HTTPMethod { HTTPMethod("POST" as StaticString) }
    /// Replaces the resource.
    public static var put: HTTPMethod { HTTPMethod("PUT" as StaticString) }
    /// Changes part of the resource (RFC 5789).
    public static var patch: HTTPMethod { HTTPMethod("PATCH" as StaticString) }
    /// Removes the resource.
    public static var delete: HTTPMethod { HTTPMethod("DELETE" as StaticString) }
    /// Gets the methods that the resource allows.
    public static var options: HTTPMethod { HTTPMethod("OPTIONS" as StaticString) }
    /// Opens a tunnel; this server never does.
    public static var connect: HTTPMethod { HTTPMethod("CONNECT" as StaticString) }
    /// Gets the request back.
    public static var trace: HTTPMethod { HTTPMethod("TRACE" as StaticString) }
}
