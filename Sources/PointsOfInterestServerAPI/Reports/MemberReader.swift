import PointsOfInterestAPI

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Reads the members of a body that is one object of plain values, in one pass, and collects the faults.
///
/// A member that is null is as if it weren't given.
struct MemberReader<Member: RawRepresentable<String> & CaseIterable & Hashable> {
    typealias SyntaxError = JSONScanner.SyntaxError

    private(set) var faults: [Problem.MemberFault] = []
    private let subject: String
    private var named: Set<Member> = []
    private var nulls: Set<Member> = []

    /// Reads a whole body.
    ///
    /// - Parameters:
    ///   - subject: what the body is one of, in the plural.
    ///   - read: keeps a member's value; nil for one that is null or has a fault.
    /// - Throws: `.malformed` for what isn't JSON; faults of members are in `faults`.
    init(
        _ body: [UInt8], of subject: String,
        _ read: (Member, inout MemberValue) throws(SyntaxError) -> Void
    ) throws(EditContentError) {
        self.subject = subject
        do throws(SyntaxError) {
            try body.withScanner { (scanner) throws(SyntaxError) in
                scanner.skipBlanks()
                try self.read(&scanner, read)
                scanner.skipBlanks()
                guard scanner.isAtEnd else { throw scanner.fail("the end") }
            }
        } catch {
            throw .malformed(reason: error.reason)
        }
    }

    /// Whether the body has the member, be it null.
    func names(_ member: Member) -> Bool { named.contains(member) }

    /// Whether the body has no value of the member.
    func lacks(_ member: Member) -> Bool { !named.contains(member) || nulls.contains(member) }

    mutating func reportMissing(_ member: Member) {
        report([member.rawValue], .missing, "must be given")
    }

    mutating func report(_ path: [String], _ code: EventFault.Code, _ detail: String) {
        guard faults.count < EditLimits.faults else { return }
        faults.append(Problem.MemberFault(pointer: JSONPointer.text(of: path), code: code, detail: detail))
    }

    private mutating func read(
        _ scanner: inout JSONScanner, _ read: (Member, inout MemberValue) throws(SyntaxError) -> Void
    ) throws(SyntaxError) {
        guard scanner.next == UInt8(ascii: "{") else {
            try scanner.skipValue()
            return report([], .wrongType, "must be an object")
        }
        try scanner.object { (name, scanner) throws(SyntaxError) in
            scanner.flaws = []
            let text = name.withContent(in: scanner.bytes, atMost: 40) { String(decoding: $0, as: UTF8.self) }
            guard let text, text.utf8.allSatisfy({ $0 < 0x80 }), let member = Member(rawValue: text) else {
                report([text ?? "…"], .unknown, "\(subject) have no such member")
                return try scanner.skipValue()
            }
            guard named.insert(member).inserted else {
                report([text], .repeated, "must be given once")
                return try scanner.skipValue()
            }
            if scanner.next == UInt8(ascii: "n") {
                try scanner.literal("null")
                nulls.insert(member)
                return
            }
            var value = MemberValue(scanner: scanner)
            try read(member, &value)
            scanner = value.scanner
            if let fault = value.fault { report([text], fault.code, fault.detail) }
        }
    }
}

/// A member's value that is read next, which isn't null. One of the functions has to be called.
struct MemberValue {
    typealias SyntaxError = JSONScanner.SyntaxError

    fileprivate var scanner: JSONScanner
    fileprivate private(set) var fault: (code: EventFault.Code, detail: String)?

    fileprivate init(scanner: JSONScanner) {
        self.scanner = scanner
    }

    mutating func uuid() throws(SyntaxError) -> UUID? {
        let rule = "must be a UUID of 36 characters"
        guard let token = try string(rule) else { return nil }
        let id = UUID(token, in: scanner.bytes)
        if id == nil { fault = (.notAUUID, rule) }
        return id
    }

    mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
        of type: Choice.Type
    ) throws(SyntaxError) -> Choice? {
        let rule = "must be \(Choice.choices)"
        guard let token = try string(rule) else { return nil }
        let choice = token.withContent(in: scanner.bytes, atMost: 40) { bytes in
            Choice.allCases.first { bytes.elementsEqual($0.rawValue.utf8) }
        }
        if choice == nil { fault = (.notAChoice, rule) }
        return choice
    }

    /// A text of at least one character; line breaks may be in it.
    mutating func text(maximumLength: Int) throws(SyntaxError) -> String? {
        let rule = "must be a text of 1 to \(maximumLength) characters"
        guard let token = try string(rule) else { return nil }
        guard scanner.flaws.isEmpty else {
            fault = (.malformedText, EventFault.textRule)
            return nil
        }
        let text = token.withContent(in: scanner.bytes, atMost: 4 * maximumLength) {
            String(decoding: $0, as: UTF8.self)
        }
        guard let text, (1...maximumLength).contains(text.unicodeScalars.count) else {
            fault = (.outOfRange, rule)
            return nil
        }
        return text
    }

    mutating func integer(in range: ClosedRange<Int>, _ expected: String) throws(SyntaxError) -> Int? {
        guard let token = try number("must be \(expected), a whole number") else { return nil }
        let integer = scanner.integer(ofNumber: token)
        guard scanner.flaws.isEmpty, let integer, range.contains(integer) else {
            fault = (.outOfRange, "must be \(expected), at least \(range.lowerBound)")
            return nil
        }
        return integer
    }

    mutating func number(in range: ClosedRange<Double>) throws(SyntaxError) -> Double? {
        let rule = "must be a number from \(Int(range.lowerBound)) to \(Int(range.upperBound))"
        guard let token = try number(rule) else { return nil }
        let number = scanner.value(ofNumber: token)
        guard scanner.flaws.isEmpty, range.contains(number) else {
            fault = (.outOfRange, rule)
            return nil
        }
        // Adding 0 makes 0 of −0.
        return number + 0
    }

    private mutating func string(_ rule: String) throws(SyntaxError) -> JSONText? {
        guard scanner.next == UInt8(ascii: "\"") else {
            try scanner.skipValue()
            fault = (.wrongType, rule)
            return nil
        }
        return try scanner.string()
    }

    private mutating func number(_ rule: String) throws(SyntaxError) -> Range<Int>? {
        guard scanner.next.beginsNumber else {
            try scanner.skipValue()
            fault = (.wrongType, rule)
            return nil
        }
        return try scanner.number()
    }
}
