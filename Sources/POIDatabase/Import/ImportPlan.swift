/// What was counted before an import changes anything.
struct ImportCounts: Hashable, Sendable {
    /// Places of the file that the dataset doesn't have.
    var added = 0
    /// Places that the dataset has, but with other values than the file.
    var changed = 0
    /// Places that are the same in both.
    var unchanged = 0
    /// Places of the dataset and the selection that the file doesn't have.
    var vanished = 0
    /// All places of the dataset and the selection.
    var selected = 0
    /// Categories of the file that the vocabulary doesn't have.
    var newCategories = 0
    /// Whether the dataset's own row changes.
    var changesDescription = false
}

/// What an import does to the database. A value, so that tests need no database.
struct ImportPlan: Hashable, Sendable {
    /// A statement that changes something.
    enum Step: Hashable, Sendable {
        case addCategories, remove, update, insert, describeDataset
    }

    /// The statements, in the order in which they are sent; one that would do nothing isn't among them.
    private(set) var steps: [Step] = []
    /// Why nothing may be changed; nil where nothing speaks against it.
    private(set) var refusal: String?

    /// This many places may always be removed, whatever share of the dataset they are.
    static let harmlessRemovals = 10
    /// If there are more to remove, at most one place in this many may be removed.
    static let harmlessFraction = 20

    init(_ counts: ImportCounts, isForced: Bool) {
        if counts.newCategories > 0 { steps.append(.addCategories) }
        if counts.vanished > 0 { steps.append(.remove) }
        if counts.changed > 0 { steps.append(.update) }
        if counts.added > 0 { steps.append(.insert) }
        if counts.changesDescription { steps.append(.describeDataset) }
        let harmless = max(Self.harmlessRemovals, counts.selected / Self.harmlessFraction)
        if counts.vanished > harmless, !isForced {
            refusal =
                "--sync would remove \(counts.vanished) of \(counts.selected) places, more than \(harmless); "
                + "if they are really to go, repeat it with --force"
        }
    }
}
