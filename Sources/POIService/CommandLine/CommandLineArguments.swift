/// A command line, taken apart: plain words, options with a value, and switches.
public struct CommandLineArguments: Hashable, Sendable {
    /// The words that are no options, in order: a command and its subcommand.
    public private(set) var words: [String] = []
    /// Options with their values: `--port 80` and `--port=80` alike.
    public private(set) var options: [String: String] = [:]
    /// Options that take no value and were given.
    public private(set) var switches: Set<String> = []

    /// Takes `arguments` apart.
    ///
    /// - Parameter switches: the options that take no value, `--dry-run` for instance.
    /// - Throws: `ConfigurationError` for an option that is repeated, or whose value is missing or
    ///   unasked for.
    public init(_ arguments: [String], switches known: Set<String>) throws(ConfigurationError) {
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
                throw ConfigurationError("\(name) needs a value")
            }
        }
    }
}

/// What a command was called with.
package struct Invocation {
    /// The command line, taken apart.
    package let line: CommandLineArguments
    /// The variables that stand in for options.
    package let environment: [String: String]

    /// A call of a command.
    package init(line: CommandLineArguments, environment: [String: String]) {
        self.line = line
        self.environment = environment
    }

    /// A reader of this call's settings.
    package var settings: SettingsReader { SettingsReader(flags: line.options, environment: environment) }

    /// Refuses words behind the command's own.
    package func refuseWords(after count: Int) throws(ConfigurationError) {
        guard line.words.count <= count else {
            throw ConfigurationError("unexpected \(line.words[count]); see --help")
        }
    }
}
