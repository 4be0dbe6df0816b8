struct ImportCounts: Sendable {
    var rows = 0
    var added = 0
    /// Places that the dataset has, but with other values than the file.
    var changed = 0
    /// How many of the changed ones have no corrections.
    var uncorrected = 0
    /// Places with corrections that the file has.
    var corrected = 0
    /// Places that are the same in both.
    var unchanged = 0
    var vanished = 0
    /// All places of the dataset and the selection.
    var selected = 0
    /// All places of the dataset.
    var present = 0
    /// How many places change a member, for each that changes.
    var changedMembers: [(name: String, count: Int)] = []
    var farthestMove: Double?
    /// Corrections that differ from what the file says.
    var kept = 0
    /// Places that change, and that were changed by hand since an import wrote them.
    var byHand = 0
    /// New rows that people have removed before.
    var suppressed = 0
    /// Added places that were there before.
    var returned = 0
    /// Places that the file says people have removed, where that wasn't known.
    var newlySuppressed = 0
    /// Rows at 0, 0.
    var atOrigin = 0
    /// Categories of the file that the vocabulary doesn't have.
    var newCategories: [String] = []
    /// Whether the dataset's own row changes.
    var changesDescription = false
    /// What a reviewer refuses.
    var refused = ImportReport.Refused()
    /// How many rows of the file are left out for that.
    var refusedRows = 0

    func changedCount(of member: ChangedMembers) -> Int {
        let name = ChangedMembers.named.first { $0.member == member }?.name
        return changedMembers.first { $0.name == name }?.count ?? 0
    }
}

/// What is allowed of an import that would otherwise be refused, since it is rather a mistake.
package struct ImportAllowances: Sendable, Hashable {
    /// The share of the places that may be removed, 0…1.
    package var removals = 0.05
    /// Whether a file without rows may remove all.
    package var isEmpty = false
    /// Whether more than a third of the names may change.
    package var names = false
    /// Whether more than a third of the places may move, and more than a tenth be at 0, 0.
    package var positions = false
    /// Whether any other member may change in more than a third of the places.
    package var members = false

    package init() {}

    /// Whatever a file does.
    package static let everything = {
        var allowed = ImportAllowances()
        allowed.removals = 1
        (allowed.isEmpty, allowed.names, allowed.positions, allowed.members) = (true, true, true, true)
        return allowed
    }()

    /// What `--allow` has: `removals=20%`, `empty`, `names`, `positions`, `members`, several with commas between; nil where it
    /// isn't that.
    package init?(option text: String) {
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            switch part {
            case "empty": isEmpty = true
            case "names": names = true
            case "positions": positions = true
            case "members": members = true
            default:
                guard part.hasPrefix("removals="), part.hasSuffix("%"),
                    let percent = Double(part.dropFirst("removals=".count).dropLast()),
                    (0...100).contains(percent)
                else { return nil }
                removals = percent / 100
            }
        }
    }
}

/// What an import does to the database. A value, so that tests need no database.
struct ImportPlan: Hashable, Sendable {
    /// What changes something.
    enum Step: Hashable, Sendable {
        case addCategories, remove, suppress, update, insert, describeDataset

        /// What it is called while it lasts; nil where it is about a few rows.
        func phase(_ counts: ImportCounts) -> ImportProgress.Phase? {
            switch self {
            case .remove: .removing(counts.vanished)
            case .update: .changing(counts.changed)
            case .insert: .adding(counts.added)
            case .addCategories, .suppress, .describeDataset: nil
            }
        }
    }

    /// In the order in which they are done; one that would do nothing isn't among them.
    private(set) var steps: [Step] = []
    /// Why nothing may be changed; nil where nothing speaks against it.
    private(set) var refusal: String?

    /// This many places may always change a member, whatever share of the dataset they are.
    static let harmlessChanges = 10

    init(_ counts: ImportCounts, allowing allowed: ImportAllowances) {
        if !counts.newCategories.isEmpty { steps.append(.addCategories) }
        if counts.vanished > 0 { steps.append(.remove) }
        if counts.newlySuppressed > 0 { steps.append(.suppress) }
        if counts.changed > 0 { steps.append(.update) }
        if counts.added > 0 { steps.append(.insert) }
        if counts.changesDescription { steps.append(.describeDataset) }
        // There is nothing to lose yet.
        if counts.present > 0 { refusal = Self.refusal(counts, allowed) }
    }

    private static func refusal(_ counts: ImportCounts, _ allowed: ImportAllowances) -> String? {
        if counts.vanished > 0, counts.rows + counts.refusedRows == 0, !allowed.isEmpty {
            return
                "the file has no places, and --sync would remove all \(counts.vanished); if they are really to go, "
                + "repeat it with --allow removals=100%,empty"
        }
        let harmless = max(1, Int(Double(counts.selected) * allowed.removals))
        if counts.vanished > harmless {
            let share = (Double(counts.vanished) * 100 / Double(max(1, counts.selected))).rounded(.up)
            return
                "--sync would remove \(counts.vanished) of \(counts.selected) places, more than \(harmless); if they are "
                + "really to go, repeat it with --allow removals=\(Int(share))%"
        }
        if counts.atOrigin > max(1, counts.rows / 10), !allowed.positions {
            return
                "\(counts.atOrigin) of \(counts.rows) places are at 0, 0; if they are really there, repeat it with "
                + "--allow positions"
        }
        for (name, count) in counts.changedMembers
        where count > max(harmlessChanges, counts.present / 3) && !allowed.allows(name) {
            return
                "\(count) of \(counts.present) places would get another \(name), more than a third; if that is right, "
                + "repeat it with --allow \(ImportAllowances.option(for: name))"
        }
        return nil
    }
}

extension ImportAllowances {
    /// What a member of the report is called where it is allowed.
    fileprivate static func option(for member: String) -> String {
        switch member {
        case "name": "names"
        case "position": "positions"
        default: "members"
        }
    }

    fileprivate func allows(_ member: String) -> Bool {
        switch member {
        // Of corrections that a file brings only those are taken that nobody has made differently.
        case "corrections", "license": true
        case "name": names
        case "position": positions
        default: members
        }
    }
}
