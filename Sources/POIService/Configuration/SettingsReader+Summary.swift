extension SettingsReader {
    /// The settings in effect, a line each, with where they came from; secrets redacted.
    public var summary: String {
        entries.map { "\($0.variable)=\($0.shownValue ?? "")  # \($0.origin)" }.joined(separator: "\n")
    }
}
