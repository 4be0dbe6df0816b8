/// Reads settings from a command line and an environment, and remembers where each came from.
///
/// An option takes precedence over the environment, and that over the default. A value that can't be used is an error;
/// it is never replaced by the default.
package struct SettingsReader: Sendable {
    /// A setting as it was read, for `--print-config`.
    package struct Entry: Hashable, Sendable {
        package let name: SettingName
        /// The value in effect, or `(redacted)`; nil if the setting is absent.
        package let shownValue: String?
        /// `flag`, `environment` or `default`, or what the value follows from.
        package let origin: String
    }

    package private(set) var entries: [Entry] = []

    private var flags: [String: String]
    /// The options without a value that there are, and the options that were asked for.
    private var knownFlags: Set<String>
    private let environment: [String: String]

    package init(flags: [String: String], environment: [String: String], switches: Set<String> = []) {
        knownFlags = switches
        self.flags = flags
        self.environment = environment
    }

    /// For a setting that has a default or is required.
    package mutating func read<Value>(_ setting: Setting<Value>) throws(ConfigurationError) -> Value {
        guard let value = try readIfPresent(setting) else {
            throw ConfigurationError("\(setting.name) is not set (\(setting.purpose))")
        }
        return value
    }

    /// Nil if the setting is absent and has no default. Throws if there are both a value and a file.
    ///
    /// An empty variable counts as absent, since compose files and unit files can't unset one. A secret may be in a file,
    /// whose path is then the value of the setting with `_FILE` behind its name.
    package mutating func readIfPresent<Value>(
        _ setting: Setting<Value>
    ) throws(ConfigurationError) -> Value? {
        let given = take(setting.name)
        let text = given?.text ?? setting.defaultText
        let isHidden = setting.isSecret && text?.isEmpty == false
        entries.append(
            Entry(
                name: setting.name, shownValue: isHidden ? "(redacted)" : text,
                origin: given?.origin ?? "default"))
        if setting.isSecret, let file = setting.name.file, let path = readPath(file) {
            guard given == nil else {
                throw ConfigurationError("\(setting.name) and \(file): expected only one of them")
            }
            let text = try SecretFile.text(at: path.text, of: path.name)
            return try value(setting, text, from: path.name, shownAs: path.text)
        }
        guard let text else { return nil }
        return try value(
            setting, text, from: given?.name ?? setting.name.rawValue,
            shownAs: setting.isSecret ? "(redacted)" : text)
    }

    private mutating func take(_ name: SettingName) -> (text: String, name: String, origin: String)? {
        if let text = flags.removeValue(forKey: name.flag) { return (text, name.flag, "flag") }
        guard let text = environment[name.rawValue], !text.isEmpty else { return nil }
        return (text, name.rawValue, "environment")
    }

    private mutating func readPath(_ name: SettingName) -> (text: String, name: String, origin: String)? {
        let path = take(name)
        entries.append(Entry(name: name, shownValue: path?.text, origin: path?.origin ?? "default"))
        return path
    }

    private func value<Value>(
        _ setting: Setting<Value>, _ text: String, from name: String, shownAs shown: String
    ) throws(ConfigurationError) -> Value {
        do throws(SettingRejection) {
            return try setting.parse(text)
        } catch {
            throw ConfigurationError("\(name)=\(shown): expected \(error.expected)")
        }
    }

    /// If the setting is absent, its value is one that follows from something else.
    ///
    /// - Parameters:
    ///   - text: how `fallback` is written.
    ///   - origin: what `fallback` follows from.
    package mutating func read<Value>(
        _ setting: Setting<Value>, unlessSet fallback: Value, shownAs text: String, origin: String
    ) throws(ConfigurationError) -> Value {
        if let value = try readIfPresent(setting) { return value }
        entries[entries.count - 1] = Entry(name: setting.name, shownValue: text, origin: origin)
        return fallback
    }

    /// Takes an option that isn't a setting, such as `--output`.
    package mutating func takeOption(_ flag: String) -> String? {
        knownFlags.insert(flag)
        return flags.removeValue(forKey: flag)
    }

    /// Refuses an option whose name is one of `options` with a typo, so that this is said before what is missing for it.
    package func refuseMisspelt(_ options: Set<String>) throws(ConfigurationError) {
        let settings = SettingName.allCases.map(\.flag)
        for flag in flags.keys.sorted() where !options.contains(flag) && !settings.contains(flag) {
            guard let meant = SettingName.nearest(to: flag, among: options.union(knownFlags)) else {
                continue
            }
            throw ConfigurationError("unknown option \(flag); did you mean \(meant)?")
        }
    }

    /// Refuses the options that weren't read.
    package func refuseUnknownFlags() throws(ConfigurationError) {
        guard let unknown = flags.keys.sorted().first else { return }
        if let fate = SettingName.fate(ofRemoved: unknown) {
            throw ConfigurationError("\(unknown) was removed: \(fate)")
        }
        let settings = entries.map(\.name.flag)
        if let meant = SettingName.nearest(to: unknown, among: knownFlags.union(settings)) {
            throw ConfigurationError("unknown option \(unknown); did you mean \(meant)?")
        }
        let known = settings.sorted().joined(separator: " ")
        throw ConfigurationError("unknown option \(unknown); known options: \(known)")
    }

    /// One a line, with where each came from, and secrets redacted.
    package var summary: String { summary { _ in true } }

    package func summary(where isIncluded: (Entry) -> Bool) -> String {
        entries.filter(isIncluded).map { "\($0.name)=\($0.shownValue ?? "")  # \($0.origin)" }
            .joined(separator: "\n")
    }
}

/// A setting or an argument that can't be used; `description` is one line for the person who set it.
package struct ConfigurationError: Error, Hashable, CustomStringConvertible {
    /// The exit code of a command that was called wrongly (`EX_USAGE`, sysexits(3)).
    package static let exitCode: Int32 = 64

    /// The setting's name, its value unless it is secret, and what is expected.
    package let description: String

    /// Line breaks become spaces.
    package init(_ description: String) {
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

    package var onOneLine: String { replacingScalars { $0 == "\r" || $0 == "\n" ? " " : nil } }
}
