extension MigrationStatus: CustomStringConvertible {
    /// A line for each migration, and one that sums up.
    public var description: String {
        (entries.map(line) + [summary]).joined(separator: "\n")
    }

    private func line(for entry: Entry) -> String {
        let state = entry.state.rawValue
        let padding = String(repeating: " ", count: max(1, 12 - state.count))
        let name = entry.file?.name ?? entry.applied?.shownName ?? entry.version
        let seed = entry.file?.kind == .seed ? " (seed)" : ""
        let time = entry.applied?.appliedAt.map { "  \($0)" } ?? ""
        return state + padding + name + seed + time
    }

    private var summary: String {
        let states: [(State, String)] = [
            (.unverified, "without a checksum"), (.pending, "pending"), (.optional, "seeds not applied"),
            (.late, "late"), (.edited, "edited"), (.missing, "missing"), (.newer, "newer"),
        ]
        let counts = states.compactMap { state, label in
            let count = entries.count { $0.state == state }
            return count == 0 ? nil : "\(count) \(label)"
        }
        return (["\(entries.count { $0.applied != nil }) applied"] + counts).joined(separator: ", ")
    }
}
