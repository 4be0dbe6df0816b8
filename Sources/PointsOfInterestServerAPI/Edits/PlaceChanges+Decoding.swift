import PointsOfInterestAPI

extension PlaceChanges {
    /// Reads and checks a body in one pass over its bytes.
    ///
    /// What only the database knows isn't checked: whether there is the category, and whether names and properties are too many
    /// together with those that the place has.
    ///
    /// - Parameter isNew: whether it has to be a whole place.
    /// - Throws: why it is refused, with all faults.
    package static func decode(body: [UInt8], isNew: Bool) throws(EditContentError) -> PlaceChanges {
        let reader = PlaceChangesReader(body: body, isNew: isNew)
        return try body.withScanner { (scanner) throws(EditContentError) in
            do throws(JSONScanner.SyntaxError) {
                try reader.read(&scanner)
                scanner.skipBlanks()
                guard scanner.isAtEnd else { throw scanner.fail("the end") }
            } catch {
                throw .malformed(reason: error.reason)
            }
            return try reader.finish()
        }
    }
}

private final class PlaceChangesReader {
    typealias SyntaxError = JSONScanner.SyntaxError

    private let body: [UInt8]
    private let isNew: Bool
    private var changes = JSONWriter()
    private var latitude: Double?
    private var longitude: Double?
    private var resets: [String] = []
    private var dataset: String?
    private var readOnly: [(name: String, json: [UInt8])] = []
    private var seen: Set<PlaceMember> = []
    private var faults: [Problem.MemberFault] = []

    init(body: [UInt8], isNew: Bool) {
        (self.body, self.isNew) = (body, isNew)
        changes.beginObject()
    }

    func read(_ scanner: inout JSONScanner) throws(SyntaxError) {
        scanner.skipBlanks()
        guard scanner.next == UInt8(ascii: "{") else {
            try scanner.skipValue()
            return report([], .wrongType, "must be an object")
        }
        try scanner.object { (name, scanner) throws(SyntaxError) in
            scanner.flaws = []
            guard let member = try known(name, &scanner) else { return }
            guard seen.insert(member).inserted else {
                try scanner.skipValue()
                return report(member, .repeated, "must be given once")
            }
            try read(member, &scanner)
        }
    }

    func finish() throws(EditContentError) -> PlaceChanges {
        if isNew {
            for member in [PlaceMember.name, .category, .latitude, .longitude] where !seen.contains(member) {
                report(member, .missing, "must be given")
            }
        }
        guard faults.isEmpty else { throw .invalid(faults) }
        if latitude != nil || longitude != nil {
            changes.name("position")
            changes.value(.array([latitude, longitude].map { $0.map { .number($0) } ?? .null }))
        }
        changes.endObject()
        return PlaceChanges(members: changes.bytes, resets: resets, readOnly: readOnly, dataset: dataset)
    }

    // MARK: - Members

    /// The member of this name; nil for another name, whose value is skipped.
    private func known(_ name: JSONText, _ scanner: inout JSONScanner) throws(SyntaxError) -> PlaceMember? {
        let text = name.withContent(in: scanner.bytes, atMost: 40) { String(decoding: $0, as: UTF8.self) }
        let member = text.flatMap { $0.utf8.allSatisfy { $0 < 0x80 } ? PlaceMember(rawValue: $0) : nil }
        if let member, member != (isNew ? .reset : .dataset) { return member }
        // To find the nearest name costs more than the rest, and a body has room for many names.
        if faults.count < EditLimits.faults {
            let pointer = Self.shortened(name.withContent(in: scanner.bytes, atMost: 600) { Array($0) })
            let nearest = text.flatMap {
                NearestName.find(for: $0, among: PlaceMember.allCases.map(\.rawValue))
            }
            report(
                [pointer], .unknown, "places have no such member" + (nearest.map { ", perhaps \($0)" } ?? ""))
        }
        try scanner.skipValue()
        return nil
    }

    private func read(_ member: PlaceMember, _ scanner: inout JSONScanner) throws(SyntaxError) {
        switch member {
        case .name:
            try readText(member, &scanner, expecting: Self.line(EditLimits.nameLength)) { text in
                TableCheck.isSingleLine(text, maximumLength: EditLimits.nameLength)
            }
        case .address:
            try readText(member, &scanner, expecting: Self.line(EditLimits.addressLength)) { text in
                TableCheck.isSingleLine(text, maximumLength: EditLimits.addressLength)
            }
        case .category:
            try readText(
                member, &scanner, expecting: "a category of the service", TableCheck.isCategory)
        case .website:
            try readText(
                member, &scanner,
                expecting: "an address that begins with http:// or https://, of at most 2048 characters",
                TableCheck.isWebsite)
        case .operatingStatus:
            try readText(
                member, &scanner, expecting: "temporarilyClosed, permanentlyClosed or null"
            ) { text in
                ["temporarilyClosed", "permanentlyClosed"].contains(text)
            }
        case .latitude: latitude = try readCoordinate(member, &scanner, Coordinate.latitudes)
        case .longitude: longitude = try readCoordinate(member, &scanner, Coordinate.longitudes)
        case .featured: try readFlag(&scanner)
        case .importance: try readImportance(&scanner)
        case .names: try readNames(&scanner)
        case .otherNames: try readOtherNames(&scanner)
        case .properties: try readProperties(&scanner)
        case .reset: try readResets(&scanner)
        case .dataset:
            let expected =
                "\(EditLimits.dataset), or begin with \(EditLimits.dataset)- and have a–z, 0–9 and - only"
            dataset = try readText([member.rawValue], &scanner, expecting: expected, EditLimits.isDataset)
        case .id, .version, .updatedAt, .source, .sourceValues, .import:
            let start = scanner.position
            try scanner.value(atMost: EditLimits.bodyBytes)
            if isNew { return report(member, .readOnlyMember, "can't be given to a new place") }
            guard scanner.flaws.isEmpty else {
                return report(member, .readOnlyMember, "can't be edited, and is another in the record")
            }
            readOnly.append((member.rawValue, Array(body[start..<scanner.position])))
        }
    }

    private static func line(_ length: Int) -> String {
        "a line of 1 to \(length) characters, without blanks at its ends"
    }

    /// Takes `null`; false if the value is another. A place's name, category and position can't be taken away.
    private func takesNull(_ member: PlaceMember, _ scanner: inout JSONScanner) throws(SyntaxError) -> Bool {
        guard scanner.next == UInt8(ascii: "n") else { return false }
        try scanner.literal("null")
        switch member {
        case .name, .category, .latitude, .longitude: report(member, .missing, "can't be taken away")
        default:
            if isNew { break }
            changes.name(escaping: member.column)
            changes.null()
        }
        return true
    }

    private func readText(
        _ member: PlaceMember, _ scanner: inout JSONScanner, expecting expected: String,
        _ isValid: (String) -> Bool
    ) throws(SyntaxError) {
        if try takesNull(member, &scanner) { return }
        guard let text = try readText([member.rawValue], &scanner, expecting: expected, isValid) else {
            return
        }
        changes.name(escaping: member.column)
        changes.value(text)
    }

    private func readText(
        _ path: [String], _ scanner: inout JSONScanner, expecting expected: String,
        _ isValid: (String) -> Bool
    ) throws(SyntaxError) -> String? {
        guard scanner.next == UInt8(ascii: "\"") else {
            try scanner.skipValue()
            report(path, .wrongType, "must be \(expected)")
            return nil
        }
        let token = try scanner.string()
        guard scanner.flaws.isEmpty else {
            scanner.flaws = []
            report(path, .malformedText, EventFault.textRule)
            return nil
        }
        // No text of a place has more bytes than a website.
        let text = token.withContent(in: scanner.bytes, atMost: TableCheck.maximumWebsiteLength) {
            String(decoding: $0, as: UTF8.self)
        }
        guard let text, isValid(text) else {
            report(path, .malformed, "must be \(expected)")
            return nil
        }
        return text
    }

    private func readCoordinate(
        _ member: PlaceMember, _ scanner: inout JSONScanner, _ range: ClosedRange<Double>
    ) throws(SyntaxError) -> Double? {
        if try takesNull(member, &scanner) { return nil }
        guard let number = try readNumber(member, &scanner, "a number of degrees") else { return nil }
        guard range.contains(number) else {
            report(
                member, .outOfRange,
                "must be from \(Int(range.lowerBound)) to \(Int(range.upperBound))")
            return nil
        }
        // Adding 0 makes 0 of −0.
        return number + 0
    }

    private func readNumber(
        _ member: PlaceMember, _ scanner: inout JSONScanner, _ expected: String
    ) throws(SyntaxError) -> Double? {
        guard scanner.next.beginsNumber else {
            try scanner.skipValue()
            report(member, .wrongType, "must be \(expected)")
            return nil
        }
        let token = try scanner.number()
        let number = scanner.value(ofNumber: token)
        guard scanner.flaws.isEmpty, number.isFinite else {
            report(member, .outOfRange, "must be \(expected)")
            return nil
        }
        return number
    }

    private func readFlag(_ scanner: inout JSONScanner) throws(SyntaxError) {
        if try takesNull(.featured, &scanner) { return }
        switch scanner.next {
        case UInt8(ascii: "t"):
            try scanner.literal("true")
            changes.member("featured", true)
        case UInt8(ascii: "f"):
            try scanner.literal("false")
            changes.member("featured", false)
        default:
            try scanner.skipValue()
            report(.featured, .wrongType, "must be true or false")
        }
    }

    private func readImportance(_ scanner: inout JSONScanner) throws(SyntaxError) {
        if try takesNull(.importance, &scanner) { return }
        let expected = "a whole number from 0 to 1000"
        guard let number = try readNumber(.importance, &scanner, expected) else { return }
        guard (0...1000).contains(number), let whole = Int(exactly: number) else {
            return report(.importance, .outOfRange, "must be \(expected)")
        }
        changes.member("importance", whole)
    }

    // MARK: - Names and properties

    private func readNames(_ scanner: inout JSONScanner) throws(SyntaxError) {
        try readMembers(of: .names, &scanner) { (tag, scanner) throws(SyntaxError) in
            guard TableCheck.isLanguage(Array(tag.utf8)) else {
                try scanner.skipValue()
                return report(
                    [PlaceMember.names.rawValue, tag], .malformed,
                    "must be called by a language's tag, such as de")
            }
            let path = [PlaceMember.names.rawValue, tag]
            if scanner.next == UInt8(ascii: "n") {
                try scanner.literal("null")
                return remove("names.\(tag)")
            }
            let text = try readText(path, &scanner, expecting: Self.line(EditLimits.nameLength)) {
                TableCheck.isSingleLine($0, maximumLength: EditLimits.nameLength)
            }
            guard let text else { return }
            changes.name(escaping: "names.\(tag)")
            changes.value(text)
        }
    }

    private func readProperties(_ scanner: inout JSONScanner) throws(SyntaxError) {
        try readMembers(of: .properties, &scanner) { (name, scanner) throws(SyntaxError) in
            if scanner.next == UInt8(ascii: "n") {
                try scanner.literal("null")
                return remove("properties.\(name)")
            }
            let path = [PlaceMember.properties.rawValue, name]
            let start = scanner.position
            try scanner.value(atMost: EditLimits.propertiesBytes)
            for (code, detail) in scanner.flaws.faults { report(path, code, detail) }
            let json = body[start..<scanner.position]
            guard json.count <= EditLimits.propertiesBytes else {
                return report(
                    path, .tooLarge, "must have at most \(EditLimits.propertiesBytes) bytes")
            }
            changes.name(escaping: "properties.\(name)")
            changes.value(json: json)
        }
    }

    private func remove(_ column: String) {
        guard !isNew else { return }
        changes.name(escaping: column)
        changes.null()
    }

    /// Reads an object of names or properties, or null.
    private func readMembers(
        of member: PlaceMember, _ scanner: inout JSONScanner,
        _ read: (String, inout JSONScanner) throws(SyntaxError) -> Void
    ) throws(SyntaxError) {
        if try takesNull(member, &scanner) { return }
        guard scanner.next == UInt8(ascii: "{") else {
            try scanner.skipValue()
            return report(member, .wrongType, "must be an object")
        }
        // As bytes: to hash a text of combining marks takes time that grows with the square of its length.
        var seen: Set<[UInt8]> = []
        try scanner.object { (token, scanner) throws(SyntaxError) in
            let isWhole = scanner.flaws.isEmpty
            scanner.flaws = []
            let name = token.withContent(in: scanner.bytes, atMost: EditLimits.propertyNameBytes) {
                Array($0)
            }
            guard isWhole, let name, !name.isEmpty else {
                try scanner.skipValue()
                return report(
                    [member.rawValue, Self.shortened(name)], .malformedText,
                    "must have a name of 1 to \(EditLimits.propertyNameBytes) bytes of UTF-8 without NUL")
            }
            let text = String(decoding: name, as: UTF8.self)
            guard seen.insert(name).inserted else {
                try scanner.skipValue()
                return report([member.rawValue, text], .repeated, "must be given once")
            }
            guard seen.count <= EditLimits.names else {
                if seen.count == EditLimits.names + 1 {
                    report(
                        [member.rawValue], .tooLarge, "must have at most \(EditLimits.names) members")
                }
                return try scanner.skipValue()
            }
            try read(text, &scanner)
            scanner.flaws = []
        }
    }

    private func readOtherNames(_ scanner: inout JSONScanner) throws(SyntaxError) {
        if try takesNull(.otherNames, &scanner) { return }
        guard
            let names = try readTexts(
                .otherNames, &scanner, expecting: Self.line(EditLimits.nameLength),
                {
                    TableCheck.isSingleLine($0, maximumLength: EditLimits.nameLength)
                })
        else { return }
        if names.isEmpty, isNew { return }
        changes.name(escaping: PlaceMember.otherNames.column)
        changes.value(names.isEmpty ? .null : .array(names.map { .string($0) }))
    }

    private func readResets(_ scanner: inout JSONScanner) throws(SyntaxError) {
        let expected = "a member's name, such as name or properties.phone, or *"
        let names = try readTexts(.reset, &scanner, expecting: expected) { PlaceMember.column(of: $0) != nil }
        resets = (names ?? []).compactMap(PlaceMember.column)
    }

    private func readTexts(
        _ member: PlaceMember, _ scanner: inout JSONScanner, expecting expected: String,
        _ isValid: (String) -> Bool
    ) throws(SyntaxError) -> [String]? {
        guard scanner.next == UInt8(ascii: "[") else {
            try scanner.skipValue()
            report(member, .wrongType, "must be an array of texts")
            return nil
        }
        var (texts, count) = ([String](), 0)
        try scanner.array { (scanner) throws(SyntaxError) in
            count += 1
            guard count <= EditLimits.names else { return try scanner.skipValue() }
            let path = [member.rawValue, String(count - 1)]
            if let text = try readText(path, &scanner, expecting: expected, isValid) { texts.append(text) }
        }
        if count > EditLimits.names {
            report(member, .tooLarge, "must have at most \(EditLimits.names) items")
        }
        return texts
    }

    // MARK: - Faults

    private func report(_ member: PlaceMember, _ code: EventFault.Code, _ detail: String) {
        report([member.rawValue], code, detail)
    }

    private func report(_ path: [String], _ code: EventFault.Code, _ detail: String) {
        guard faults.count < EditLimits.faults else { return }
        faults.append(Problem.MemberFault(pointer: JSONPointer.text(of: path), code: code, detail: detail))
    }

    /// A name that isn't known, short enough to be named in a fault.
    private static func shortened(_ name: [UInt8]?) -> String {
        guard let name else { return "…" }
        return name.count <= 60
            ? String(decoding: name, as: UTF8.self) : String(decoding: name.prefix(60), as: UTF8.self) + "…"
    }
}

/// The text of a JSON Pointer (RFC 6901, section 3).
package enum JSONPointer {
    package static func text(of path: [String]) -> String {
        var text: [UInt8] = []
        for name in path {
            text.append(UInt8(ascii: "/"))
            for byte in name.utf8 {
                switch byte {
                case UInt8(ascii: "~"): text += "~0".utf8
                case UInt8(ascii: "/"): text += "~1".utf8
                default: text.append(byte)
                }
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
