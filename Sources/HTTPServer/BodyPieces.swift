/// A body that goes out in pieces of one size, the last of which may be shorter.
struct BodyPieces {
    private var rest: ArraySlice<UInt8>
    private let size: Int

    /// - Parameter size: a size below 1 counts as 1.
    init(_ body: ArraySlice<UInt8>, size: Int) {
        rest = body
        self.size = max(1, size)
    }

    /// Whether there is no piece left.
    var isEmpty: Bool { rest.isEmpty }

    /// Takes the next piece; empty where none is left.
    mutating func next() -> ArraySlice<UInt8> {
        let piece = rest.prefix(size)
        rest = rest.dropFirst(size)
        return piece
    }
}
