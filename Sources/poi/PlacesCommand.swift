import Foundation
import POIDatabase
import PlaceImport
import PointsOfInterestAPI
import PointsOfInterestServerAPI
import Program

/// `poi places …`: shows a place, and edits it.
enum PlacesCommand {
    static let help = """
        poi places show ID
        poi places history ID
        poi places correct ID MEMBER=VALUE… --as NAME
        poi places reset ID MEMBER… --as NAME
        poi places close ID [--temporarily] --as NAME
        poi places remove ID --as NAME
        poi places restore ID VERSION --as NAME
        poi places merge ID INTO --as NAME
        poi places merge --from FILE --as NAME

        show      the place, what its source says below corrections, and its version
        history   what has changed it, by whom, and the version before each change
        correct   shows other values than the source's: an import keeps them. An empty value takes one away. Members:
                  name, category, position=LAT,LONG, address, website, operating_status, featured, importance, other_names
                  (with semicolons between), names.LANGUAGE, properties.NAME (:= instead of = for JSON)
        reset     shows what the source says again; names and properties are all of these
        close     for good, so that no list has it; --temporarily
        remove    an import doesn't bring it back
        restore   shows what the place was in that version; a removed one comes back with its id
        merge     removes a place that is the same as another one, which gets what it lacks; --from FILE: the pairs that
                  poi duplicates has written to a file, but for places that have changed since

        --as NAME        whose name the history gets
        --if-version N   changes nothing if the place has another version than this one

        They need the role that migrates, or poi_edit. Documentation/editing.md says more.
        """

    private static let actions = [
        "show", "history", "correct", "reset", "close", "remove", "restore", "merge",
    ]

    static func run(_ invocation: Invocation) throws {
        let words = Array(invocation.line.words.dropFirst())
        guard let action = words.first else {
            throw ConfigurationError("expected an action; see poi places --help")
        }
        guard actions.contains(action) else {
            let meant = NearestName.find(for: action, among: actions)
            throw ConfigurationError(
                "unknown action \(action); "
                    + (meant.map { "did you mean poi places \($0)?" } ?? "see poi places --help"))
        }
        var reader = invocation.settings
        if action == "merge", let path = reader.takeOption("--from") {
            try invocation.refuseWords(after: 2)
            return try merge(path, invocation, reader)
        }
        guard words.count > 1, let id = Int64(words[1]) else {
            throw ConfigurationError("expected the id of a place; see poi places --help")
        }
        let rest = Array(words.dropFirst(2))
        if action == "show" || action == "history" {
            try invocation.refuseWords(after: 3)
            let history = PlaceHistory(try DatabaseConfiguration(from: &reader))
            if try invocation.printsConfiguration(reader) { return }
            return try action == "show" ? show(id, history) : showChanges(of: id, history)
        }
        let edit = try edit(action, id, rest, invocation)
        let name = try editor(&reader)
        let version = try version(reader.takeOption("--if-version"))
        let database = try DatabaseConfiguration(from: &reader)
        if try invocation.printsConfiguration(reader) { return }
        try edit(CommandEditor(database, as: name, expectedVersion: version))
        try show(action == "merge" ? Int64(rest[0]) ?? id : id, PlaceHistory(database))
    }

    private static func editor(_ reader: inout SettingsReader) throws(ConfigurationError) -> String {
        guard let name = reader.takeOption("--as"), TableCheck.isSingleLine(name, maximumLength: 100) else {
            throw ConfigurationError("expected --as NAME: whose name the history gets")
        }
        return name
    }

    /// Merges the pairs of a file.
    private static func merge(_ path: String, _ invocation: Invocation, _ reader: SettingsReader) throws {
        var reader = reader
        let editor = try editor(&reader)
        let database = try DatabaseConfiguration(from: &reader)
        if try invocation.printsConfiguration(reader) { return }
        let list = try MergeList(path: path)
        let count = try CommandEditor(database, as: editor).merge(list) { pair, reason in
            Terminal.printError(
                "line \(pair.line): \(pair.id) isn't merged into \(pair.into): \(reason.printable)")
        }
        let summary = "merged \(count) of \(list.pairs.count)"
        guard count == list.pairs.count else { throw NotMerged(description: summary) }
        Terminal.tell(summary)
    }

    private struct NotMerged: Error, CustomStringConvertible {
        let description: String
    }

    private static func version(_ text: String?) throws(ConfigurationError) -> Int64? {
        guard let text else { return nil }
        guard let version = Int64(text) else {
            throw ConfigurationError("--if-version=\(text): expected the number of a version")
        }
        return version
    }

    /// What is done to the place.
    private static func edit(
        _ action: String, _ id: Int64, _ rest: [String], _ invocation: Invocation
    ) throws -> (CommandEditor) throws -> Void {
        func refuseRest(after count: Int) throws(ConfigurationError) {
            try invocation.refuseWords(after: 3 + count)
        }
        switch action {
        case "correct":
            guard !rest.isEmpty else { throw ConfigurationError("expected MEMBER=VALUE, such as name=Café") }
            let changes = try json(of: rest)
            return { try $0.correct(id, changes) }
        case "reset":
            guard !rest.isEmpty else { throw ConfigurationError("expected members, such as name") }
            return { try $0.correct(id, resetting: rest) }
        case "close":
            try refuseRest(after: 0)
            let status =
                invocation.line.switches.contains("--temporarily") ? "temporarilyClosed" : "permanentlyClosed"
            return { try $0.correct(id, "{\"operating_status\": \"\(status)\"}") }
        case "remove":
            try refuseRest(after: 0)
            return { try $0.remove(id) }
        case "restore":
            try refuseRest(after: 1)
            guard let version = rest.first.flatMap({ Int64($0) }) else {
                throw ConfigurationError(
                    "expected the number of a version; poi places history \(id) has them")
            }
            return { try $0.restore(id, to: version) }
        default:
            try refuseRest(after: 1)
            guard let other = rest.first.flatMap({ Int64($0) }) else {
                throw ConfigurationError("expected the id of the place that stays")
            }
            return { try $0.merge(id, into: other) }
        }
    }

    /// JSON of an object of the members.
    private static func json(of words: [String]) throws(ConfigurationError) -> String {
        var members: [String] = []
        for word in words {
            guard let equals = word.firstIndex(of: "="), equals > word.startIndex else {
                throw ConfigurationError("\(word): expected MEMBER=VALUE, such as name=Café")
            }
            let isJSON = word[word.index(before: equals)] == ":"
            let member = String(word[..<(isJSON ? word.index(before: equals) : equals)])
            let text = String(word[word.index(after: equals)...])
            guard !isJSON || TableCheck.isJSON(Array(text.utf8)) else {
                throw ConfigurationError("\(word): expected JSON behind :=")
            }
            members.append("\(quoted(member)): \(isJSON ? text : try value(text, of: member))")
        }
        return "{\(members.joined(separator: ", "))}"
    }

    private static func quoted(_ text: String) -> String {
        var writer = JSONWriter()
        writer.value(text)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// JSON of a member's value.
    private static func value(_ text: String, of member: String) throws(ConfigurationError) -> String {
        if text.isEmpty { return "null" }
        switch member {
        case "position":
            let numbers = text.split(separator: ",").compactMap {
                Double($0.trimmingCharacters(in: .whitespaces))
            }
            guard numbers.count == 2, numbers.allSatisfy(\.isFinite) else {
                throw ConfigurationError("position=\(text): expected LAT,LONG in degrees")
            }
            return "[\(numbers[0] + 0), \(numbers[1] + 0)]"
        case "featured":
            guard ["true", "false"].contains(text) else {
                throw ConfigurationError("featured=\(text): expected true or false")
            }
            return text
        case "importance":
            guard let number = Int(text) else {
                throw ConfigurationError("importance=\(text): expected a number from 0 to 1000")
            }
            return "\(number)"
        case "other_names":
            let names = text.split(separator: ";").map { quoted($0.trimmingCharacters(in: .whitespaces)) }
            return "[\(names.joined(separator: ", "))]"
        default: return quoted(text)
        }
    }

    private static func show(_ id: Int64, _ history: PlaceHistory) throws {
        let record = try history.record(of: id)
        var lines = (["place \(id)"] + record.facts).map(\.printable)
        lines = [lines.joined(separator: ", ")]
        let rows = record.members.map { member in
            [
                member.name, member.value ?? "none",
                member.isCorrected
                    ? "source: \(member.source == "null" ? "none" : member.source ?? "none")" : "",
            ].map(\.printable)
        }
        if !rows.isEmpty { lines.append(Terminal.table(rows)) }
        try Terminal.print(lines.joined(separator: "\n"))
    }

    private static func showChanges(of id: Int64, _ history: PlaceHistory) throws {
        let changes = try history.changes(of: id)
        guard !changes.isEmpty else {
            _ = try history.record(of: id)
            return Terminal.printError("nothing that is kept has changed place \(id)")
        }
        let lines = changes.map { change in
            let members = change.members.map { "\($0.name) \($0.before ?? "none") → \($0.after ?? "none")" }
            let what = change.isRemoval ? "removed" : members.joined(separator: ", ")
            return "\(change.time)  \(change.who): \(what)  (before: version \(change.version))".printable
        }
        try Terminal.print(lines.joined(separator: "\n"))
    }
}

/// `poi history maintain|forget`: keeps the versions of places for as long as they are wanted.
enum HistoryCommand {
    static func run(_ invocation: Invocation) throws {
        let words = Array(invocation.line.words.dropFirst())
        var reader = invocation.settings
        switch words.first {
        case "maintain":
            try invocation.refuseWords(after: 2)
            let database = try DatabaseConfiguration(from: &reader)
            let days = try reader.read(.historyRetention)
            if try invocation.printsConfiguration(reader) { return }
            let lines = try PlaceHistory(database).maintain(keepingDays: days)
            Terminal.tell(lines.isEmpty ? "nothing to do" : lines.joined(separator: "\n"))
        case "forget":
            try invocation.refuseWords(after: 3)
            guard words.count > 1, let id = Int64(words[1]) else {
                throw ConfigurationError("expected poi history forget ID")
            }
            let database = try DatabaseConfiguration(from: &reader)
            if try invocation.printsConfiguration(reader) { return }
            Terminal.tell("versions of place \(id) removed: \(try PlaceHistory(database).forget(id))")
        default: throw ConfigurationError("expected poi history maintain, or poi history forget ID")
        }
    }
}
