import PointsOfInterestAPI
import PointsOfInterestServerAPI

/// Reads one feature (RFC 7946, section 3.2), or an object that isn't one: the members that a mapping uses, and its position.
///
/// Members of members have names with dots between, and the elements of arrays have numbers: `names.primary`, `websites.0`.
/// Two names that no property has stand for the feature's own id, `@id`, and the type of its geometry, `@geometry`.
struct GeoJSONFeature {
    private static let maximumNameBytes = 256
    private static let maximumGeometryLevels = 8
    /// How many levels of members have names, and how many elements of an array.
    private static let (maximumLevels, maximumElements) = (6, 100)

    /// The mapping's fields by the length of their names, in lower case.
    private var fieldsByLength: [[(name: [UInt8], field: Int)]] = []
    private let idField: Int?
    private let geometryField: Int?
    /// Which fields may be any JSON, and which of them are read member by member as well.
    private let (jsonFields, wholeFields): (Set<Int>, Set<Int>)
    /// Which of these have positions, which are short.
    private let positionFields: Set<Int>
    private static let maximumPositionBytes = 1024
    /// What the names of properties with a name in a language begin with, in lower case, and a field to read them into.
    private let names: (prefix: [UInt8], spareField: Int)?
    private let isNested: Bool
    /// The names that members stand for, by their own.
    private var otherNames: [[UInt8]: [UInt8]] = [:]
    private let isProjected: Bool

    init(mapping: Mapping, isProjected: Bool = false) {
        self.isProjected = isProjected
        isNested =
            mapping.fieldNames.contains { $0.contains(".") } || mapping.namesPrefix?.contains(".") == true
        for (field, name) in mapping.fieldNames.enumerated() {
            let name = Array(name.asciiLowercased.utf8)
            while fieldsByLength.count <= name.count { fieldsByLength.append([]) }
            fieldsByLength[name.count].append((name, field))
        }
        positionFields = mapping.positionFields
        wholeFields = mapping.wholeFields.union(positionFields)
        jsonFields = mapping.propertyFields.union(wholeFields)
        let spareField = mapping.fieldNames.firstIndex(of: Mapping.spareField)
        names = spareField.flatMap { field in
            mapping.namesPrefix.map { (Array($0.asciiLowercased.utf8), field) }
        }
        idField = mapping.fieldNames.firstIndex(of: "@id")
        geometryField = mapping.fieldNames.firstIndex(of: "@geometry")
    }

    /// Reads members by other names than their own.
    mutating func nameFields(_ names: [(own: String, other: String)]) {
        for (own, other) in names { otherNames[Array(own.utf8)] = Array(other.trimmingBlanks.utf8) }
    }

    func read(_ scanner: inout JSONScanner, into row: inout Row) -> ReadRow {
        var isFeature = false
        var geometry = GeometryBox()
        do throws(JSONScanner.SyntaxError) {
            try scanner.object { (name, scanner) throws(JSONScanner.SyntaxError) in
                switch name.known(to: scanner) {
                case .type: isFeature = try scanner.string().known(to: scanner) == .feature
                case .id:
                    let isBlank = row.isBlank
                    try value(&scanner, field: idField, into: &row)
                    row.isBlank = isBlank
                case .geometry: try read(&geometry, &scanner, level: 0, into: &row)
                case .properties: try properties(&scanner, into: &row)
                default: try scanner.skipValue()
                }
            }
        } catch {
            // Only a feature's geometry has to be one.
            if !isFeature { return record(&scanner, into: &row) }
            return Self.malformed(error)
        }
        guard isFeature else { return record(&scanner, into: &row) }
        if case .inFields = row.position { row.position = geometry.position(isProjected: isProjected) }
        return .row
    }

    private static func malformed(_ error: JSONScanner.SyntaxError) -> ReadRow {
        .rejected(
            .malformedRow,
            detail: "there should be \(error.expected.text) at byte \(error.offset) of the feature")
    }

    /// Reads an object that isn't a feature. Its position is in its fields, or in a member `geometry` as of GeoJSON; tags of
    /// OpenStreetMap and attributes of ArcGIS are read like its own members.
    private func record(_ scanner: inout JSONScanner, into row: inout Row) -> ReadRow {
        row.removeAll()
        scanner = JSONScanner(scanner.bytes)
        var geometry = GeometryBox()
        do throws(JSONScanner.SyntaxError) {
            try scanner.object { (name, scanner) throws(JSONScanner.SyntaxError) in
                if scanner.next == UInt8(ascii: "{") {
                    switch name.known(to: scanner) {
                    case .tags, .attributes: return try properties(&scanner, into: &row)
                    case .geometry:
                        var copy = scanner
                        var found = GeometryBox()
                        if (try? read(&found, &copy, level: 0, into: &row)) != nil {
                            geometry = found
                        }
                    default: break
                    }
                }
                try member(name, &scanner, path: [], level: 0, into: &row)
            }
        } catch {
            return Self.malformed(error)
        }
        if case .inFields = row.position { row.position = geometry.position(isProjected: isProjected) }
        return .row
    }

    private func properties(
        _ scanner: inout JSONScanner, path: [UInt8] = [], level: Int = 0, into row: inout Row
    ) throws(JSONScanner.SyntaxError) {
        guard scanner.next == UInt8(ascii: "{") else { return try scanner.skipValue() }
        try scanner.object { (name, scanner) throws(JSONScanner.SyntaxError) in
            try self.member(name, &scanner, path: path, level: level, into: &row)
        }
    }

    /// Reads a member. Its name is behind that of the member which it belongs to.
    private func member(
        _ name: JSONText, _ scanner: inout JSONScanner, path: [UInt8], level: Int, into row: inout Row
    ) throws(JSONScanner.SyntaxError) {
        let other =
            otherNames.isEmpty
            ? nil
            : name.withContent(in: scanner.bytes, atMost: Self.maximumNameBytes) { otherNames[Array($0)] }
                ?? nil
        if let other {
            return try member(named: other, &scanner, level: level, into: &row)
        }
        guard path.isEmpty else {
            let whole = name.withContent(in: scanner.bytes, atMost: Self.maximumNameBytes - path.count) {
                path + $0
            }
            guard let whole else { return try scanner.skipValue() }
            return try member(named: whole, &scanner, level: level, into: &row)
        }
        let used =
            name.withContent(in: scanner.bytes, atMost: Self.maximumNameBytes) { self.field(named: $0) }
            ?? nil
        if nests(scanner.next, used, level) {
            try whole(scanner, field: used, into: &row)
            let name = name.withContent(in: scanner.bytes, atMost: Self.maximumNameBytes) { Array($0) }
            return try nested(name, &scanner, level: level, into: &row)
        }
        let tag =
            name.withContent(in: scanner.bytes, atMost: Self.maximumNameBytes) { self.tag(ofName: $0) } ?? nil
        try value(&scanner, field: used, tag: tag, into: &row)
    }

    private func member(
        named name: [UInt8], _ scanner: inout JSONScanner, level: Int,
        into row: inout Row
    ) throws(JSONScanner.SyntaxError) {
        let (used, tag) = (field(named: name[...]), tag(ofName: name[...]))
        if nests(scanner.next, used, level) {
            try whole(scanner, field: used, into: &row)
            return try nested(name, &scanner, level: level, into: &row)
        }
        try value(&scanner, field: used, tag: tag, into: &row)
    }

    /// Reads an object or an array as a field, if it is one of these, before its members are read.
    private func whole(
        _ scanner: JSONScanner, field: Int?, into row: inout Row
    ) throws(JSONScanner.SyntaxError) {
        guard let field, wholeFields.contains(field) else { return }
        var copy = scanner
        try value(&copy, field: field, into: &row)
    }

    /// Whether a value's own members have names: of an object or an array that doesn't become a property as it is.
    private func nests(_ byte: UInt8, _ field: Int?, _ level: Int) -> Bool {
        guard isNested, byte == UInt8(ascii: "{") || byte == UInt8(ascii: "["), level < Self.maximumLevels
        else { return false }
        return field.map { !jsonFields.contains($0) || wholeFields.contains($0) } ?? true
    }

    /// Reads the members of an object, or the elements of an array; nil is a name that is too long.
    private func nested(
        _ name: [UInt8]?, _ scanner: inout JSONScanner, level: Int,
        into row: inout Row
    ) throws(JSONScanner.SyntaxError) {
        guard let name, name.count < Self.maximumNameBytes else { return try scanner.skipValue() }
        let path = name + [UInt8(ascii: ".")]
        guard scanner.next == UInt8(ascii: "[") else {
            return try properties(&scanner, path: path, level: level + 1, into: &row)
        }
        var index = 0
        try scanner.array { (scanner) throws(JSONScanner.SyntaxError) in
            defer { index += 1 }
            guard index < Self.maximumElements else { return try scanner.skipValue() }
            try member(named: path + "\(index)".utf8, &scanner, level: level + 1, into: &row)
        }
    }

    /// Reads a value as a field, and as a name in a language where its name has a tag.
    private func value(
        _ scanner: inout JSONScanner, field: Int?,
        tag: (tag: [UInt8], isOtherTags: Bool)?, into row: inout Row
    ) throws(JSONScanner.SyntaxError) {
        guard let names, let tag else { return try value(&scanner, field: field, into: &row) }
        try value(&scanner, field: field ?? names.spareField, into: &row)
        let text = field.map { row[$0] } ?? row.take(names.spareField)
        if tag.isOtherTags {
            addNames(ofTags: text, to: &row)
        } else {
            row.addName(in: tag.tag, text: text)
        }
    }

    /// The language's tag in the name of a property that has a name; or the property that has all tags which GDAL found no other
    /// place for. Nil for others.
    private func tag(ofName name: some Collection<UInt8>) -> (tag: [UInt8], isOtherTags: Bool)? {
        guard let names else { return nil }
        if name.elementsEqual("other_tags".utf8) { return ([], true) }
        return tag(of: name, names.prefix).map { ($0, false) }
    }

    private func tag(of name: some Collection<UInt8>, _ prefix: [UInt8]) -> [UInt8]? {
        guard name.count > prefix.count, name.prefix(prefix.count).asciiLowercased == prefix else {
            return nil
        }
        return Array(name.dropFirst(prefix.count))
    }

    /// Adds the names in languages among tags in the form of PostgreSQL's hstore: `"name:en"=>"Plaza","a"=>"b \"c\""`.
    private func addNames(ofTags range: Range<Int>, to row: inout Row) {
        guard let names else { return }
        var rest = row.bytes(of: range)
        while let key = Self.takeQuoted(&rest), rest.starts(with: "=>".utf8) {
            rest.removeFirst(2)
            guard let value = Self.takeQuoted(&rest) else { return }
            if let tag = tag(of: key, names.prefix) {
                row.addName(in: tag, text: row.appendText { $0 += value })
            }
            guard rest.popFirst() == UInt8(ascii: ",") else { return }
        }
    }

    private static func takeQuoted(_ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        guard rest.popFirst() == UInt8(ascii: "\"") else { return nil }
        var text: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return text
            case UInt8(ascii: "\\"): if let escaped = rest.popFirst() { text.append(escaped) }
            default: text.append(byte)
            }
        }
        return nil
    }

    /// The field of a property, whose name is compared without the case of ASCII letters.
    private func field(named name: some Collection<UInt8>) -> Int? {
        guard name.count < fieldsByLength.count else { return nil }
        return fieldsByLength[name.count].first { candidate in
            candidate.name.elementsEqual(name) { $0 == ((65...90).contains($1) ? $1 | 0x20 : $1) }
        }?.field
    }

    /// Reads a text, a number, or true or false as a field. An object and an array leave it empty, unless the field may be any
    /// JSON; null does in any case.
    private func value(
        _ scanner: inout JSONScanner, field: Int?, into row: inout Row
    ) throws(JSONScanner.SyntaxError) {
        if row.isBlank, !scanner.isAtBlankValue { row.isBlank = false }
        guard let field else { return try scanner.skipValue() }
        switch scanner.next {
        case UInt8(ascii: "\""):
            scanner.flaws = []
            let text = try scanner.string()
            let isSet: Void? = text.withContent(in: scanner.bytes, atMost: CSVReader.maximumRowBytes) {
                row.set(field, to: $0)
            }
            if isSet == nil { row.position = .rejected(.rowTooLong) }
            if scanner.flaws.contains(.text) {
                let hasNUL = row.bytes(of: row[field]).contains(0)
                row.position = .rejected(hasNUL ? .nul : .invalidText)
            }
        case UInt8(ascii: "t"): try set(field, "true", &scanner, into: &row)
        case UInt8(ascii: "f"): try set(field, "false", &scanner, into: &row)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            row.set(field, toJSON: scanner.bytes[try scanner.number()])
        case UInt8(ascii: "{") where jsonFields.contains(field),
            UInt8(ascii: "[") where jsonFields.contains(field):
            let start = scanner.position
            try scanner.skipValue()
            let value = scanner.bytes[start..<scanner.position]
            let maximum =
                positionFields.contains(field) ? Self.maximumPositionBytes : CSVReader.maximumRowBytes
            if value.count <= maximum {
                row.set(field, toJSON: value)
            }
        case UInt8(ascii: "n"):
            try scanner.literal("null")
            row.setEmpty(field)
        default: try scanner.skipValue()
        }
    }

    private func set(
        _ field: Int, _ literal: StaticString, _ scanner: inout JSONScanner, into row: inout Row
    ) throws(JSONScanner.SyntaxError) {
        let start = scanner.position
        try scanner.literal(literal)
        row.set(field, toJSON: scanner.bytes[start..<scanner.position])
    }
}

extension GeoJSONFeature {
    private func read(
        _ geometry: inout GeometryBox, _ scanner: inout JSONScanner, level: Int, into row: inout Row
    ) throws(JSONScanner.SyntaxError) {
        guard scanner.next == UInt8(ascii: "{"), level < Self.maximumGeometryLevels else {
            return try scanner.skipValue()
        }
        try scanner.object { (name, scanner) throws(JSONScanner.SyntaxError) in
            switch name.known(to: scanner) {
            case .type: try value(&scanner, field: level == 0 ? geometryField : nil, into: &row)
            case .coordinates: try positions(&scanner, of: &geometry)
            case .geometries:
                try scanner.array { (scanner) throws(JSONScanner.SyntaxError) in
                    try read(&geometry, &scanner, level: level + 1, into: &row)
                }
            default: try scanner.skipValue()
            }
        }
    }

    /// Reads positions in arrays of any depth, without recursion: otherwise a file could exhaust the stack.
    private func positions(
        _ scanner: inout JSONScanner, of geometry: inout GeometryBox
    ) throws(JSONScanner.SyntaxError) {
        var depth = 0
        repeat {
            scanner.skipBlanks()
            if scanner.take(UInt8(ascii: "[")) {
                depth += 1
            } else if scanner.take(UInt8(ascii: "]")) {
                depth -= 1
            } else if depth == 0 {
                return try scanner.skipValue()
            } else if !scanner.take(UInt8(ascii: ",")) {
                let longitude = scanner.value(ofNumber: try scanner.number())
                scanner.skipBlanks()
                guard scanner.take(UInt8(ascii: ",")) else { throw scanner.fail("a latitude") }
                scanner.skipBlanks()
                geometry.add(latitude: scanner.value(ofNumber: try scanner.number()), longitude: longitude)
                // An altitude, and whatever else there may be.
                scanner.skipBlanks()
                while scanner.take(UInt8(ascii: ",")) {
                    scanner.skipBlanks()
                    _ = try scanner.number()
                    scanner.skipBlanks()
                }
                guard scanner.next == UInt8(ascii: "]") else { throw scanner.fail("a position's end") }
            }
        } while depth > 0
    }
}

extension JSONScanner {
    /// Whether the next value is null, or a text of blanks alone.
    fileprivate var isAtBlankValue: Bool {
        guard next == UInt8(ascii: "\"") else { return next == UInt8(ascii: "n") }
        return bytes[(position + 1)...].first { $0 != 0x20 } == UInt8(ascii: "\"")
    }
}

/// The names and texts that mean something in GeoJSON.
private enum KnownText: String, CaseIterable {
    case type, id, geometry, properties, coordinates, geometries, tags, attributes
    case feature = "Feature"

    static let all = allCases.map { (text: $0, bytes: Array($0.rawValue.utf8)) }
}

extension JSONText {
    fileprivate func known(to scanner: JSONScanner) -> KnownText? {
        withContent(in: scanner.bytes, atMost: 16) { text in
            KnownText.all.first { text.elementsEqual($0.bytes) }?.text
        }
    }
}
