import PointsOfInterestAPI
import PointsOfInterestServerAPI

/// Reads one feature (RFC 7946, section 3.2): the properties that a mapping uses, and its position.
///
/// Two names that no property has stand for the feature's own id, `@id`, and the type of its geometry, `@geometry`.
struct GeoJSONFeature {
    private static let maximumNameBytes = 256
    private static let maximumGeometryLevels = 8

    /// The mapping's fields by the length of their names, in lower case.
    private var fieldsByLength: [[(name: [UInt8], field: Int)]] = []
    private let idField: Int?
    private let geometryField: Int?
    /// Which fields may be any JSON.
    private let propertyFields: Set<Int>
    /// What the names of properties with a name in a language begin with, in lower case, and a field to read them into.
    private let names: (prefix: [UInt8], spareField: Int)?

    init(mapping: Mapping) {
        for (field, name) in mapping.fieldNames.enumerated() {
            let name = Array(name.asciiLowercased.utf8)
            while fieldsByLength.count <= name.count { fieldsByLength.append([]) }
            fieldsByLength[name.count].append((name, field))
        }
        propertyFields = mapping.propertyFields
        let spareField = mapping.fieldNames.firstIndex(of: Mapping.spareField)
        names = spareField.flatMap { field in
            mapping.namesPrefix.map { (Array($0.asciiLowercased.utf8), field) }
        }
        idField = mapping.fieldNames.firstIndex(of: "@id")
        geometryField = mapping.fieldNames.firstIndex(of: "@geometry")
    }

    /// Reads the feature's fields.
    func read(_ bytes: UnsafeBufferPointer<UInt8>, into row: inout Row) -> ReadRow {
        var scanner = JSONScanner(bytes)
        var isFeature = false
        var geometry = Geometry()
        do throws(JSONScanner.SyntaxError) {
            try scanner.object { (name, scanner) throws(JSONScanner.SyntaxError) in
                switch name.known(in: bytes) {
                case .type: isFeature = try scanner.string().known(in: bytes) == .feature
                case .id: try value(&scanner, of: bytes, field: idField, into: &row)
                case .geometry: try read(&geometry, &scanner, of: bytes, level: 0, into: &row)
                case .properties: try properties(&scanner, of: bytes, into: &row)
                default: try scanner.skipValue()
                }
            }
        } catch {
            let detail = "there should be \(error.expected.text) at byte \(error.offset) of the feature"
            return .rejected(.malformedRow, detail: detail)
        }
        guard isFeature else { return .rejected(.malformedRow, detail: "its type isn't Feature") }
        if case .inFields = row.position { row.position = geometry.position }
        return .row
    }

    private func properties(
        _ scanner: inout JSONScanner, of bytes: UnsafeBufferPointer<UInt8>, into row: inout Row
    ) throws(JSONScanner.SyntaxError) {
        guard scanner.next == UInt8(ascii: "{") else { return try scanner.skipValue() }
        try scanner.object { (name, scanner) throws(JSONScanner.SyntaxError) in
            let used = name.withContent(in: bytes, atMost: Self.maximumNameBytes) { self.field(named: $0) }
            guard let names else { return try self.value(&scanner, of: bytes, field: used, into: &row) }
            let tag = name.withContent(in: bytes, atMost: Self.maximumNameBytes) { self.tag(ofName: $0) }
            guard let tag else { return try self.value(&scanner, of: bytes, field: used, into: &row) }
            try self.value(&scanner, of: bytes, field: used ?? names.spareField, into: &row)
            let text = used.map { row[$0] } ?? row.take(names.spareField)
            if tag.isOtherTags {
                addNames(ofTags: text, to: &row)
            } else {
                row.addName(in: tag.tag, text: text)
            }
        }
    }

    /// The language's tag in the name of a property that has a name; or the property that has all tags which GDAL found no other
    /// place for. Nil for others.
    private func tag(ofName name: UnsafeBufferPointer<UInt8>) -> (tag: [UInt8], isOtherTags: Bool)? {
        guard let names else { return nil }
        if name.elementsEqual("other_tags".utf8) { return ([], true) }
        return tag(of: UnsafeRawBufferPointer(name), names.prefix).map { ($0, false) }
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
    private func field(named name: UnsafeBufferPointer<UInt8>) -> Int? {
        guard name.count < fieldsByLength.count else { return nil }
        return fieldsByLength[name.count].first { candidate in
            zip(candidate.name, name).allSatisfy { $0 == ((65...90).contains($1) ? $1 | 0x20 : $1) }
        }?.field
    }

    /// Reads a text, a number, or true or false as a field. An object and an array leave it empty, unless it becomes a property
    /// of the place and nothing else; null does in any case.
    private func value(
        _ scanner: inout JSONScanner, of bytes: UnsafeBufferPointer<UInt8>, field: Int?, into row: inout Row
    ) throws(JSONScanner.SyntaxError) {
        guard let field else { return try scanner.skipValue() }
        switch scanner.next {
        case UInt8(ascii: "\""):
            scanner.flaws = []
            let text = try scanner.string()
            let isSet: Void? = text.withContent(in: bytes, atMost: CSVReader.maximumRowBytes) {
                row.set(field, to: $0)
            }
            if isSet == nil { row.position = .rejected(.rowTooLong) }
            if scanner.flaws.contains(.text) {
                let hasNUL = row.withBytes(row[field]) { $0.contains(0) }
                row.position = .rejected(hasNUL ? .nul : .invalidText)
            }
        case UInt8(ascii: "t"): try set(field, "true", &scanner, into: &row)
        case UInt8(ascii: "f"): try set(field, "false", &scanner, into: &row)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            row.set(field, toJSON: UnsafeBufferPointer(rebasing: bytes[try scanner.number()]))
        case UInt8(ascii: "{") where propertyFields.contains(field),
            UInt8(ascii: "[") where propertyFields.contains(field):
            let start = scanner.position
            try scanner.skipValue()
            let value = bytes[start..<scanner.position]
            if value.count <= CSVReader.maximumRowBytes {
                row.set(field, toJSON: UnsafeBufferPointer(rebasing: value))
            }
        default: try scanner.skipValue()
        }
    }

    private func set(
        _ field: Int, _ literal: StaticString, _ scanner: inout JSONScanner, into row: inout Row
    ) throws(JSONScanner.SyntaxError) {
        try scanner.literal(literal)
        row.set(
            field, toJSON: UnsafeBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }
}

extension GeoJSONFeature {
    /// What is known of the positions of a geometry, as far as it says where a place is.
    private struct Geometry {
        private var latitudes: ClosedRange<Double>?
        private var longitudes: ClosedRange<Double>?
        /// The most western longitude of the eastern hemisphere and the most eastern one of the western.
        private var innermost: (east: Double, west: Double) = (.infinity, -.infinity)

        mutating func add(latitude: Double, longitude: Double) {
            latitudes =
                min(
                    latitudes?.lowerBound ?? latitude, latitude)...max(
                    latitudes?.upperBound ?? latitude, latitude)
            longitudes =
                min(
                    longitudes?.lowerBound ?? longitude, longitude)...max(
                    longitudes?.upperBound ?? longitude, longitude)
            if longitude >= 0 { innermost.east = min(innermost.east, longitude) }
            if longitude < 0 { innermost.west = max(innermost.west, longitude) }
        }

        /// The centre of the box around the geometry, which for a point is the point.
        ///
        /// RFC 7946, section 3.1.9, has geometries cut at the antimeridian: where the parts are more than 180° apart,
        /// the box is the one across it.
        var position: Row.Position {
            guard let latitudes, let longitudes else { return .rejected(.noCoordinates) }
            guard Coordinate.latitudes.contains(latitudes.lowerBound),
                Coordinate.latitudes.contains(latitudes.upperBound),
                Coordinate.longitudes.contains(longitudes.lowerBound),
                Coordinate.longitudes.contains(longitudes.upperBound)
            else { return .rejected(.coordinatesOutOfRange) }
            let latitude = (latitudes.lowerBound + latitudes.upperBound) / 2
            guard longitudes.upperBound - longitudes.lowerBound > 180 else {
                let longitude = (longitudes.lowerBound + longitudes.upperBound) / 2
                return .known(latitude: latitude, longitude: longitude)
            }
            let across = (innermost.east + innermost.west + 360) / 2
            return .known(latitude: latitude, longitude: across > 180 ? across - 360 : across)
        }
    }

    private func read(
        _ geometry: inout Geometry, _ scanner: inout JSONScanner, of bytes: UnsafeBufferPointer<UInt8>,
        level: Int, into row: inout Row
    ) throws(JSONScanner.SyntaxError) {
        guard scanner.next == UInt8(ascii: "{"), level < Self.maximumGeometryLevels else {
            return try scanner.skipValue()
        }
        try scanner.object { (name, scanner) throws(JSONScanner.SyntaxError) in
            switch name.known(in: bytes) {
            case .type: try value(&scanner, of: bytes, field: level == 0 ? geometryField : nil, into: &row)
            case .coordinates: try positions(&scanner, of: &geometry)
            case .geometries:
                try scanner.array { (scanner) throws(JSONScanner.SyntaxError) in
                    try read(&geometry, &scanner, of: bytes, level: level + 1, into: &row)
                }
            default: try scanner.skipValue()
            }
        }
    }

    /// Reads positions in arrays of any depth, without recursion: otherwise a file could exhaust the stack.
    private func positions(
        _ scanner: inout JSONScanner, of geometry: inout Geometry
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

/// The names and texts that mean something in GeoJSON.
private enum KnownText: String, CaseIterable {
    case type, id, geometry, properties, coordinates, geometries
    case feature = "Feature"
}

extension JSONText {
    fileprivate func known(in bytes: UnsafeBufferPointer<UInt8>) -> KnownText? {
        withContent(in: bytes, atMost: 16) { text in
            KnownText.allCases.first { text.elementsEqual($0.rawValue.utf8) }
        }
    }
}
