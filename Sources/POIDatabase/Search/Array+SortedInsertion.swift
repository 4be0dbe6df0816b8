extension Array {
    /// Where an element goes in a sorted array: behind all that belong before it, found by halving.
    ///
    /// - Parameter belongsBefore: true for a beginning of the array and false for the rest.
    func firstIndex(behind belongsBefore: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if belongsBefore(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
