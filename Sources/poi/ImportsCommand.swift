import POIDatabase
import PlaceImport
import Program

/// `poi imports`: which imports there were, and how one is taken back.
enum ImportsCommand {
    static let help = """
        poi imports [list] [--dataset NAME] [--limit N]
        poi imports revert IMPORT

        list     the imports, the newest first: when, which dataset, which files, and what they did
        revert   takes an import back: what it changed, added and removed is as before. What has changed since stays, and is
                 listed. The dataset's later imports have to go first

        They need the role that migrates. Documentation/editing.md says more.
        """

    static func run(_ invocation: Invocation) throws {
        let words = Array(invocation.line.words.dropFirst())
        switch words.first {
        case nil, "list":
            try invocation.refuseWords(after: 2)
            try list(invocation)
        case "revert":
            guard words.count > 1, let id = Int64(words[1]) else {
                throw ConfigurationError("expected the number of an import; poi imports lists them")
            }
            try invocation.refuseWords(after: 3)
            try revert(id, invocation)
        default: throw ConfigurationError("unknown action \(words[0]); see poi imports --help")
        }
    }

    private static func list(_ invocation: Invocation) throws {
        var reader = invocation.settings
        let dataset = reader.takeOption("--dataset")
        let text = reader.takeOption("--limit") ?? "50"
        guard let limit = Int(text), limit > 0 else {
            throw ConfigurationError("--limit=\(text): expected a number of imports")
        }
        let database = try DatabaseConfiguration(from: &reader)
        if try invocation.printsConfiguration(reader) { return }
        let imports = try ImportHistory(database).list(of: dataset, limit: limit)
        guard !imports.isEmpty else { return Terminal.printError("there are no imports") }
        let rows = imports.map { record in
            let what = record.reverts.map { ["reverts \($0)"] } ?? []
            let counts = what + record.counts + (record.isReverted ? ["reverted"] : [])
            return [
                "\(record.id)", record.time, record.dataset,
                counts.isEmpty ? "nothing" : counts.joined(separator: ", "),
                record.role, record.files.joined(separator: " "),
            ].map(\.printable)
        }
        try Terminal.print(
            Terminal.table([["import", "time", "dataset", "did", "role", "files"]] + rows, numbers: [0]))
    }

    private static func revert(_ id: Int64, _ invocation: Invocation) throws {
        var reader = invocation.settings
        let database = try DatabaseConfiguration(from: &reader)
        if try invocation.printsConfiguration(reader) { return }
        let reversal = try ImportCommand.showingProgress { try ImportHistory(database).revert(id, $0) }
        Terminal.tell(
            "import \(id) is reverted: \(reversal.changed) places as before, \(reversal.added) there again, "
                + "\(reversal.removed) gone again")
        for kept in reversal.kept {
            let members = kept.members.isEmpty ? "" : ": " + kept.members.joined(separator: ", ")
            Terminal.tell("place \(kept.id) (\(kept.name)) stays, \(kept.reason)\(members)".printable)
        }
    }
}
