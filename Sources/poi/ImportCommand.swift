import Foundation
import Locking
import POIDatabase
import PlaceImport
import PointsOfInterestAPI
import Program
import PointsOfInterestServerAPI

/// `poi import FILE…`: brings the places of a dataset to what files say.
enum ImportCommand {
    static let help = """
        poi import FILE… --explain
        poi import FILE… --dataset NAME --license ID [OPTION…]
        poi import FILE… --dataset NAME [OPTION…]

        Brings the places of a dataset to what files say. A file is CSV, JSON or GeoJSON, a ZIP with one of these, or what
        GDAL reads: OpenStreetMap, GeoPackage, Shapefile, FlatGeobuf, KML, KMZ, GPX, XLSX, ODS. - is standard input.

        what the file is
          --explain                 says how the file would be read and which command to run; needs no database
          --column FIELD=COLUMN,…   takes fields from other columns: id, name, category, latitude, longitude, position, …
          --set FIELD=TEXT,…        gives fields the same text in every row: --set category=airport
          --mapping NAME|FILE       alltheplaces, columns, foursquare, geonames, gtfs, openstreetmap, overture, or a file
          --table NAME=FILE,…       files in which the mapping looks up texts: --table state=admin1CodesASCII.txt for geonames
          --id COLUMN               the column of the places' stable ids
          --properties COLUMN,…     columns that become properties
          --clear MEMBER,…          empties address, website, featured, importance, names, other_names, operating_status,
                                    properties or properties.NAME of the file's places; a column that it lacks changes nothing
          --layer NAME              a layer of a file with several, or the member of a JSON object that has the places
          --crs EPSG:CODE           the coordinate system of the positions, if it isn't WGS 84 and the file doesn't say it
          --header-row N            the row of a table that has the columns' names, if it isn't found below a title
          --format csv|geojson|gdal, --delimiter CHARACTER|tab
          --encoding NAME           of a delimited file or JSON that isn't in UTF-8, as iconv names it: Windows-1250, Shift_JIS
          --unconfined-source       lets GDAL open anything; only for files that you trust

        which rows
          --bbox WEST,SOUTH,EAST,NORTH, --category NAME,…

        what happens
          --dry-run                 changes nothing and says what would be done
          --add-categories          adds categories that the vocabulary doesn't have
          --report FILE             writes what becomes of each place to a file, as lines of JSON
          --except FILE             doesn't do what these lines of a report say, behind its first one
          --sync                    removes places that the files no longer have
          --allow WHAT,…            allows what is rather a mistake: removals=20%, empty (no places at all), names, positions
                                    or members that change in more than a third of the places; --force, any removals
          --reset-options           forgets how the dataset was imported before: the options for reading files, which the
                                    next import of the dataset has again unless it is given others
          --rejects FILE            writes rejected rows to a file
          --max-errors N            allows so many rejected rows; else 10, or a tenth of all
          --credit TEXT, --url URL  for maps that show the places

        where to
          --database-url-file FILE  a file with the database's URL; or DATABASE_URL. Other users of this machine can read
                                    options while it runs: --database-url shows them a password

        Documentation/import.md says more.
        """

    private static let options: Set<String> = [
        "--allow", "--bbox", "--category", "--clear", "--column", "--credit", "--crs", "--database-url",
        "--database-url-file",
        "--dataset", "--delimiter", "--encoding", "--except", "--format", "--header-row", "--id", "--layer",
        "--license",
        "--mapping",
        "--max-errors",
        "--properties", "--rejects", "--report", "--set", "--table", "--url",
    ]

    static func run(_ invocation: Invocation) throws {
        let explains = invocation.line.switches.contains("--explain")
        var reader = invocation.settings
        try reader.refuseMisspelt(Self.options)
        let source = try ImportSource(
            paths: Array(invocation.line.words.dropFirst()), from: &reader, switches: invocation.line.switches
        )
        guard !source.paths.isEmpty else {
            throw ConfigurationError(
                "expected poi import FILE… --dataset NAME --license ID; see poi import --help")
        }
        var unread = reader
        let destination = destination(from: &unread, switches: invocation.line.switches)
        if explains {
            for option in ["--database-url", "--database-url-file"] { _ = unread.takeOption(option) }
            try unread.refuseUnknownFlags()
            return try Terminal.print("\(FileExplanation(source, destination: destination))")
        }
        var options = try ImportOptions(from: &reader, switches: invocation.line.switches)
        if let path = reader.takeOption("--except") {
            do throws(ImportError) {
                options.refused = try RefusedChanges(path: path, of: options.dataset.name)
            } catch {
                throw ConfigurationError("--except: \(error)")
            }
        }
        let (rejectsPath, reportPath) = (reader.takeOption("--rejects"), reader.takeOption("--report"))
        let database = try DatabaseConfiguration(from: &reader)
        options.historyDays = try reader.read(.historyRetention)
        if try invocation.printsConfiguration(reader) { return }
        let remembering = try remembering(source, &options, database, invocation)
        try run(remembering, options, database, (rejectsPath, reportPath), destination)
    }

    /// The source with the options of the dataset's last import, unless they are given. Takes the license from there, too.
    static func remembering(
        _ source: ImportSource, _ options: inout ImportOptions, _ database: DatabaseConfiguration,
        _ invocation: Invocation
    ) throws -> ImportSource {
        let remembered = try ImportHistory(database).options(of: options.dataset.name)
        guard !options.dataset.license.isEmpty || remembered?.license != nil else {
            throw ConfigurationError(
                "expected --license ID, since there is no dataset \(options.dataset.name): places say on which terms they come"
            )
        }
        if options.dataset.license.isEmpty { options.dataset.license = remembered?.license ?? "" }
        return try source.remembering(remembered?.options, invocation)
    }

    /// Runs the import, and tells what it did.
    ///
    /// - Parameter destination: for the command that is proposed where fields aren't found; nil for none.
    @discardableResult
    static func run(
        _ source: ImportSource, _ options: ImportOptions, _ database: DatabaseConfiguration,
        _ paths: (rejects: String?, report: String?), _ destination: [String]?
    ) throws -> ImportReport {
        let rejects = try paths.rejects.map { try OutputFile(path: $0) }
        let changes = try paths.report.map { try OutputFile(path: $0) }
        let report: ImportReport
        do {
            report = try run(DatasetImport(database, source, options), rejects: rejects, changes: changes)
        } catch {
            // What was wrong with the rows, and what would change, is still worth reading.
            try? rejects?.finish()
            try? changes?.finish()
            // An unconfined source isn't read twice: it may be a statement of SQL.
            if let error = error as? ImportError, error.isAboutFields, !source.isUnconfined, let destination,
                let explanation = try? FileExplanation(source, destination: destination)
            {
                Terminal.printError("\(explanation)")
            }
            throw error
        }
        try rejects?.finish()
        try changes?.finish()
        guard options.isDryRun else {
            Terminal.tell("\(report)")
            return report
        }
        try Terminal.print("\(report)\nthis is what an import would do; nothing was changed")
        if let refusal = report.refusal { throw RefusedImport(description: refusal) }
        return report
    }

    /// The options about the dataset and what is done with it, for the command to run next.
    private static func destination(from reader: inout SettingsReader, switches: Set<String>) -> [String] {
        let options = [
            ("--dataset", "NAME"), ("--license", "ID"), ("--credit", nil), ("--url", nil),
            ("--max-errors", nil), ("--rejects", nil), ("--report", nil), ("--except", nil), ("--allow", nil),
        ]
        let given = options.compactMap { option, placeholder in
            (reader.takeOption(option)?.quotedForShell ?? placeholder).map { "\(option) \($0)" }
        }
        return given
            + ["--dry-run", "--add-categories", "--sync", "--force", "--reset-options"].filter(
                switches.contains)
    }

    static func run(
        _ work: DatasetImport, rejects: OutputFile? = nil, changes: OutputFile? = nil
    ) throws -> ImportReport {
        do {
            return try showingProgress { observers in
                var observers = observers
                if let rejects { observers.onRejected = { try rejects.write($0) } }
                if let changes { observers.onChange = { try changes.write($0) } }
                return try work.run(observers)
            }
        } catch let error as ImportError where error.path == nil {
            throw ConfigurationError(error.description)
        }
    }

    static func showingProgress<Value>(_ work: (DatasetImport.Observers) throws -> Value) throws -> Value {
        let progress = ImportProgressDisplay()
        var observers = DatasetImport.Observers()
        observers.onProgress = { progress.show($0) }
        observers.onLine = { line in
            progress.endLine()
            Terminal.tell(line)
        }
        defer { progress.endLine() }
        return try work(observers)
    }
}

/// What a dry run says of an import that would be refused.
private struct RefusedImport: Error, CustomStringConvertible {
    let description: String
}

extension ImportOptions {
    init(from reader: inout SettingsReader, switches: Set<String>) throws(ConfigurationError) {
        let name = try Self.line("--dataset", maximumLength: 100, &reader)
        let license = try Self.line("--license", maximumLength: 200, &reader)
        guard let name else {
            throw ConfigurationError(
                "expected --dataset NAME and, for a new one, --license ID: places say where they come from and on which terms"
            )
        }
        // As `--explain` has them in the command to run.
        for (option, value, placeholder) in [("--dataset", name, "NAME"), ("--license", license, "ID")]
        where value == placeholder {
            throw ConfigurationError("\(option)=\(placeholder): put your own there")
        }
        // Without one, the dataset's own.
        self.init(dataset: DatasetDescription(name: name, license: license ?? ""))
        dataset.credit = try Self.line("--credit", maximumLength: 300, mayBeEmpty: true, &reader)
        dataset.url = reader.takeOption("--url")
        if let url = dataset.url, !url.isEmpty, !TableCheck.isWebsite(url) {
            throw ConfigurationError("--url=\(url): expected a URL of http or https, without user name")
        }
        maximumErrors = try Self.maximumErrors(from: &reader)
        addsCategories = switches.contains("--add-categories")
        removesVanished = switches.contains("--sync")
        if let text = reader.takeOption("--allow") {
            guard let allowed = ImportAllowances(option: text) else {
                throw ConfigurationError(
                    "--allow=\(text): expected removals=PERCENT%, empty, names, positions or members, several with commas "
                        + "between")
            }
            self.allowed = allowed
        }
        if switches.contains("--force") { (allowed.removals, allowed.isEmpty) = (1, true) }
        isDryRun = switches.contains("--dry-run")
    }

    static func maximumErrors(from reader: inout SettingsReader) throws(ConfigurationError) -> Int? {
        guard let text = reader.takeOption("--max-errors") else { return nil }
        guard let count = Int(text), count >= 0 else {
            throw ConfigurationError("--max-errors=\(text): expected a number of rows")
        }
        return count
    }

    private static func line(
        _ option: String, maximumLength: Int, mayBeEmpty: Bool = false, _ reader: inout SettingsReader
    ) throws(ConfigurationError) -> String? {
        guard let text = reader.takeOption(option) else { return nil }
        guard mayBeEmpty && text.isEmpty || TableCheck.isSingleLine(text, maximumLength: maximumLength) else {
            throw ConfigurationError(
                "\(option)=\(text): expected a line of at most \(maximumLength) characters")
        }
        return text
    }
}

extension ImportSource {
    init(
        paths: [String], from reader: inout SettingsReader, switches: Set<String>
    ) throws(ConfigurationError) {
        self.init(paths: paths)
        isUnconfined = switches.contains("--unconfined-source")
        guard paths.count(where: { $0 == "-" }) <= 1 else {
            throw ConfigurationError("-: standard input can be read once")
        }
        if let name = reader.takeOption("--format") {
            format = ImportFormat(rawValue: name)
            let names = ImportFormat.allCases.map(\.rawValue).joined(separator: ", ")
            if format == nil { throw ConfigurationError("--format=\(name): expected one of \(names)") }
        }
        encoding = try reader.takeOption("--encoding").map { name throws(ConfigurationError) in
            guard ImportSource.isEncoding(name) else {
                throw ConfigurationError("--encoding=\(name): expected one of those that iconv -l lists")
            }
            return name
        }
        if let text = reader.takeOption("--delimiter") { delimiter = try Self.delimiter(text) }
        if let text = reader.takeOption("--column") { columns = try Self.columns(text) }
        if let column = reader.takeOption("--id") { columns[.id] = column }
        if let text = reader.takeOption("--set") { fixedTexts = try Self.fixedTexts(text) }
        headerRow = try reader.takeOption("--header-row").map { text throws(ConfigurationError) in
            guard let row = Int(text), (1...1000).contains(row) else {
                throw ConfigurationError("--header-row=\(text): expected the number of a row, 1…1000")
            }
            return row
        }
        layer = reader.takeOption("--layer")
        referenceSystem = reader.takeOption("--crs")
        if let text = reader.takeOption("--clear") {
            let members = text.split(separator: ",", omittingEmptySubsequences: false)
                .map { ClearedMember(String($0)) }
            guard !members.contains(nil) else {
                throw ConfigurationError(
                    "--clear=\(text): expected address, website, featured, importance, names, other_names, operating_status, "
                        + "properties or properties.NAME, several with commas between")
            }
            cleared = Set(members.compactMap(\.self))
        }
        if let text = reader.takeOption("--properties") {
            properties = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            guard !properties.contains("") else {
                throw ConfigurationError(
                    "--properties=\(text): expected names of columns with commas between")
            }
        }
        mapping = reader.takeOption("--mapping")
        if let text = reader.takeOption("--table") {
            for part in text.split(separator: ",", omittingEmptySubsequences: false) {
                let names = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard names.count == 2, !names[0].isEmpty, !names[1].isEmpty else {
                    throw ConfigurationError(
                        "--table=\(text): expected NAME=FILE, several with commas between")
                }
                tables[String(names[0])] = String(names[1])
            }
        }
        if let text = reader.takeOption("--bbox") { boundingBox = try Self.box(text) }
        if let text = reader.takeOption("--category") {
            categories = Set(text.split(separator: ",", omittingEmptySubsequences: false).map(String.init))
            guard categories.allSatisfy(TableCheck.isCategory) else {
                throw ConfigurationError("--category=\(text): expected names such as cafe,art_gallery")
            }
        }
    }

    /// The same with the options of the dataset's last import, unless they are given; says which.
    func remembering(_ remembered: RememberedOptions?, _ invocation: Invocation) throws -> ImportSource {
        guard let remembered, !invocation.line.switches.contains("--reset-options") else { return self }
        let given = invocation.line.options
        let added = remembered.values.filter { given[$0.key] == nil }
        for (name, value) in remembered.values.sorted(by: { $0.key < $1.key }) {
            if let other = given[name], other != value {
                Terminal.printError("\(name) \(other.quotedForShell), before it was \(value.quotedForShell)")
            }
        }
        guard !added.isEmpty else { return self }
        let shown = added.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.quotedForShell)" }
        Terminal.printError("as before: \(shown.joined(separator: " ")); --reset-options takes none of these")
        var reader = SettingsReader(
            flags: given.merging(added) { given, _ in given }, environment: [:],
            switches: invocation.line.knownSwitches)
        return try ImportSource(paths: paths, from: &reader, switches: invocation.line.switches)
    }

    private static func delimiter(_ text: String) throws(ConfigurationError) -> UInt8 {
        let text = text == "tab" || text == "\\t" ? "\t" : text
        guard text.utf8.count == 1, let byte = text.utf8.first, byte < 0x80, !"\"\r\n\0".utf8.contains(byte)
        else { throw ConfigurationError("--delimiter=\(text): expected one character of ASCII, or tab") }
        return byte
    }

    private static func columns(_ text: String) throws(ConfigurationError) -> [ImportField: String] {
        guard let columns = [ImportField: String](option: text), columns[.names]?.last ?? "*" == "*" else {
            let fields = ImportField.allCases.map(\.rawValue).joined(separator: ", ")
            throw ConfigurationError(
                "--column=\(text): expected FIELD=COLUMN, several with commas between, each of the fields once, names with * at "
                    + "the end of the column: " + fields)
        }
        return columns
    }

    private static func fixedTexts(_ text: String) throws(ConfigurationError) -> [ImportField: String] {
        guard let texts = [ImportField: String](option: text),
            [.id, .names, .otherNames, .suppressed].allSatisfy({ texts[$0] == nil })
        else {
            throw ConfigurationError(
                "--set=\(text): expected FIELD=TEXT, such as category=airport, several with commas between")
        }
        return texts
    }

    private static func box(_ text: String) throws(ConfigurationError) -> BoundingBox {
        let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
        guard numbers.count == 4, let west = numbers[0], let south = numbers[1], let east = numbers[2],
            let north = numbers[3], let box = BoundingBox(west: west, south: south, east: east, north: north)
        else { throw ConfigurationError("--bbox=\(text): expected west,south,east,north in degrees") }
        return box
    }
}

/// Shows how far an import is: on one line of a terminal, elsewhere by a line for each step that lasts a second, and another
/// every five seconds while it lasts.
final class ImportProgressDisplay: Sendable {
    private struct State {
        var phase = ImportProgress.Phase.reading
        var phaseStart = ContinuousClock.now
        /// When the step's next line is due.
        var nextLine = ContinuousClock.now + ImportProgressDisplay.patience
        var isLineOpen = false
    }

    private static let (patience, interval) = (Duration.seconds(1), Duration.seconds(5))
    /// Returns to the line's start and clears the line (ECMA-48, EL).
    private static let newLine = "\r\u{1b}[K"

    private let isTerminal = isatty(STDERR_FILENO) == 1
    private let state = Lock(State())

    func show(_ progress: ImportProgress) {
        state.withLock { state in
            let now = ContinuousClock.now
            if progress.phase != state.phase {
                (state.phase, state.phaseStart, state.nextLine) = (progress.phase, now, now + Self.patience)
            }
            let text = progress.text(after: now - state.phaseStart)
            if isTerminal {
                Terminal.showProgress(Self.newLine + text)
                state.isLineOpen = true
            } else if now >= state.nextLine {
                Terminal.printError(text)
                state.nextLine = now + Self.interval
            }
        }
    }

    /// Clears the terminal's line, for other output.
    func endLine() {
        state.withLock { state in
            if state.isLineOpen { Terminal.showProgress(Self.newLine) }
            state.isLineOpen = false
        }
    }
}
