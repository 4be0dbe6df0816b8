/// One value of an event, as its definition has it.
public struct EventParameter: Hashable, Sendable {
    /// What a value may be.
    public enum Kind: Hashable, Sendable {
        /// A text, with the least and the greatest number of Unicode scalars.
        case text(length: ClosedRange<Int>)
        /// One of a few texts, and no other.
        case choice([String])
        /// A text for which these are known; newer apps have more. At most so many Unicode scalars.
        case openChoice([String], length: ClosedRange<Int>)
        /// A whole number.
        case integer(ClosedRange<Int>)
        /// A number.
        case number(ClosedRange<Double>)
        /// True or false.
        case boolean
    }

    /// The value's name, in snake case, kebab case or camel case.
    public let name: String
    /// What the value is, in a sentence.
    public let description: String
    /// What the value may be.
    public let kind: Kind
    /// Whether every such event has it.
    public let isRequired: Bool

    /// Makes a parameter.
    public init(name: String, description: String, kind: Kind, isRequired: Bool) {
        self.name = name
        self.description = description
        self.kind = kind
        self.isRequired = isRequired
    }

    /// A text without a `maxLength` is bounded by the value that it is in.
    public static let anyLength = 0...EventLimits.valueBytes
}
