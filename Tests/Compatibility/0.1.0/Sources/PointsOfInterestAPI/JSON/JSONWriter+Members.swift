extension JSONWriter {
    /// Writes a member of an object; leaves it out if it has no value.
    public mutating func member(_ name: StaticString, _ string: String?) {
        guard let string else { return }
        self.name(name)
        value(string)
    }

    /// Writes a member of an object; leaves it out if it has no value or is not finite.
    public mutating func member(_ name: StaticString, _ number: Double?) {
        guard let number, number.isFinite else { return }
        self.name(name)
        value(number)
    }

    /// Writes a member of an object.
    public mutating func member(_ name: StaticString, _ number: Int) {
        self.name(name)
        value(number)
    }

    /// Writes a member of an object.
    public mutating func member(_ name: StaticString, _ flag: Bool) {
        self.name(name)
        value(flag)
    }
}
