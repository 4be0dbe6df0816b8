extension JSONScanner {
    /// Reads a number (RFC 8259, section 6) and answers where it stands.
    ///
    /// One beyond `Double`, of more than 100 digits or with an exponent of more than three is a flaw: each reader
    /// would make another number of it, and PostgreSQL's `numeric` has an end, too.
    mutating func number() throws(SyntaxError) -> Range<Int> {
        let start = position
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")), digits() == 0 {
            throw fail("a value")
        }
        if take(UInt8(ascii: ".")), digits() == 0 {
            throw fail("a digit")
        }
        var exponent = 0..<0
        if next | 0x20 == UInt8(ascii: "e") {
            advance()
            if !take(UInt8(ascii: "-")) { _ = take(UInt8(ascii: "+")) }
            let first = position
            guard digits() > 0 else { throw fail("a digit") }
            exponent = first..<position
        }
        let range = start..<position
        if range.count > 100 || !exponent.isEmpty && !isHeld(range, exponent: exponent) {
            flaws.formUnion(.number)
        }
        return range
    }

    /// The value of a number that was read; infinite where it is a flaw.
    func value(ofNumber range: Range<Int>) -> Double {
        DecimalNumber.parse(UnsafeBufferPointer(rebasing: bytes[range])) ?? .infinity
    }

    /// The value of a number that was read, if it is whole and an `Int`: `3`, `3.0` and `3e0` are.
    func integer(ofNumber range: Range<Int>) -> Int? {
        switch DecimalNumber.parseInteger(UnsafeBufferPointer(rebasing: bytes[range])) {
        case .integer(let number): number
        case .tooLarge, .notAnInteger: Int(exactly: value(ofNumber: range))
        }
    }

    private func isHeld(_ range: Range<Int>, exponent: Range<Int>) -> Bool {
        exponent.count <= 3 && value(ofNumber: range).isFinite
    }

    private mutating func digits() -> Int {
        let start = position
        while next >= UInt8(ascii: "0"), next <= UInt8(ascii: "9") { advance() }
        return position - start
    }
}
