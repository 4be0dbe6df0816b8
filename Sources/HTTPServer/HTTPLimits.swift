/// How much of a request the server takes; what is beyond is answered with an error and a close.
public struct HTTPLimits: Sendable {
    /// Longest request line in bytes, its CRLF not counted; beyond it 414.
    public var requestLineBytes: Int
    /// Largest header block in bytes, request line not counted, line ends counted; beyond it 431. The
    /// trailers of a chunked body have a block of the same size.
    public var headerBlockBytes: Int
    /// Largest body in bytes, chunk framing not counted; beyond it 413.
    public var bodyBytes: Int
    /// Longest line that opens a chunk, with its extensions, in bytes; beyond it 400.
    public var chunkLineBytes: Int
    /// Most bytes that all chunk extensions of one request may have together; beyond it 400.
    public var chunkExtensionBytes: Int
    /// Most empty lines that are passed over before a request line (RFC 9112 section 2.2); beyond it 400.
    public var leadingEmptyLines: Int
    /// Bytes that may wait behind a request in flight before the server stops reading from the socket.
    public var pipelineBytes: Int
    /// Bytes that are read and thrown away between the last answer and the close.
    public var lingerBytes: Int

    /// The limits of the contract, each of which can be set.
    public init(
        requestLineBytes: Int = 8 * 1024, headerBlockBytes: Int = 16 * 1024, bodyBytes: Int = 1024 * 1024,
        chunkLineBytes: Int = 256, chunkExtensionBytes: Int = 4 * 1024, leadingEmptyLines: Int = 4,
        pipelineBytes: Int = 64 * 1024, lingerBytes: Int = 8 * 1024 * 1024
    ) {
        self.requestLineBytes = requestLineBytes
        self.headerBlockBytes = headerBlockBytes
        self.bodyBytes = bodyBytes
        self.chunkLineBytes = chunkLineBytes
        self.chunkExtensionBytes = chunkExtensionBytes
        self.leadingEmptyLines = leadingEmptyLines
        self.pipelineBytes = pipelineBytes
        self.lingerBytes = lingerBytes
    }
}
