/// Passes over the empty lines that some clients send before a request line, a bounded number of them
/// (RFC 9112 section 2.2).
struct EmptyLineGuard {
    private let limit: Int
    private var count = 0
    private var previousIsCR = false

    /// - Parameter limit: how many empty lines may come before one request.
    init(limit: Int) {
        self.limit = limit
    }

    /// Number of bytes at the start that are to be passed over; the request starts behind them, if all that
    /// is left isn't empty.
    mutating func skip(_ bytes: UnsafeRawBufferPointer) throws(HTTPError) -> Int {
        var index = 0
        while index < bytes.count {
            switch (previousIsCR, bytes[index]) {
            case (true, ASCII.lineFeed):
                previousIsCR = false
                count += 1
                guard count <= limit else { throw .malformed("Too many empty lines before a request.") }
            case (true, _):
                throw .malformed("A CR without a LF.")
            case (false, ASCII.carriageReturn):
                previousIsCR = true
            case (false, ASCII.lineFeed):
                throw .malformed("A LF without a CR.")
            case (false, _):
                return index
            }
            index += 1
        }
        return index
    }
}
