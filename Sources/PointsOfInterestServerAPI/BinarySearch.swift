extension Range<Int> {
    /// The first index that doesn't belong before, by binary search; the end where all do.
    ///
    /// - Parameter belongsBefore: true for the first indices and false for the rest.
    @inlinable @inline(__always)
    package func firstIndex(behind belongsBefore: (Int) -> Bool) -> Int {
        var (low, high) = (lowerBound, upperBound)
        while low < high {
            let middle = (low + high) / 2
            if belongsBefore(middle) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// An index where it is what is looked for, by binary search; nil where there is none.
    ///
    /// - Parameter order: less than 0 for the first indices, which belong before, then 0, then more.
    @inlinable @inline(__always)
    package func index(by order: (Int) -> Int) -> Int? {
        var (low, high) = (lowerBound, upperBound)
        while low < high {
            let middle = (low + high) / 2
            let order = order(middle)
            if order == 0 { return middle }
            if order < 0 { low = middle + 1 } else { high = middle }
        }
        return nil
    }
}
