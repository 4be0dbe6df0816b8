/// A queue in an array: appending and removing the first take constant time on average.
struct FirstInFirstOut<Element> {
    private var storage: [Element?] = []
    private var head = 0

    /// How many elements there are.
    var count: Int { storage.count - head }
    /// Whether there is none.
    var isEmpty: Bool { count == 0 }
    /// The oldest.
    var first: Element? { isEmpty ? nil : storage[head] }
    /// All of them, oldest first.
    var elements: [Element] { storage[head...].compactMap { $0 } }

    mutating func append(_ element: Element) {
        storage.append(element)
    }

    mutating func popFirst() -> Element? {
        guard !isEmpty else { return nil }
        let element = storage[head]
        storage[head] = nil
        head += 1
        if head == storage.count {
            storage.removeAll(keepingCapacity: true)
            head = 0
        } else if head >= 64 && head * 2 >= storage.count {
            storage.removeFirst(head)
            head = 0
        }
        return element
    }

    /// Changes the oldest in place.
    mutating func updateFirst(_ change: (inout Element) -> Void) {
        guard var element = first else { return }
        change(&element)
        storage[head] = element
    }

    /// Changes the newest in place.
    mutating func updateLast(_ change: (inout Element) -> Void) {
        guard !isEmpty, var element = storage[storage.count - 1] else { return }
        change(&element)
        storage[storage.count - 1] = element
    }

    /// Removes every element that `isRemoved` picks, and returns them, oldest first.
    mutating func removeAll(where isRemoved: (Element) -> Bool) -> [Element] {
        var removed: [Element] = []
        var kept: [Element?] = []
        for element in elements {
            if isRemoved(element) { removed.append(element) } else { kept.append(element) }
        }
        storage = kept
        head = 0
        return removed
    }
}
