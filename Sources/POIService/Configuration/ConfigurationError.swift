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
