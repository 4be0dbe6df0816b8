/// Why a document is no fixtures: every fault that was found in it.
package struct FixtureError: Error, Hashable, CustomStringConvertible {
    /// The faults, in the document's order; never none.
    package let faults: [DocumentFault]

    /// The first fault, and how many more there are, in one line.
    package var description: String {
        let more = faults.count > 1 ? " (and \(faults.count - 1) more)" : ""
        return (faults.first?.description ?? "not fixtures") + more
    }
}
