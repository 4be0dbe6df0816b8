import POIDatabase
import PointsOfInterestServerAPI
import Program

/// `poi duplicates A B`: which places of two datasets are probably the same.
enum DuplicatesCommand {
    static let help = """
        poi duplicates A B [FILE]

        Writes pairs of a place of the dataset B and one of A that is within 75 m and has a name with all of its words, or
        fewer, or the same website and a word in common: as CSV, to a file or to standard output. Take out what isn't the
        same; poi places merge --from FILE merges the first of each pair into the second. A may be B.

        A place is in at most 20 pairs with places of which its words are a part; how many had more is said. Places that are
        closed for good aren't listed.

        It needs a role that may read. Documentation/editing.md says more.
        """

    static func run(_ invocation: Invocation) throws {
        let words = Array(invocation.line.words.dropFirst())
        try invocation.refuseWords(after: 4)
        guard words.count > 1, words.prefix(2).allSatisfy({ TableCheck.isSingleLine($0, maximumLength: 100) })
        else {
            throw ConfigurationError("expected the names of two datasets; see poi duplicates --help")
        }
        var reader = invocation.settings
        let database = try DatabaseConfiguration(from: &reader)
        if try invocation.printsConfiguration(reader) { return }
        let file = try OutputFile(path: words.count > 2 && words[2] != "-" ? words[2] : nil)
        let counts = try DuplicateSearch(database, words[0], words[1]).run { try file.write($0.utf8) }
        try file.finish()
        let more = counts.crowded > 0 ? "; \(counts.crowded) places had more than are written" : ""
        Terminal.printError("\(counts.pairs) pairs\(more)")
    }
}
