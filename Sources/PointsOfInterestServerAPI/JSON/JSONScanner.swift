import Bytes
import PointsOfInterestAPI

/// Reads JSON (RFC 8259) from bytes, token by token, without Foundation and without copies.
///
/// It throws where the syntax is wrong. JSON that can't be stored (half a surrogate pair, a NUL, a name given twice, a
/// number beyond `Double`, too many levels) is recorded in `flaws` and skipped, so that the caller can say in which
/// part of a document it is.
package struct JSONScanner {
    /// The first byte of a document that isn't JSON.
    package struct SyntaxError: Error, Hashable {
        package let offset: Int
        /// What should be there.
        package let expected: StaticText

        package struct StaticText: Hashable, ExpressibleByStringLiteral {
            package let text: String
            package init(stringLiteral text: String) { self.text = text }
        }

        var reason: String { "the body is not JSON: there should be \(expected.text) at byte \(offset)" }
    }

    package let bytes: UnsafeBufferPointer<UInt8>
    /// Where the next byte is.
    package private(set) var position: Int
    /// The flaws of what was read since the caller last emptied this set.
    package var flaws: JSONFlaws = []
    /// The members of all objects that are open, to find repeated names. After `value(atMost:)` has read an object without
    /// flaws, they are its members.
    private(set) var members: [JSONMember] = []
    /// Names after this position aren't compared: a value that reaches beyond it is refused for its length.
    private var namesEnd = 0

    /// Begins at a position of the bytes, which must outlive the scanner.
    package init(_ bytes: UnsafeBufferPointer<UInt8>, from position: Int = 0) {
        self.bytes = bytes
        self.position = position
    }

    /// The next byte; at the end 0, which begins no token.
    @inline(__always)
    package var next: UInt8 { position < bytes.count ? bytes[position] : 0 }

    package var isAtEnd: Bool { position >= bytes.count }

    /// Skips bytes, to the end at most.
    @inline(__always)
    mutating func advance(by count: Int = 1) {
        position = min(position + count, bytes.count)
    }

    /// Skips the blanks and line breaks that may be between tokens.
    @inline(__always)
    package mutating func skipBlanks() {
        while true {
            switch next {
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): position += 1
            default: return
            }
        }
    }

    /// Skips this byte and returns true; returns false if the next byte is another.
    @inline(__always)
    package mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    /// Skips blanks and this byte and returns true; returns false, behind the blanks, if another byte is there. Mostly there
    /// are no blanks.
    @inline(__always)
    private mutating func takeBehindBlanks(_ byte: UInt8) -> Bool {
        if take(byte) { return true }
        skipBlanks()
        return take(byte)
    }

    package func fail(_ expected: SyntaxError.StaticText) -> SyntaxError {
        SyntaxError(offset: position, expected: expected)
    }

    /// Reads an object, a member at a time; `member` reads the value.
    package mutating func object(
        _ member: (_ name: JSONText, _ scanner: inout JSONScanner) throws(SyntaxError) -> Void
    ) throws(SyntaxError) {
        guard take(UInt8(ascii: "{")) else { throw fail("an object") }
        skipBlanks()
        if take(UInt8(ascii: "}")) { return }
        while true {
            guard next == UInt8(ascii: "\"") else { throw fail("a member's name") }
            let name = try string()
            guard takeBehindBlanks(UInt8(ascii: ":")) else { throw fail("a colon") }
            skipBlanks()
            try member(name, &self)
            if takeBehindBlanks(UInt8(ascii: ",")) {
                skipBlanks()
                continue
            }
            guard take(UInt8(ascii: "}")) else { throw fail("a comma or the object's end") }
            return
        }
    }

    /// Reads an array, an item at a time; `item` reads the value.
    package mutating func array(
        _ item: (_ scanner: inout JSONScanner) throws(SyntaxError) -> Void
    ) throws(SyntaxError) {
        guard take(UInt8(ascii: "[")) else { throw fail("an array") }
        skipBlanks()
        if take(UInt8(ascii: "]")) { return }
        while true {
            try item(&self)
            if takeBehindBlanks(UInt8(ascii: ",")) {
                skipBlanks()
                continue
            }
            guard take(UInt8(ascii: "]")) else { throw fail("a comma or the array's end") }
            return
        }
    }

    /// Skips a value and records its flaws.
    ///
    /// - Parameter bytes: the maximum size of the value. Beyond it, repeated names aren't looked for.
    mutating func value(atMost bytes: Int = .max) throws(SyntaxError) {
        namesEnd = bytes < self.bytes.count - position ? position + bytes : self.bytes.count
        members.removeAll(keepingCapacity: true)
        _ = try value(level: 0)
    }

    /// Skips a value that is not kept: its names may be repeated. `members` stay as they are.
    package mutating func skipValue() throws(SyntaxError) {
        namesEnd = position
        _ = try value(level: 0)
    }

    private mutating func value(level: Int) throws(SyntaxError) -> JSONToken {
        switch next {
        case UInt8(ascii: "\""): return .text(try string())
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            if level < EventLimits.levels { try nested(level: level + 1) } else { try deep() }
            return .nested
        case UInt8(ascii: "t"):
            try literal("true")
            return .boolean
        case UInt8(ascii: "f"):
            try literal("false")
            return .boolean
        case UInt8(ascii: "n"):
            try literal("null")
            return .null
        default: return .number(try number())
        }
    }

    private mutating func nested(level: Int) throws(SyntaxError) {
        guard next == UInt8(ascii: "{") else {
            return try array { (scanner) throws(SyntaxError) in _ = try scanner.value(level: level) }
        }
        let outer = members.count
        try object { (name, scanner) throws(SyntaxError) in
            let hash = scanner.compare(name, since: outer)
            let value = try scanner.value(level: level)
            if let hash { scanner.members.append(JSONMember(name: name, hash: hash, value: value)) }
        }
        if level > 1 { members.removeLast(members.count - outer) }
    }

    /// Looks for the name among the object's earlier names, and returns its hash; nil for a member that isn't kept.
    ///
    /// Each name is hashed once, and only names with the same hash are compared. After the first repetition, which is the
    /// flaw, no names are compared.
    private mutating func compare(_ name: JSONText, since outer: Int) -> UInt64? {
        guard position <= namesEnd else { return nil }
        guard members.count - outer < EventLimits.members else {
            flaws.formUnion(.size)
            return nil
        }
        guard !flaws.contains(.repetition) else { return 0 }
        let hash = name.hash(in: bytes)
        for index in outer..<members.count
        where members[index].hash == hash && members[index].name.isSame(as: name, in: bytes) {
            flaws.formUnion(.repetition)
        }
        return hash
    }

    /// Skips a value that is too deep, without recursion: otherwise a request could exhaust the stack.
    private mutating func deep() throws(SyntaxError) {
        flaws.formUnion(.size)
        var depth = 0
        repeat {
            switch next {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                position += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                position += 1
            case UInt8(ascii: "\""): _ = try string()
            default:
                guard !isAtEnd else { throw fail("the end of an array or an object") }
                position += 1
            }
        } while depth > 0
    }

    /// Takes one of the three literals.
    package mutating func literal(_ text: StaticString) throws(SyntaxError) {
        let end = position + text.utf8CodeUnitCount
        guard end <= bytes.count, bytes.extracting(position..<end).isSame(as: text) else {
            throw fail("a value")
        }
        position = end
    }
}

extension [UInt8] {
    /// Calls a closure with a scanner of these bytes, which it must not keep.
    package func withScanner<Value, Failure: Error>(
        _ body: (inout JSONScanner) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try withUnsafeBufferPointer { (bytes) throws(Failure) in
            var scanner = JSONScanner(bytes)
            return try body(&scanner)
        }
    }
}

extension JSONScanner {
    /// Reads a number (RFC 8259, section 6) and returns its range.
    ///
    /// A number beyond `Double`, one of more than 100 characters, and one with an exponent of more than three digits are
    /// flaws: different readers would read different numbers, and PostgreSQL's `numeric` has a limit too.
    package mutating func number() throws(SyntaxError) -> Range<Int> {
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

    /// The value of a number that was read; infinite if it is beyond `Double`.
    @inline(__always)
    package func value(ofNumber range: Range<Int>) -> Double {
        DecimalNumber.parse(bytes.extracting(range)) ?? .infinity
    }

    /// The value of a number that was read, if it is whole and an `Int`: `3`, `3.0` and `3e0` are.
    package func integer(ofNumber range: Range<Int>) -> Int? {
        switch DecimalNumber.parseInteger(bytes.extracting(range)) {
        case .integer(let number): number
        // More than a `Double` can hold exactly, and perhaps still an `Int`.
        case .tooLarge: Int(String(decoding: bytes[range], as: UTF8.self))
        case .notAnInteger: Int(exactly: value(ofNumber: range))
        }
    }

    /// Whether a `Double` can hold a number that has an exponent and at most 100 characters.
    ///
    /// The power of ten decides, and for the largest power the first digits do. Only where these don't decide, the number
    /// is parsed: parsing such a number costs the C library thousands of instructions, so that a megabyte of `1e308` took
    /// a tenth of a second.
    private func isHeld(_ range: Range<Int>, exponent: Range<Int>) -> Bool {
        guard exponent.count == 3 else { return exponent.count < 3 }
        // The number is 0.digits times ten to this power.
        var power = 0
        var digits: UInt64 = 0
        var count = 0
        var isFraction = false
        for byte in bytes[range.lowerBound..<exponent.lowerBound] {
            if byte == UInt8(ascii: ".") { isFraction = true }
            guard let digit = byte.decimalDigitValue else { continue }
            if count == 0, digit == 0 {
                if isFraction { power -= 1 }
                continue
            }
            if !isFraction { power += 1 }
            guard count < Self.limit.count else { continue }
            digits = digits * 10 + UInt64(digit)
            count += 1
        }
        guard count > 0 else { return true }
        let size = bytes[exponent].reduce(0) { $0 * 10 + Int($1.decimalDigitValue ?? 0) }
        power += bytes[exponent.lowerBound - 1] == UInt8(ascii: "-") ? -size : size
        guard power == Self.limit.power else { return power < Self.limit.power }
        for _ in count..<Self.limit.count { digits *= 10 }
        guard digits == Self.limit.digits else { return digits < Self.limit.digits }
        return value(ofNumber: range).isFinite
    }

    /// The first digits of the smallest number that is too large to be rounded to a `Double`: 2¹⁰²⁴ - 2⁹⁷⁰, which is
    /// 0.17976931348623158079… times ten to the 309th power.
    private static let limit = (digits: 17_976_931_348_623_158 as UInt64, count: 17, power: 309)

    private mutating func digits() -> Int {
        var end = position
        while end < bytes.count, bytes[end].decimalDigitValue != nil { end += 1 }
        defer { position = end }
        return end - position
    }
}

extension UInt8 {
    /// The value of a decimal digit; nil if this is none.
    fileprivate var decimalDigitValue: UInt8? {
        let value = self &- UInt8(ascii: "0")
        return value < 10 ? value : nil
    }
}

/// A value that was read, as far as its type and its text go.
enum JSONToken {
    case text(JSONText)
    case number(Range<Int>)
    case boolean, null, nested
}

/// A member of an object.
struct JSONMember {
    let name: JSONText
    /// The name's hash, so that names are not compared byte by byte.
    let hash: UInt64
    let value: JSONToken
}

/// JSON that the database can't store, or stores in another form.
package struct JSONFlaws: OptionSet {
    /// A bit for each flaw.
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Text that is not UTF-8, has a NUL, a bare control character or half a surrogate pair.
    package static let text = JSONFlaws(rawValue: 1)
    /// A name that an object has more than once.
    static let repetition = JSONFlaws(rawValue: 2)
    /// A number beyond `Double`, of more than 100 characters, or with an exponent of more than three digits.
    package static let number = JSONFlaws(rawValue: 4)
    /// More members or levels than `EventLimits` allows.
    static let size = JSONFlaws(rawValue: 8)

    package static let all: JSONFlaws = [.text, .repetition, .number, .size]
}
