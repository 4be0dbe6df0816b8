/// Reads settings from a command line and an environment, and remembers where each came from.
///
/// An option takes precedence over the environment, and that over the default. A value that can't be used is an error;
/// it is never replaced by the default.
public struct SettingsReader: Sendable {
    /// A setting as it was read, for `--print-config`.
    public struct Entry: Hashable, Sendable {
        /// The setting.
        public let name: SettingName
        /// The value in effect, or `(redacted)`; nil if the setting is absent.
        public let shownValue: String?
        /// `flag`, `environment` or `default`, or what the value follows from.
        public let origin: String
    }

    /// The settings that were read so far, in order.
    public private(set) var entries: [Entry] = []

    private var flags: [String: String]
    /// The options without a value that there are, and the options that were asked for.
    private var knownFlags: Set<String>
    private let environment: [String: String]

    /// Makes a reader of the options of a `CommandLineArguments` and of an environment.
    public init(flags: [String: String], environment: [String: String], switches: Set<String> = []) {
        knownFlags = switches
        self.flags = flags
        self.environment = environment
    }

    /// The value of a setting that has a default or is required.
    ///
    /// - Throws: `ConfigurationError` if the value can't be used, or if there is neither a value nor a default.
    public mutating func read<Value>(_ setting: Setting<Value>) throws(ConfigurationError) -> Value {
        guard let value = try readIfPresent(setting) else {
            throw ConfigurationError("\(setting.name) is not set (\(setting.purpose))")
        }
        return value
    }

    /// The value of a setting; nil if it is absent and has no default.
    ///
    /// An empty variable counts as absent, since compose files and unit files can't unset one.
    ///
    /// - Throws: `ConfigurationError` if the value can't be used.
    public mutating func readIfPresent<Value>(
        _ setting: Setting<Value>
    ) throws(ConfigurationError) -> Value? {
        let text: String?
        let origin: String
        let name: String
        if let value = flags.removeValue(forKey: setting.name.flag) {
            (text, origin, name) = (value, "flag", setting.name.flag)
        } else if let value = environment[setting.name.rawValue], !value.isEmpty {
            (text, origin, name) = (value, "environment", setting.name.rawValue)
        } else {
            (text, origin, name) = (setting.defaultText, "default", setting.name.rawValue)
        }
        let isHidden = setting.isSecret && text?.isEmpty == false
        entries.append(
            Entry(name: setting.name, shownValue: isHidden ? "(redacted)" : text, origin: origin))
        guard let text else { return nil }
        do throws(SettingRejection) {
            return try setting.parse(text)
        } catch {
            let shown = setting.isSecret ? "(redacted)" : text
            throw ConfigurationError("\(name)=\(shown): expected \(error.expected)")
        }
    }

    /// The value of a setting. If the setting is absent, its value is one that follows from something else.
    ///
    /// - Parameters:
    ///   - fallback: the value if the setting is absent.
    ///   - text: how `fallback` is written.
    ///   - origin: what `fallback` follows from.
    /// - Throws: `ConfigurationError` if the value can't be used.
    public mutating func read<Value>(
        _ setting: Setting<Value>, unlessSet fallback: Value, shownAs text: String, origin: String
    ) throws(ConfigurationError) -> Value {
        if let value = try readIfPresent(setting) { return value }
        entries[entries.count - 1] = Entry(name: setting.name, shownValue: text, origin: origin)
        return fallback
    }

    /// Takes an option that isn't a setting, such as `--output`; nil if it wasn't given.
    public mutating func takeOption(_ flag: String) -> String? {
        knownFlags.insert(flag)
        return flags.removeValue(forKey: flag)
    }

    /// Refuses an option whose name is one of `options` with a typo, so that this is said before what is missing for it.
    ///
    /// - Throws: `ConfigurationError` with the first of them.
    public func refuseMisspelt(_ options: Set<String>) throws(ConfigurationError) {
        let settings = SettingName.allCases.map(\.flag)
        for flag in flags.keys.sorted() where !options.contains(flag) && !settings.contains(flag) {
            guard let meant = SettingName.nearest(to: flag, among: options.union(knownFlags)) else {
                continue
            }
            throw ConfigurationError("unknown option \(flag); did you mean \(meant)?")
        }
    }

    /// Refuses the options that weren't read.
    ///
    /// - Throws: `ConfigurationError` with the first of them.
    public func refuseUnknownFlags() throws(ConfigurationError) {
        guard let unknown = flags.keys.sorted().first else { return }
        let settings = entries.map(\.name.flag)
        if let meant = SettingName.nearest(to: unknown, among: knownFlags.union(settings)) {
            throw ConfigurationError("unknown option \(unknown); did you mean \(meant)?")
        }
        let known = settings.sorted().joined(separator: " ")
        throw ConfigurationError("unknown option \(unknown); known options: \(known)")
    }

    /// The settings in effect and where they came from, one a line, with secrets redacted.
    public var summary: String { summary { _ in true } }

    /// The same for some of the settings.
    package func summary(where isIncluded: (Entry) -> Bool) -> String {
        entries.filter(isIncluded).map { "\($0.name)=\($0.shownValue ?? "")  # \($0.origin)" }
            .joined(separator: "\n")
    }
}

/// A setting or an argument that can't be used; `description` is one line for the person who set it.
public struct ConfigurationError: Error, Hashable, CustomStringConvertible {
    /// The exit code of a command that was called wrongly (`EX_USAGE`, sysexits(3)).
    public static let exitCode: Int32 = 64

    /// The setting's name, its value unless it is secret, and what is expected.
    public let description: String

    /// Makes an error; line breaks become spaces.
    public init(_ description: String) {
        self.description = description.onOneLine
    }
}

extension String {
    /// Replaces scalars by texts; a scalar for which `replacement` returns nil stays as it is.
    ///
    /// The standard library's `replacing` compares characters instead, and would miss some scalars: a quote with a
    /// combining mark behind it is another character than a quote, and CR with LF is another one than LF.
    package func replacingScalars(_ replacement: (Unicode.Scalar) -> StaticString?) -> String {
        var text = ""
        for scalar in unicodeScalars {
            if let replacement = replacement(scalar) {
                text += replacement.description
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    /// The text on one line.
    package var onOneLine: String { replacingScalars { $0 == "\r" || $0 == "\n" ? " " : nil } }
}
