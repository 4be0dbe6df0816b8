/// State that one thread uses, in memory of its own, so that accesses to it cost nothing.
///
/// Swift checks each access to a class's stored property at run time where it can't prove that no other access overlaps it
/// (SE-0176), at about 80 instructions each. Accesses to this value aren't checked. Whoever has it uses it on one thread, and
/// calls nothing while it accesses the value that accesses it, too.
@frozen
public struct Confined<Value: ~Copyable>: ~Copyable {
    @usableFromInline
    let pointer: UnsafeMutablePointer<Value>

    /// Keeps a value.
    @inlinable
    public init(_ value: consuming Value) {
        pointer = .allocate(capacity: 1)
        pointer.initialize(to: value)
    }

    @inlinable
    deinit {
        pointer.deinitialize(count: 1)
        pointer.deallocate()
    }

    /// The value.
    ///
    /// By addressors, as `UnsafeMutablePointer.pointee`: coroutines (`_read`, `_modify`) are not always inlined.
    @inlinable
    public var value: Value {
        @inline(__always) unsafeAddress { UnsafePointer(pointer) }
        @inline(__always) nonmutating unsafeMutableAddress { pointer }
    }
}
