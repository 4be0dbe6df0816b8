/// One fault of one event of a batch, which is refused for it.
public struct EventFault: Hashable, Sendable, Codable {
    /// What is wrong, for programs.
    public struct Code: RawRepresentable, Hashable, Sendable, Codable {
        /// The code as it is sent, in kebab case.
        public let rawValue: String

        /// Makes a code of any text, known or not.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The item of the batch is not an object.
        public static let notAnEvent = Code(rawValue: "not-an-event")
        /// A member that every event has, or a parameter that this event has, is missing.
        public static let missing = Code(rawValue: "missing")
        /// The definition of the event doesn't have this parameter, and admits no other.
        public static let unknown = Code(rawValue: "unknown")
        /// The member is given twice.
        public static let repeated = Code(rawValue: "repeated")
        /// The member is of another type than the one that it should be.
        public static let wrongType = Code(rawValue: "wrong-type")
        /// The number is less or greater, or the text shorter or longer, than it may be.
        public static let outOfRange = Code(rawValue: "out-of-range")
        /// The text is none of those that the parameter may have.
        public static let notAChoice = Code(rawValue: "not-a-choice")
        /// The text is not a UUID.
        public static let notAUUID = Code(rawValue: "not-a-uuid")
        /// The text is not UTF-8, or has a NUL, a control character that isn't escaped or half a surrogate pair.
        public static let malformedText = Code(rawValue: "malformed-text")
        /// The value has more bytes, more members or more levels than it may.
        public static let tooLarge = Code(rawValue: "too-large")
    }

    /// Which event of the batch, from 0.
    public let index: Int
    /// What is wrong, for programs.
    public let code: Code
    /// What is wrong, for people. It never repeats what was sent.
    public let detail: String
    /// Which member or parameter, where it is one that is known: `user_id`, `page`.
    public let parameter: String?

    /// Makes a fault.
    public init(index: Int, code: Code, detail: String, parameter: String? = nil) {
        self.index = index
        self.code = code
        self.detail = detail
        self.parameter = parameter
    }
}
