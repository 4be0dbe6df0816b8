/// A parsed command line: plain words, options with a value, and switches.
public struct CommandLineArguments: Hashable, Sendable {
    /// The words that aren't options, in order: a command and its subcommand.
    public private(set) var words: [String] = []
    /// Options with their values, given as `--port 80` or `--port=80`.
    public private(set) var options: [String: String] = [:]
    /// The switches that were given: options without a value.
    public private(set) var switches: Set<String> = []
    /// The switches that there are.
    package let knownSwitches: Set<String>

    /// Parses `arguments`.
    ///
    /// - Parameter switches: the options that take no value, such as `--dry-run`.
    /// - Throws: `ConfigurationError` for an option that is repeated, an option without its value, and a switch with a
    ///   value.
    public init(_ arguments: [String], switches known: Set<String>) throws(ConfigurationError) {
        knownSwitches = known
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            guard argument.hasPrefix("--") else {
                words.append(argument)
                continue
            }
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts[0])
            guard options[name] == nil, !switches.contains(name) else {
                throw ConfigurationError("\(name) is given twice")
            }
            if known.contains(name) {
                guard parts.count == 1 else { throw ConfigurationError("\(name) takes no value") }
                switches.insert(name)
            } else if parts.count == 2 {
                options[name] = String(parts[1])
            } else if let value = rest.popFirst(), !value.hasPrefix("--") {
                options[name] = value
            } else {
                let meant = SettingName.nearest(to: name, among: known)
                throw ConfigurationError(
                    "\(name) needs a value" + (meant.map { "; did you mean \($0)?" } ?? "; see --help"))
            }
        }
    }
}

/// The arguments and the environment of a command.
package struct Invocation {
    /// The parsed command line.
    package let line: CommandLineArguments
    /// The environment, whose variables may replace options.
    package let environment: [String: String]

    /// Makes an invocation.
    package init(line: CommandLineArguments, environment: [String: String]) {
        self.line = line
        self.environment = environment
    }

    /// A reader of the settings.
    package var settings: SettingsReader {
        SettingsReader(flags: line.options, environment: environment, switches: line.knownSwitches)
    }

    /// Refuses surplus words.
    ///
    /// - Throws: `ConfigurationError` if there are more than `count` words.
    package func refuseWords(after count: Int) throws(ConfigurationError) {
        guard line.words.count <= count else {
            throw ConfigurationError("unexpected \(line.words[count]); see --help")
        }
    }
}
