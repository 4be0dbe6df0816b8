#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Values of one type in memory that is allocated and freed by hand: whoever owns it calls `free()` once.
///
/// Plain memory has no reference count, which loops on several processors would fight over, and large blocks go back to
/// the system as soon as they are freed, where the program has told the allocator so (`poi_return_large_blocks`).
struct Column<Element: BitwiseCopyable> {
    private(set) var base: UnsafeMutablePointer<Element>
    private(set) var count: Int
    private var capacity: Int

    /// An empty column with room for so many elements.
    init(capacity: Int) {
        self.capacity = max(1, capacity)
        base = Self.reallocate(nil, self.capacity)
        count = 0
    }

    /// A column of so many elements, which hold nothing meaningful.
    init(uninitialized count: Int) {
        self.init(capacity: count)
        self.count = count
    }

    /// A column of so many equal elements.
    init(repeating element: Element, count: Int) {
        self.init(uninitialized: count)
        base.initialize(repeating: element, count: count)
    }

    /// The memory that it takes, in bytes.
    var bytes: Int { capacity * MemoryLayout<Element>.stride }

    subscript(index: Int) -> Element {
        get { base[index] }
        nonmutating set { base[index] = newValue }
    }

    mutating func append(_ element: Element) {
        reserve(1)
        base[count] = element
        count += 1
    }

    mutating func append(_ elements: UnsafeBufferPointer<Element>) {
        reserve(elements.count)
        if let start = elements.baseAddress { (base + count).update(from: start, count: elements.count) }
        count += elements.count
    }

    /// Gives back the room that isn't used.
    mutating func shrink() {
        capacity = max(1, count)
        base = Self.reallocate(base, capacity)
    }

    func free() { base.freeMemory() }

    private mutating func reserve(_ more: Int) {
        guard count + more > capacity else { return }
        // Memory that was never written to isn't resident.
        capacity = max(count + more, capacity + capacity / 2 + 16)
        base = Self.reallocate(base, capacity)
    }

    private static func reallocate(
        _ memory: UnsafeMutablePointer<Element>?, _ capacity: Int
    ) -> UnsafeMutablePointer<Element> {
        guard let memory = realloc(memory, capacity * MemoryLayout<Element>.stride) else {
            fatalError("no memory for the index: \(capacity * MemoryLayout<Element>.stride) bytes")
        }
        return memory.bindMemory(to: Element.self, capacity: capacity)
    }
}

extension UnsafeMutablePointer {
    fileprivate func freeMemory() { free(UnsafeMutableRawPointer(self)) }
}

extension Column {
    /// The elements at these indices, in their order; frees itself, so that both exist for a moment only.
    consuming func gathered(_ order: Column<UInt32>) -> Column {
        let gathered = Column(uninitialized: order.count)
        for index in 0..<order.count { gathered.base[index] = base[Int(order.base[index])] }
        free()
        return gathered
    }
}
