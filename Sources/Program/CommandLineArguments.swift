/// A parsed command line: plain words, options with a value, and switches.
package struct CommandLineArguments: Hashable, Sendable {
    /// A command and its subcommand.
    package private(set) var words: [String] = []
    /// Given as `--port 80` or `--port=80`.
    package private(set) var options: [String: String] = [:]
    /// Options without a value that were given.
    package private(set) var switches: Set<String> = []
    package let knownSwitches: Set<String>

    /// Throws for an option that is repeated, an option without its value, and a switch with a value.
    ///
    /// - Parameter switches: the options that take no value, such as `--dry-run`.
    package init(_ arguments: [String], switches known: Set<String>) throws(ConfigurationError) {
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

package struct Invocation {
    package let line: CommandLineArguments
    /// Its variables may replace options.
    package let environment: [String: String]

    package init(line: CommandLineArguments, environment: [String: String]) {
        self.line = line
        self.environment = environment
    }

    package var settings: SettingsReader {
        SettingsReader(flags: line.options, environment: environment, switches: line.knownSwitches)
    }

    /// Throws if there are more than `count` words.
    package func refuseWords(after count: Int) throws(ConfigurationError) {
        guard line.words.count <= count else {
            throw ConfigurationError("unexpected \(line.words[count]); see --help")
        }
    }
}
