extension EventValue {
    /// Reads a whole document.
    ///
    /// - Throws: where it ends being JSON, or is JSON that can't be kept.
    init(json bytes: UnsafeBufferPointer<UInt8>) throws(JSONScanner.SyntaxError) {
        var checker = JSONScanner(bytes)
        checker.skipBlanks()
        let start = checker.position
        try checker.value()
        checker.skipBlanks()
        guard checker.isAtEnd else { throw checker.fail("the end") }
        if checker.flaws.contains(.repetition) { throw checker.fail("no name given twice") }
        if checker.flaws.contains(.text) { throw checker.fail("no malformed text") }
        guard checker.flaws.isEmpty else { throw checker.fail("nothing as large") }
        var reader = JSONScanner(bytes, from: start)
        self = try reader.tree()
    }
}

extension JSONScanner {
    /// Reads a value that `value()` found without a flaw, and so of few levels.
    fileprivate mutating func tree() throws(SyntaxError) -> EventValue {
        switch next {
        case UInt8(ascii: "\""): return .string(try string().decoded(in: bytes))
        case UInt8(ascii: "{"):
            var members: [String: EventValue] = [:]
            try object { (name, scanner) throws(SyntaxError) in
                members[name.decoded(in: scanner.bytes)] = try scanner.tree()
            }
            return .object(members)
        case UInt8(ascii: "["):
            var values: [EventValue] = []
            try array { (scanner) throws(SyntaxError) in values.append(try scanner.tree()) }
            return .array(values)
        case UInt8(ascii: "t"):
            try literal("true")
            return .boolean(true)
        case UInt8(ascii: "f"):
            try literal("false")
            return .boolean(false)
        case UInt8(ascii: "n"):
            try literal("null")
            return .null
        default:
            let range = try number()
            if let whole = integer(ofNumber: range) { return .integer(whole) }
            return .number(value(ofNumber: range))
        }
    }
}
