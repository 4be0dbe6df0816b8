/// One setting of the service: its names, its default and how its text is read.
public struct Setting<Value: Sendable>: Sendable {
    /// The name in the environment, `POI_LOOPS` for instance.
    public let variable: String
    /// What the setting is for, in half a sentence; for `--help` and the README's table.
    public let purpose: String
    /// The default as text; nil where the setting is optional and absent.
    public let defaultText: String?
    /// Whether the value must never be shown.
    public let isSecret: Bool
    let parse: @Sendable (String) throws(SettingRejection) -> Value

    init(
        _ variable: String, _ purpose: String, default defaultText: String? = nil, isSecret: Bool = false,
        parse: @escaping @Sendable (String) throws(SettingRejection) -> Value
    ) {
        self.variable = variable
        self.purpose = purpose
        self.defaultText = defaultText
        self.isSecret = isSecret
        self.parse = parse
    }

    /// The name on the command line: `POI_LOOPS` is `--loops`, `DATABASE_URL` is `--database-url`.
    public var flag: String { SettingName.flag(of: variable) }
}

/// Why a text is no value of a setting: what would be right instead.
struct SettingRejection: Error {
    let expected: String
}

/// How the two names of a setting belong together.
enum SettingName {
    static func flag(of variable: String) -> String {
        let name = variable.hasPrefix("POI_") ? variable.dropFirst(4) : variable[...]
        return "--" + name.lowercased().replacing("_", with: "-")
    }
}
