#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A null-terminated array of C strings, freed with the object.
final class CStringArray {
    private let strings: [UnsafeMutablePointer<CChar>?]
    private let array: UnsafeMutableBufferPointer<UnsafePointer<CChar>?>

    init(_ strings: [String]) {
        self.strings = strings.map { strdup($0) }
        array = .allocate(capacity: strings.count + 1)
        _ = array.initialize(from: self.strings.map { UnsafePointer($0) } + [nil])
    }

    deinit {
        for string in strings { free(string) }
        array.deallocate()
    }

    /// Valid as long as the object lives.
    var pointer: UnsafePointer<UnsafePointer<CChar>?>? { UnsafePointer(array.baseAddress) }
}
