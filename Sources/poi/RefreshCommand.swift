import EventLoop
import POIDatabase
import PlaceImport
import Program

/// `poi refresh DATASET`: downloads a dataset's file from where it comes from, and imports it.
enum RefreshCommand {
    static let help = """
        poi refresh DATASET --source-file FILE [OPTION…]
        poi refresh DATASET [OPTION…]
        poi refresh DATASET --source=

        Downloads the dataset's file, if it has changed, and imports it as poi import FILE --dataset DATASET --sync does, with
        the options of its last import. How that went is in poi datasets, and for servers in their metrics.

        --source URL              where the file is, by http or https; kept once a file from there was imported. Empty: forgets
                                  it. A URL with a password or a token belongs in a file, --source-file FILE, or in POI_SOURCE
        --max-time 1h, --max-size 4GiB, --stall-time 60s
                                  how long the download may take, how large the file may be, and for how long less than 1 kB
                                  a second may come
        --dry-run                 downloads the file, and says what an import would do; changes nothing
        --add-categories, --allow WHAT,…, --credit TEXT, --force, --license ID, --max-errors N, --rejects FILE, --report FILE,
        --reset-options, --url URL, and all options about the file
                                  as for poi import; with one of them, the file is downloaded in any case

        It needs the role that imports, and curl. Documentation/import.md says more.
        """

    private static let switches: Set<String> = [
        "--add-categories", "--dry-run", "--force", "--print-config", "--reset-options",
    ]
    /// Those that a file which is still the same can be read without.
    private static let indifferentOptions: Set<String> = [
        "--database-url", "--database-url-file", "--source", "--source-file", "--max-time", "--max-size",
        "--stall-time",
    ]

    static func run(_ invocation: Invocation) throws {
        guard invocation.line.words.count > 1 else {
            throw ConfigurationError("expected poi refresh DATASET; see poi refresh --help")
        }
        try invocation.refuseWords(after: 2)
        let (dataset, given) = (invocation.line.words[1], invocation.line)
        var others = given.switches.subtracting(switches)
        if given.options["--dataset"] != nil { others.insert("--dataset") }
        if let other = others.min() {
            throw ConfigurationError("poi refresh takes no \(other); see poi refresh --help")
        }
        let forgets = given.options["--source"] == ""
        let flags = given.options.merging(["--dataset": dataset]) { $1 }.filter {
            !forgets || $0.key != "--source"
        }
        var reader = SettingsReader(
            flags: flags, environment: invocation.environment, switches: given.knownSwitches)
        let givenURL = forgets ? nil : try reader.readIfPresent(.source)
        let limits = try DownloadLimits(from: &reader)
        let source = try ImportSource(paths: [], from: &reader, switches: given.switches)
        var options = try ImportOptions(from: &reader, switches: given.switches)
        options.removesVanished = true
        let paths = (rejects: reader.takeOption("--rejects"), report: reader.takeOption("--report"))
        let database = try DatabaseConfiguration(from: &reader)
        options.historyDays = try reader.read(.historyRetention)
        if try invocation.printsConfiguration(reader) { return }

        let refresh = DatasetRefresh(database, dataset: dataset)
        if forgets {
            let had = try refresh.forget()
            return Terminal.tell("\(dataset) \(had ? "has no source any more" : "had no source")")
        }
        let known = try refresh.source()
        guard let url = givenURL ?? known.flatMap({ DownloadURL($0.url) }) else {
            throw ConfigurationError("expected --source URL, since \(dataset) has none yet")
        }
        let remembering = try ImportCommand.remembering(source, &options, database, invocation)
        let isIndifferent = given.switches.isEmpty && indifferentOptions.isSuperset(of: given.options.keys)
        let tag = isIndifferent && url.text == known?.url ? known?.tag : nil
        func attempt() throws -> (tag: DownloadTag, run: Int64?)? {
            let download = try Download(url, unless: tag, limits: limits)
            return try run(download, from: url, remembering, options, database, paths)
        }
        guard !options.isDryRun else {
            _ = try attempt()
            return
        }
        try refresh.begin()
        do {
            switch try attempt() {
            case nil: try refresh.foundUnchanged()
            case (let tag, let run)?: try refresh.succeeded(url, tag, run: run)
            }
        } catch {
            try? refresh.failed("\(error)")
            throw error
        }
    }

    /// Downloads the file and imports it; returns its tag and the import's number, which a dry run hasn't. Nil where the file
    /// hasn't changed.
    private static func run(
        _ download: Download, from url: DownloadURL, _ source: ImportSource, _ options: ImportOptions,
        _ database: DatabaseConfiguration, _ paths: (rejects: String?, report: String?)
    ) throws -> (tag: DownloadTag, run: Int64?)? {
        try endOnSignal(download)
        return try withExtendedLifetime(download) {
            guard case .file(let path, let tag) = try download.run() else {
                Terminal.tell("\(url) has not changed: nothing was imported")
                return nil
            }
            var source = source
            (source.paths, source.name) = ([path], url.description)
            // The file's own path says nothing to people.
            func named(_ error: any Error) -> String { "\(error)".replacing(path, with: url.description) }
            do {
                return (tag, try ImportCommand.run(source, options, database, paths, nil).run)
            } catch let error as ConfigurationError {
                throw ConfigurationError(named(error))
            } catch {
                throw RefreshFailure(description: named(error))
            }
        }
    }

    /// Lets signals end the download and, by themselves, the import, but not the process: the folder of the file goes first.
    private static func endOnSignal(_ download: Download) throws {
        let loop = try EventLoopThread.start(name: "poi-signals").loop
        loop.execute { [weak download] in
            guard let signals = try? LoopBound(StopSignals(loop: loop), loop: loop) else { return }
            Task(executorPreference: loop) {
                _ = await signals.value.first()
                download?.cancel()
            }
        }
    }
}

private struct RefreshFailure: Error, CustomStringConvertible {
    let description: String
}

extension Setting where Value == DownloadURL {
    fileprivate static var source: Setting {
        Setting(.source, "where a dataset's file is downloaded from", isSecret: true) {
            (text) throws(SettingRejection) in
            guard let url = DownloadURL(text) else {
                throw SettingRejection(
                    expected: "a URL of http or https without #, of at most 4096 characters of ASCII")
            }
            return url
        }
    }
}

extension DownloadLimits {
    fileprivate init(from reader: inout SettingsReader) throws(ConfigurationError) {
        self.init()
        if let time = try Self.seconds("--max-time", &reader) { seconds = time }
        if let time = try Self.seconds("--stall-time", &reader) { stallSeconds = time }
        if let text = reader.takeOption("--max-size") {
            guard let bytes = Setting.bytes(text), bytes > 0 else {
                throw ConfigurationError("--max-size=\(text): expected bytes, such as 512MiB or 4GiB")
            }
            self.bytes = bytes
        }
    }

    private static func seconds(
        _ option: String, _ reader: inout SettingsReader
    ) throws(ConfigurationError) -> Int? {
        guard let text = reader.takeOption(option) else { return nil }
        guard let time = Duration(settingText: text), (.seconds(1)...(.seconds(86_400))).contains(time) else {
            throw ConfigurationError("\(option)=\(text): expected a time such as 90s or 1h, at most 24h")
        }
        return Int(time.components.seconds)
    }
}
