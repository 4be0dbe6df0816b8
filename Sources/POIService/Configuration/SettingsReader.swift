/// Reads settings from a command line and an environment, and remembers where each came from.
///
/// A flag wins over the environment, which wins over the default. A value that can't be used is an
/// error, never a silent default.
public struct SettingsReader: Sendable {
    /// A setting as it was read, for `--print-config`.
    public struct Entry: Hashable, Sendable {
        /// The name in the environment.
        public let variable: String
        /// The value in effect, or `(redacted)`; nil where the setting is absent.
        public let shownValue: String?
        /// `flag`, `environment` or `default`.
        public let origin: String
    }

    /// What was read so far, in order.
    public private(set) var entries: [Entry] = []

    private var flags: [String: String]
    private let environment: [String: String]

    /// Reads from the flags of a `CommandLineArguments` and an environment.
    public init(flags: [String: String], environment: [String: String]) {
        self.flags = flags
        self.environment = environment
    }

    /// The value of a setting that has a default.
    public mutating func read<Value>(_ setting: Setting<Value>) throws(ConfigurationError) -> Value {
        guard let value = try readIfPresent(setting) else {
            throw ConfigurationError("\(setting.variable) is not set (\(setting.purpose))")
        }
        return value
    }

    /// The value of a setting; nil where it is absent and has no default.
    ///
    /// An empty variable counts as absent: that is how compose files and unit files unset one.
    public mutating func readIfPresent<Value>(
        _ setting: Setting<Value>
    ) throws(ConfigurationError) -> Value? {
        let text: String?
        let origin: String
        let name: String
        if let value = flags.removeValue(forKey: setting.flag) {
            (text, origin, name) = (value, "flag", setting.flag)
        } else if let value = environment[setting.variable], !value.isEmpty {
            (text, origin, name) = (value, "environment", setting.variable)
        } else {
            (text, origin, name) = (setting.defaultText, "default", setting.variable)
        }
        let isHidden = setting.isSecret && text?.isEmpty == false
        entries.append(
            Entry(variable: setting.variable, shownValue: isHidden ? "(redacted)" : text, origin: origin))
        guard let text else { return nil }
        do throws(SettingRejection) {
            return try setting.parse(text)
        } catch {
            let shown = setting.isSecret ? "(redacted)" : text
            throw ConfigurationError("\(name)=\(shown): expected \(error.expected)")
        }
    }

    /// Takes an option of the command itself, which is no setting; nil where it wasn't given.
    public mutating func takeOption(_ flag: String) -> String? {
        flags.removeValue(forKey: flag)
    }

    /// Refuses flags that no setting has asked for.
    public func refuseUnknownFlags() throws(ConfigurationError) {
        guard let unknown = flags.keys.sorted().first else { return }
        let known = entries.map { SettingName.flag(of: $0.variable) }.sorted().joined(separator: " ")
        throw ConfigurationError("unknown option \(unknown); there are: \(known)")
    }
}

extension SettingsReader {
    /// The settings in effect, a line each, with where they came from; secrets redacted.
    public var summary: String { summary { _ in true } }

    /// The lines of some of the settings.
    package func summary(where isIncluded: (Entry) -> Bool) -> String {
        entries.filter(isIncluded).map { "\($0.variable)=\($0.shownValue ?? "")  # \($0.origin)" }
            .joined(separator: "\n")
    }
}

extension SettingsReader.Entry {
    /// The name on the command line.
    package var flag: String { SettingName.flag(of: variable) }
}

/// A setting that can't be used, as one line for the person who set it.
public struct ConfigurationError: Error, Hashable, CustomStringConvertible {
    /// The exit code of a command that was called wrongly (`EX_USAGE`, sysexits(3)).
    public static let exitCode: Int32 = 64

    /// The line: the setting's name, its value where it is no secret, and what would be right.
    public let description: String

    /// Says what is wrong, in one line.
    public init(_ description: String) {
        self.description = description.replacing("\n", with: " ")
    }
}
