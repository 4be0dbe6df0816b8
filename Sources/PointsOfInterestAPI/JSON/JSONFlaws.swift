/// What JSON can say and the database can't store, or not without surprise.
struct JSONFlaws: OptionSet {
    let rawValue: UInt8

    /// Text that is not UTF-8, has a NUL, a bare control character or half a surrogate pair.
    static let text = JSONFlaws(rawValue: 1)
    /// A name that an object has twice.
    static let repetition = JSONFlaws(rawValue: 2)
    /// A number beyond `Double`.
    static let number = JSONFlaws(rawValue: 4)
    /// More members or levels than `EventLimits` admits.
    static let size = JSONFlaws(rawValue: 8)
}
