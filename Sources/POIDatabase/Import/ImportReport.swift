import PlaceImport

/// What an import did, or with `--dry-run` would do.
package struct ImportReport: Sendable, Hashable, CustomStringConvertible {
    /// Rows of the file, whatever became of them.
    package var read = 0
    /// Rows outside `--bbox` and `--category`.
    package var notSelected = 0
    /// Rows that another row with the same id has replaced.
    package var duplicates = 0
    package var added = 0
    package var changed = 0
    /// Places that were as the file has them.
    package var unchanged = 0
    package var removed = 0
    package var addedCategories: [String] = []
    /// Values that were normalised, by kind.
    package var normalised: [Normalisation: Int] = [:]
    package var rejected: [RejectionReason: Int] = [:]
    /// Rows that were rejected for their category, by category.
    package var unknownCategories: [String: Int] = [:]
    /// Added places that may be places of before; nil where there are none.
    package var moved: MovedPlaces?
    /// Why a run without `--dry-run` would fail.
    package var refusal: String?
    /// What people should know about how the files were read, a line each.
    package var remarks: [String] = []

    /// How many unknown categories are shown, the most frequent ones.
    private static let shownCategories = 50

    /// How many places change a member.
    package struct MemberCount: Sendable, Hashable {
        package var name: String
        package var count: Int
    }

    /// Places that were changed by hand since an import wrote them, and that the file changes again.
    package struct ByHand: Sendable, Hashable {
        package var count: Int
        /// The first few, with their ids and names.
        package var places: [String]
    }

    /// What a reviewer has refused, and is left out.
    package struct Refused: Sendable, Hashable {
        /// How many refusals are of what the import would do.
        package var count = 0
        /// How many are of something else, which it wouldn't do.
        package var notApplicableCount = 0
        /// The first few of these: what was refused of which place, and what would be done now.
        package var notApplicable: [String] = []
    }

    package var refused = Refused()
    /// How many places change which member.
    package var changedMembers: [MemberCount] = []
    /// The farthest that a place moves, in metres.
    package var farthestMove: Double?
    /// What some places become, a line each.
    package var examples: [String] = []
    /// Corrections that differ from what the file says, and are kept.
    package var kept = 0
    package var byHand: ByHand?
    /// Rows that people have removed before, so that they aren't added.
    package var suppressed = 0
    /// Added places that were there before, and have their ids again.
    package var returned = 0
    /// Places that the file says people have removed.
    package var newlySuppressed = 0
    /// Rows at 0, 0.
    package var atOrigin = 0
    /// For a dataset that wasn't there: the name of one that may be meant, or an empty text.
    package var newDataset: String?
    /// The number that the import has in the history; nil where nothing was done.
    package var run: Int64?

    package var rejectedCount: Int { rejected.values.reduce(0, +) }

    /// Whether places or categories change.
    package var hasChanges: Bool { added + changed + removed + newlySuppressed + addedCategories.count > 0 }

    /// A line for each group of numbers; a group without any is left out.
    package var description: String {
        var lines = [
            "read \(read), outside the selection \(notSelected), rejected \(rejectedCount), "
                + "duplicates \(duplicates)",
            "added \(added), changed \(changed), unchanged \(unchanged), removed \(removed)"
                + (refused.count > 0 ? ", refused \(refused.count)" : ""),
        ]
        lines += refusedLines + changeLines
        func list(_ title: String, _ counts: [(String, Int)]) {
            guard !counts.isEmpty else { return }
            lines.append(title + ": " + counts.map { "\($0.0) \($0.1)" }.joined(separator: ", "))
        }
        list("normalised", normalised.map { ($0.key.rawValue, $0.value) }.sorted { $0 < $1 })
        list("rejected", rejected.map { ($0.key.rawValue, $0.value) }.sorted { $0 < $1 })
        let unknown = unknownCategories.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        list("unknown categories", unknown.prefix(Self.shownCategories).map { ($0.key, $0.value) })
        if unknown.count > Self.shownCategories {
            lines.append("and \(unknown.count - Self.shownCategories) other unknown categories")
        }
        if !unknown.isEmpty {
            lines.append(
                "to add these categories: --add-categories; to give all places one: --set category=NAME")
        }
        if !addedCategories.isEmpty {
            lines.append("new categories: " + addedCategories.joined(separator: ", "))
        }
        if let moved { lines.append("\(moved)") }
        lines += remarks
        if let run, hasChanges { lines.append("import \(run); poi imports revert \(run) takes it back") }
        return lines.joined(separator: "\n")
    }

    /// The refusals that no longer apply.
    private var refusedLines: [String] {
        let count = refused.notApplicableCount
        guard count > 0 else { return [] }
        let more =
            count > refused.notApplicable.count ? " and \(count - refused.notApplicable.count) more" : ""
        return [
            "refused, but not applicable \(count): " + refused.notApplicable.joined(separator: ", ") + more
                + "; these places are left as they are, too"
        ]
    }

    /// What changes, in more words.
    private var changeLines: [String] {
        var lines: [String] = []
        if let newDataset {
            let meant = newDataset.isEmpty ? "" : "; there is one called \(newDataset.printable)"
            lines.append("the dataset is new" + meant)
        }
        var changes = changedMembers.map { member in
            let move = member.name == "position" ? farthestMove : nil
            return "\(member.name) \(member.count)"
                + (move.map { ", the farthest \(Int($0.rounded())) m" } ?? "")
        }
        if kept > 0 { changes.append("corrections kept \(kept)") }
        if suppressed > 0 { changes.append("suppressed \(suppressed)") }
        if newlySuppressed > 0 { changes.append("suppressed by the file \(newlySuppressed)") }
        if returned > 0 { changes.append("back with their ids \(returned)") }
        if atOrigin > 0 { changes.append("at 0, 0 \(atOrigin)") }
        if !changes.isEmpty { lines.append("changes: " + changes.joined(separator: ", ")) }
        if let byHand {
            let more =
                byHand.count > byHand.places.count ? " and \(byHand.count - byHand.places.count) more" : ""
            lines.append(
                "\(byHand.count) of these were changed by hand before, and have what the file says again: place "
                    + byHand.places.joined(separator: ", ") + more
                    + "; to keep a change: poi places correct, or SET poi.editor = 'name' before an UPDATE")
        }
        return lines + examples
    }
}

/// Places without an id that a file adds, and that may be places which the dataset has from before, a short way off.
package struct MovedPlaces: Sendable, Hashable, CustomStringConvertible {
    /// One of them.
    package struct Place: Sendable, Hashable {
        package var name: String
        /// How far it is from where the other one is.
        package var meters: Double
    }

    /// How many there are.
    package var count = 0
    /// The first few, the farthest first.
    package var farthest: [Place] = []

    package var description: String {
        let places = farthest.map { "\($0.name) by \(Int($0.meters.rounded())) m" }.joined(separator: ", ")
        let more = count > farthest.count ? " and \(count - farthest.count) more" : ""
        return
            "\(count) added \(count == 1 ? "place" : "places") may have moved, and be there twice: \(places)\(more); "
            + "--sync removes those that the files no longer have, --id COLUMN knows places by their ids"
    }
}

/// How far an import is.
package struct ImportProgress: Sendable, Hashable {
    /// What it does.
    package enum Phase: Sendable, Hashable {
        /// Waits for another import.
        case waiting
        /// Counts the dataset's places.
        case counting
        case reading
        /// Compares the file with the database.
        case comparing
        case removing(Int)
        case changing(Int)
        /// Adds so many places.
        case adding(Int)
        /// Waits for the server to commit.
        case committing
        /// Vacuums the tables; the places are there already.
        case vacuuming
    }

    /// What it does now.
    package var phase = Phase.reading
    package var rows = 0
    /// Bytes read so far.
    package var bytes = 0
    /// Bytes that there are; nil where that isn't known.
    package var totalBytes: Int?
}

extension ImportProgress {
    private static let barWidth = 30

    /// A line for people.
    package func text(after elapsed: Duration) -> String {
        let seconds = elapsed / .seconds(1)
        if phase == .reading { return readingText(seconds) }
        return stepText + (seconds >= 1 ? ", \(Int(seconds)) s" : "")
    }

    private var stepText: String {
        switch phase {
        case .waiting: "waiting for another import"
        case .counting: "counting places"
        case .reading: "reading"
        case .comparing: "comparing \(rows) rows with the database"
        case .removing(let count): "removing \(count) places"
        case .changing(let count): "changing \(count) places"
        case .adding(let count): "adding \(count) places"
        case .committing: "committing"
        case .vacuuming: "vacuuming"
        }
    }

    private func readingText(_ seconds: Double) -> String {
        var text = "\(rows) rows"
        if seconds >= 1 { text += ", \(Int((Double(rows) / seconds).rounded())) rows/s" }
        guard let totalBytes, totalBytes > 0 else { return text }
        let share = min(1, Double(bytes) / Double(totalBytes))
        let full = Int(share * Double(Self.barWidth))
        let bar = String(repeating: "#", count: full) + String(repeating: "-", count: Self.barWidth - full)
        if seconds >= 1, share > 0 { text += ", \(Int((seconds / share - seconds).rounded(.up))) s left" }
        return "[\(bar)] \(Int(share * 100)) %  \(text)"
    }
}
