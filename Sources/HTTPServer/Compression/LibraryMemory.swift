import EventLoop

/// A structure of a C library, from zeros on. It never moves: the library keeps pointers to it.
final class LibraryState<Value> {
    let pointer = UnsafeMutablePointer<Value>.allocateZeroed()

    deinit {
        pointer.deallocate()
    }
}

/// Where bytes begin, as these libraries' types have it.
typealias LibraryBytes = UnsafeMutablePointer<UInt8>?

extension [UInt8] {
    /// Calls a closure with the start of the bytes, which the library doesn't write to: only its types say so.
    func withInput<Result>(_ body: (LibraryBytes) -> Result) -> Result {
        withUnsafeBufferPointer { body(UnsafeMutablePointer(mutating: $0.baseAddress)) }
    }

    /// Calls a closure with the start of the bytes, which the library overwrites.
    mutating func withOutput<Result>(_ body: (LibraryBytes) -> Result) -> Result {
        withUnsafeMutableBufferPointer { body($0.baseAddress) }
    }

    /// The bytes that `compress` makes of these; nil where it fails, or there may be more than one call can write.
    ///
    /// - Parameter compress: gets the input, and room for so many bytes; returns how many it left, nil where it failed.
    func compressed(
        atMost bound: Int, _ compress: (_ input: LibraryBytes, _ output: LibraryBytes, UInt32) -> UInt32?
    ) -> [UInt8]? {
        guard let room = UInt32(exactly: bound) else { return nil }
        var rest: UInt32?
        let encoded = [UInt8](unsafeUninitializedCapacity: bound) { output, count in
            rest = withInput { compress($0, output.baseAddress, room) }
            count = Int(room - (rest ?? room))
        }
        return rest == nil ? nil : encoded
    }
}
