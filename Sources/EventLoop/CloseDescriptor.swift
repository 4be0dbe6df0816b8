#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// `close(2)`, which a method of that name hides.
func closeDescriptor(_ descriptor: Int32) {
    #if canImport(Darwin)
        _ = Darwin.close(descriptor)
    #else
        _ = Glibc.close(descriptor)
    #endif
}
