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
