import POIDatabase
import PlaceImport
import PointsOfInterestServerAPI
import Program

/// `poi datasets list|export|remove`: which datasets the places come from, their places in a file, and their end.
enum DatasetsCommand {
    static let help = """
        poi datasets [list]
        poi datasets export NAME [FILE] [--format csv|geojson]
        poi datasets export --no-dataset [FILE]
        poi datasets remove NAME --yes

        list     every dataset: its name, how many places it has, its license, credit and URL, and how its last refresh went
        export   writes a dataset's places to a file, or to standard output, so that poi import takes them back with what
                 people have corrected and removed: the same file again changes nothing. The file's extension says the
                 format, else --format; csv without either. --no-dataset: the places that are of no dataset
        remove   removes a dataset and all of its places, in one transaction; without --yes it only says how many

        list and export need a role that may read, which doesn't know what people have removed; remove needs that which migrates. Documentation/import.md says more.
        """

    private static let actions = ["list", "export", "remove"]

    static func run(_ invocation: Invocation) throws {
        let words = Array(invocation.line.words.dropFirst())
        let action = words.first ?? "list"
        guard actions.contains(action) else {
            let meant = NearestName.find(for: action, among: actions)
            throw ConfigurationError(
                "unknown action \(action); "
                    + (meant.map { "did you mean poi datasets \($0)?" } ?? "see poi datasets --help"))
        }
        if action == "list" {
            try invocation.refuseWords(after: 2)
            return try list(invocation)
        }
        if action == "export", invocation.line.switches.contains("--no-dataset") {
            try invocation.refuseWords(after: 3)
            return try export(nil, to: words.dropFirst().first, invocation)
        }
        guard words.count > 1, TableCheck.isSingleLine(words[1], maximumLength: 100) else {
            throw ConfigurationError("expected the name of a dataset; see poi datasets --help")
        }
        try invocation.refuseWords(after: action == "export" ? 4 : 3)
        if action == "export" {
            try export(words[1], to: words.dropFirst(2).first, invocation)
        } else {
            try remove(words[1], invocation)
        }
    }

    private static func list(_ invocation: Invocation) throws {
        var reader = invocation.settings
        let database = try DatabaseConfiguration(from: &reader)
        if try invocation.printsConfiguration(reader) { return }
        let datasets = try DatasetList(database).run()
        guard !datasets.isEmpty else { return Terminal.printError("there are no datasets") }
        let rows = datasets.map {
            [
                $0.name.isEmpty ? "(none)" : $0.name, "\($0.places)", $0.license, $0.credit ?? "",
                $0.url ?? "", $0.refresh ?? "",
            ]
        }
        let isRefreshed = datasets.contains { $0.refresh != nil }
        let header = ["dataset", "places", "license", "credit", "url", isRefreshed ? "refreshed" : ""]
        try Terminal.print(Terminal.table([header] + rows, numbers: [1]))
    }

    private static func export(_ name: String?, to path: String?, _ invocation: Invocation) throws {
        var reader = invocation.settings
        let path = path == "-" ? nil : path
        let format = try format(of: path, option: reader.takeOption("--format"))
        let database = try DatabaseConfiguration(from: &reader)
        if try invocation.printsConfiguration(reader) { return }
        let file = try OutputFile(path: path)
        let progress = ProgressBar.onTerminal(unit: "places")
        let dataset = try DatasetExport(database, dataset: name, format: format)
            .run(write: { try file.write($0) }, onProgress: progress?.update)
        try file.finish()
        progress?.finish()
        let command = name.map { _ in "; to import them: \(importCommand(for: dataset, path ?? "-", format))"
        }
        Terminal.printError("\(dataset.places) places" + (command ?? ""))
    }

    private static func format(
        of path: String?, option: String?
    ) throws(ConfigurationError) -> DatasetExport.Format {
        if let option {
            guard let format = DatasetExport.Format(rawValue: option) else {
                throw ConfigurationError("--format=\(option): expected csv or geojson")
            }
            return format
        }
        guard let path else { return .csv }
        switch path.split(separator: ".").last?.lowercased() {
        case "csv": return .csv
        case "geojson", "json": return .geojson
        default:
            throw ConfigurationError(
                "\(path): expected a name that ends in .csv, .geojson or .json, or --format csv or geojson")
        }
    }

    private static func importCommand(
        for dataset: DatasetSummary, _ path: String, _ format: DatasetExport.Format
    ) -> String {
        var words = [path, "--dataset", dataset.name, "--license", dataset.license]
        if path != "-", (try? self.format(of: path, option: nil)) != format {
            words += ["--format", format.rawValue]
        }
        if let credit = dataset.credit { words += ["--credit", credit] }
        if let url = dataset.url { words += ["--url", url] }
        return "poi import " + words.map(\.quotedForShell).joined(separator: " ")
    }

    private static func remove(_ name: String, _ invocation: Invocation) throws {
        var reader = invocation.settings
        let database = try DatabaseConfiguration(from: &reader)
        if try invocation.printsConfiguration(reader) { return }
        let removal = DatasetRemoval(database, dataset: name)
        guard invocation.line.switches.contains("--yes") else {
            let dataset = try removal.dataset()
            throw ConfigurationError(
                "poi datasets remove would remove \(name) and its \(dataset.places) places; confirm with --yes"
            )
        }
        let count = try ImportCommand.showingProgress { try removal.run($0) }
        Terminal.tell("\(name) is removed, with \(count) places")
    }
}
