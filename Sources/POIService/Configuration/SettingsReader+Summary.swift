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
