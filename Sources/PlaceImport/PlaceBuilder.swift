import Bytes
import Hashing
import PointsOfInterestAPI
import PointsOfInterestServerAPI

/// Makes places of rows: selects, normalises, and says what is wrong with a row.
struct PlaceBuilder {
    private static let maximumNameLength = 200
    private static let maximumAddressLength = 300
    private static let maximumIDLength = 200
    /// How many names in languages and other names a place may have together, and how many bytes of these and of the tags.
    private static let (maximumNameCount, maximumNameBytes) = (300, 8192)

    /// How many values are counted one by one of rows that no choice of the category takes.
    private static let maximumLeftOut = 1000

    let mapping: Mapping
    private let selectingFields: [Int]
    /// What each row gives, also where it has none of the fields.
    private let alwaysGiven: GivenMembers
    /// What a row gives where it has one of these fields.
    private let givenByFields: [(member: GivenMembers, fields: [Int])]
    /// What rows give without having it, since the mapping names it, and by which fields they would have it.
    private let named: [(member: GivenMembers, fields: [Int])]
    private var seenMembers: GivenMembers = []
    /// For each property of the mapping, whether a row had it.
    private var seenProperties: [Bool]
    private let isTable: Bool
    private let boundingBox: BoundingBox?
    private let categories: Set<String>
    private let projection: Projection?
    private(set) var notSelected = 0
    private(set) var normalised: [Normalisation: Int] = [:]
    /// How many rows with a name no choice of the category takes, by the first field that choices look at.
    private(set) var leftOut: [String: Int] = [:]

    init(
        mapping: Mapping, isTable: Bool, boundingBox: BoundingBox?, categories: Set<String>,
        projection: Projection? = nil
    ) {
        self.isTable = isTable
        (alwaysGiven, givenByFields, named) = Self.given(mapping, isTable: isTable)
        seenProperties = mapping.properties.map { _ in false }
        self.projection = projection
        self.mapping = mapping
        selectingFields = mapping.selectingFields
        self.boundingBox = boundingBox
        self.categories = categories
    }

    /// What a mapping gives of each row, and by which fields it gives more.
    ///
    /// - Parameter isTable: whether all rows have the same fields. A field that isn't there is none of the file's then; else it may
    ///   be one that this row leaves out.
    private static func given(
        _ mapping: Mapping, isTable: Bool
    ) -> (always: GivenMembers, byFields: [(GivenMembers, [Int])], named: [(GivenMembers, [Int])]) {
        var (always, byFields): (GivenMembers, [(GivenMembers, [Int])]) = ([], [])
        var named: [(GivenMembers, [Int])] = []
        func take(_ member: GivenMembers, _ isAlways: Bool, isNamed: Bool = false, _ fields: [Int]) {
            if isAlways || isNamed {
                always.insert(member)
                if !isAlways { named.append((member, fields)) }
            } else if !fields.isEmpty {
                byFields.append((member, fields))
            }
        }
        let fields: [(GivenMembers, ImportField)] = [
            (.featured, .featured), (.address, .address), (.website, .website), (.importance, .importance),
            (.operatingStatus, .operatingStatus),
        ]
        func isCleared(_ field: ImportField) -> Bool { mapping.cleared.contains(.field(field)) }
        func isNamed(_ field: ImportField) -> Bool { !isTable && mapping.namedFields.contains(field) }
        for (member, field) in fields {
            let isFixed = mapping[field].contains { $0.fields.isEmpty }
            take(
                member, isFixed || isCleared(field), isNamed: isNamed(field), mapping[field].flatMap(\.fields)
            )
        }
        take(
            .otherNames, isCleared(.otherNames), isNamed: isNamed(.otherNames),
            mapping.otherNames.map(\.field))
        let names = mapping.namesObject.map { [$0] } ?? []
        // Names in columns, which aren't known before the rows, are given as a whole where a mapping names them.
        take(.names, isCleared(.names) || isNamed(.names) && names.isEmpty, isNamed: isNamed(.names), names)
        let object = mapping.propertiesObject.map { [$0] } ?? []
        let namesAll = !isTable && mapping.namesAllProperties && !object.isEmpty
        take(.properties, mapping.cleared.contains(.properties), isNamed: namesAll, object)
        return (always, byFields, named)
    }

    /// What no row has had so far, although the mapping names it.
    var unseen: UnseenMembers {
        let members = named.reduce(into: GivenMembers()) { $0.insert($1.member) }.subtracting(seenMembers)
        let properties = zip(mapping.properties, seenProperties).filter { !$1 }.map(\.0.name)
        return UnseenMembers(members: members, properties: isTable ? [] : properties)
    }

    /// The place of a row, or why it is rejected; nil if the row isn't selected.
    mutating func item(from row: inout Row) -> ImportItem? {
        for cut in mapping.cuts { row.cut(cut) }
        var sourceID: String?
        do throws(RejectionReason) {
            sourceID = try self.sourceID(of: &row)
            let (latitude, longitude): (Double, Double)
            do throws(RejectionReason) {
                (latitude, longitude) = try position(of: &row)
            } catch {
                // What isn't selected needs no position, such as a way of which Overpass gives the nodes only.
                if mapping.selectsByCategory, try category(of: &row) == nil { return leaveOut(&row) }
                throw error
            }
            if let boundingBox, !boundingBox.contains(latitude: latitude, longitude: longitude) {
                return skip()
            }
            guard let category = try category(of: &row) else { return leaveOut(&row) }
            if !categories.isEmpty, !categories.contains(category) { return skip() }
            guard let name = try text(.name, of: &row) else { throw RejectionReason.noName }
            guard name.codePoints <= Self.maximumNameLength else { throw RejectionReason.nameTooLong }
            let (names, otherNames) = try names(of: &row, besides: name.text)
            var place = ImportedPlace(
                sourceID: sourceID ?? Self.digest(name.text, latitude, longitude), hasOwnID: sourceID != nil,
                name: name.text, category: category, latitude: latitude, longitude: longitude,
                featured: try flag(.featured, of: &row, or: .malformedFeatured),
                address: try address(of: &row),
                website: try website(of: &row), importance: try importance(of: &row),
                properties: try properties(of: &row), names: names, otherNames: otherNames,
                operatingStatus: try operatingStatus(of: &row), corrections: corrections(of: &row),
                isSuppressed: try flag(.suppressed, of: &row, or: .malformedSuppressed))
            note(row, in: &place)
            return .place(place, line: row.line)
        } catch {
            let detail = self.detail(of: error, in: &row)
            return .rejected(RejectedRow(line: row.line, reason: error, detail: detail, sourceID: sourceID))
        }
    }

    /// Notes what a row gives, and what it leaves empty.
    private mutating func note(_ row: Row, in place: inout ImportedPlace) {
        place.given = place.address == nil ? alwaysGiven : alwaysGiven.union(.address)
        for (member, fields) in givenByFields where fields.contains(where: row.has) {
            place.given.insert(member)
        }
        for (member, fields) in named where fields.contains(where: row.has) { seenMembers.insert(member) }
        for (index, property) in mapping.properties.enumerated() where row.has(property.field) {
            seenProperties[index] = true
        }
        if !place.given.contains(.properties) {
            for (name, field) in mapping.properties where row[field].isEmpty && (!isTable || row.has(field)) {
                place.emptiedProperties.append(name)
            }
            for case .property(let name) in mapping.cleared { place.emptiedProperties.append(name) }
            // No text of PostgreSQL has one.
            place.emptiedProperties.removeAll { $0.utf8.contains(0) }
        }
        if !place.given.contains(.names) {
            var tags = row.emptyNames
            for (tag, field) in mapping.names where row[field].isEmpty && row.has(field) {
                tags.append(Array(tag.utf8))
            }
            place.emptiedNames = tags.filter(TableCheck.isLanguage).map {
                String(decoding: $0, as: UTF8.self)
            }
        }
    }

    private mutating func skip() -> ImportItem? {
        notSelected += 1
        return nil
    }

    /// Counts a row that no choice of the category takes, if it has a name.
    private mutating func leaveOut(_ row: inout Row) -> ImportItem? {
        if mapping[.name].text(of: &row) != nil,
            let field = selectingFields.first(where: { !row[$0].isEmpty })
        {
            let name = mapping.fieldNames[field]
            let value = "\(name)=\(row.excerpt(of: row[field]))"
            let isListed = leftOut[value] != nil || leftOut.count < Self.maximumLeftOut
            leftOut[isListed ? value : "\(name)=*", default: 0] += 1
        }
        return skip()
    }

    private mutating func count(_ normalisation: Normalisation) { normalised[normalisation, default: 0] += 1 }

    @inline(__always)
    private mutating func text(
        _ field: ImportField, of row: inout Row
    ) throws(RejectionReason) -> PlaceText.Normalised? {
        guard let range = mapping[field].text(of: &row) else { return nil }
        let text = try row.normalised(range)
        if text.isTrimmed { count(.trimmed) }
        if text.hadControls { count(.controlCharacters) }
        return text.codePoints > 0 ? text : nil
    }

    private mutating func sourceID(of row: inout Row) throws(RejectionReason) -> String? {
        guard let id = try text(.id, of: &row) else {
            guard mapping.requiresID else { return nil }
            throw .noID
        }
        guard id.codePoints <= Self.maximumIDLength else { throw .idTooLong }
        return id.text
    }

    private func position(of row: inout Row) throws(RejectionReason) -> (Double, Double) {
        var latitude: Double
        var longitude: Double
        switch row.position {
        case .rejected(let reason): throw reason
        case .known(let knownLatitude, let knownLongitude):
            (latitude, longitude) = (knownLatitude, knownLongitude)
        case .inFields: (latitude, longitude) = try positionInFields(of: &row)
        }
        if let projection {
            guard let degrees = projection.degrees(x: longitude, y: latitude) else {
                throw .coordinatesOutOfRange
            }
            (latitude, longitude) = degrees
        }
        // A range does not contain NaN.
        guard Coordinate.latitudes.contains(latitude), Coordinate.longitudes.contains(longitude) else {
            throw .coordinatesOutOfRange
        }
        // Adding 0 makes 0 of −0, which would give the same place another digest.
        return (latitude + 0, longitude + 0)
    }

    /// Latitude and longitude, from a field each or both from one.
    private func positionInFields(of row: inout Row) throws(RejectionReason) -> (Double, Double) {
        // Metres are no angles.
        let inDegrees = projection == nil
        if let latitude = mapping[.latitude].text(of: &row),
            let longitude = mapping[.longitude].text(of: &row)
        {
            guard let latitude = row.coordinate(in: latitude, along: .latitude, inDegrees: inDegrees),
                let longitude = row.coordinate(in: longitude, along: .longitude, inDegrees: inDegrees)
            else { throw .malformedCoordinates }
            return (latitude, longitude)
        }
        var isThere = false
        for choice in mapping[.position] {
            guard let range = choice.text(of: &row) else { continue }
            if let field = choice.onlyField, row.hasNestedJSON(field) {
                let json = row.bytes(of: range)
                let isArray = json.first == UInt8(ascii: "[")
                if isArray, !hasLatitudeFirst(field) { continue }
                if let position = PositionObject.position(json, inDegrees: inDegrees) {
                    return (position.latitude, position.longitude)
                }
                // An object of something else says nothing of where the place is.
                isThere = isThere || isArray
                continue
            }
            isThere = true
            let position = PositionText.position(row.bytes(of: range), inDegrees: inDegrees)
            if let position { return (position.latitude, position.longitude) }
        }
        throw isThere ? .malformedCoordinates : .noCoordinates
    }

    /// Whether an array's first number is known to be the latitude: an option or a mapping says so, or the field's name.
    private func hasLatitudeFirst(_ field: Int) -> Bool {
        mapping.namedFields.contains(.position)
            || PositionObject.latitudeFirst.contains(mapping.fieldNames[field].asciiLowercased)
    }

    /// The category; nil if the mapping doesn't select such places.
    private mutating func category(of row: inout Row) throws(RejectionReason) -> String? {
        guard let category = try text(.category, of: &row) else {
            if mapping.selectsByCategory { return nil }
            throw .noCategory
        }
        if TableCheck.isCategory(category.text) { return category.text }
        guard let name = PlaceText.category(spelling: category.text) else { throw .malformedCategory }
        count(.categorySpelling)
        return name
    }

    private mutating func flag(
        _ field: ImportField, of row: inout Row, or reason: RejectionReason
    ) throws(RejectionReason) -> Bool {
        guard let text = try text(field, of: &row)?.text else { return false }
        if text == "false" { return false }
        switch text.asciiLowercased {
        case "false", "f", "no", "n", "0": return false
        case "true", "t", "yes", "y", "1": return true
        default: throw reason
        }
    }

    /// The status in the table's words, of those of Google's and Overture's places.
    private mutating func operatingStatus(of row: inout Row) throws(RejectionReason) -> String? {
        guard let text = try text(.operatingStatus, of: &row)?.text else { return nil }
        switch text.asciiLowercased.filter({ $0 != "_" && $0 != " " && $0 != "-" }) {
        case "open", "operational": return nil
        case "temporarilyclosed", "closedtemporarily": return "temporarilyClosed"
        case "permanentlyclosed", "closedpermanently", "closed": return "permanentlyClosed"
        default:
            count(.operatingStatusDropped)
            return nil
        }
    }

    /// The JSON of what people have corrected; nil where that is nothing.
    private mutating func corrections(of row: inout Row) -> String? {
        guard let field = mapping.correctionsObject, !row[field].isEmpty else { return nil }
        let members = row.objectMembers(of: field)
        let json = members.map { [UInt8(ascii: "{")] + $0 + [UInt8(ascii: "}")] }
        guard let json, TableCheck.isJSON(json) else {
            count(.correctionsDropped)
            return nil
        }
        return json.contains(UInt8(ascii: ":")) ? String(decoding: json, as: UTF8.self) : nil
    }

    /// A number from 0 to 1000, rounded; 0 where there is none.
    private mutating func importance(of row: inout Row) throws(RejectionReason) -> Int {
        guard let text = try text(.importance, of: &row)?.text else { return 0 }
        guard let number = Double(text), (0...1000).contains(number) else { throw .malformedImportance }
        return Int(number.rounded())
    }

    /// The JSON of the place's properties; nil where it has none, or where they can't be stored.
    private mutating func properties(of row: inout Row) throws(RejectionReason) -> String? {
        // Of members with the same name, PostgreSQL takes the last.
        let members = mapping.propertiesObject.flatMap { row.objectMembers(of: $0) }
        var json = members.map { [UInt8(ascii: "{")] + $0 } ?? []
        var isFirst = members?.allSatisfy { $0 <= 0x20 } ?? true
        for (name, field) in mapping.properties where !row[field].isEmpty {
            let text = try row.normalised(row[field])
            guard text.codePoints > 0 else { continue }
            if json.isEmpty { json.append(UInt8(ascii: "{")) }
            if !isFirst { json.append(UInt8(ascii: ",")) }
            isFirst = false
            var writer = JSONWriter(capacity: name.utf8.count + 8)
            writer.value(name)
            json += writer.bytes + [UInt8(ascii: ":")] + row.json(field, ofText: text.text)
        }
        guard !json.isEmpty else { return nil }
        json.append(UInt8(ascii: "}"))
        guard TableCheck.isJSON(json) else {
            count(.propertiesDropped)
            return nil
        }
        return String(decoding: json, as: UTF8.self)
    }

    /// JSON of the names in languages, nil where there are none, and the other names, which the name isn't one of.
    private mutating func names(of row: inout Row, besides name: String) throws(RejectionReason) -> (
        names: String?, others: [String]
    ) {
        let found =
            row.names + mapping.names.map { (Array($0.tag.utf8), row[$0.field]) } + namesInObject(of: &row)
        var others: [Range<Int>] = []
        for (field, separator) in mapping.otherNames {
            others += row.texts(ofArray: field) ?? row.parts(of: field, between: separator)
        }
        // Most rows have none.
        guard found.contains(where: { !$0.text.isEmpty }) || !others.isEmpty else { return (nil, []) }
        var (count, bytes) = (0, 0)
        func takes(_ text: PlaceText.Normalised, _ tag: [UInt8] = []) -> Bool {
            let size = text.text.utf8.count + tag.count
            guard text.codePoints <= Self.maximumNameLength, count < Self.maximumNameCount,
                bytes + size <= Self.maximumNameBytes
            else { return false }
            (count, bytes) = (count + 1, bytes + size)
            return true
        }
        var tags: Set<[UInt8]> = []
        var writer = JSONWriter()
        writer.beginObject()
        for (tag, range) in found where !range.isEmpty {
            let text = try row.normalised(range)
            guard text.codePoints > 0 else { continue }
            guard TableCheck.isLanguage(tag), !tags.contains(tag.asciiLowercased), takes(text, tag) else {
                self.count(.namesDropped)
                continue
            }
            tags.insert(tag.asciiLowercased)
            writer.name(escaping: String(decoding: tag, as: UTF8.self))
            writer.value(text.text)
        }
        writer.endObject()
        var otherNames: [String] = []
        var known: Set<[UInt8]> = [Array(name.utf8)]
        for range in others {
            let text = try row.normalised(range)
            guard text.codePoints > 0, known.insert(Array(text.text.utf8)).inserted else { continue }
            if takes(text) { otherNames.append(text.text) } else { self.count(.namesDropped) }
        }
        return (tags.isEmpty ? nil : String(decoding: writer.bytes, as: UTF8.self), otherNames)
    }

    /// The names in an object of names. A member that isn't called as a language isn't one: other data have other objects of
    /// this name.
    private mutating func namesInObject(of row: inout Row) -> [(tag: [UInt8], text: Range<Int>)] {
        guard let field = mapping.namesObject else { return [] }
        let (texts, isWhole) = row.texts(ofObject: field)
        if !isWhole { count(.namesDropped) }
        return texts.filter { TableCheck.isLanguage($0.name) }.map { ($0.name, $0.text) }
    }

    private mutating func address(of row: inout Row) throws(RejectionReason) -> String? {
        var found = try text(.address, of: &row)
        if found == nil { found = try addressBeforePosition(of: &row) }
        guard let address = found else { return nil }
        if address.codePoints <= Self.maximumAddressLength { return address.text }
        count(.addressDropped)
        return nil
    }

    /// The address in the field that also has the position.
    private mutating func addressBeforePosition(
        of row: inout Row
    ) throws(RejectionReason) -> PlaceText.Normalised? {
        guard case .inFields = row.position, mapping[.latitude].text(of: &row) == nil,
            let text = mapping[.position].text(of: &row),
            let (address, _) = PositionText.behindAddress(row.bytes(of: text))
        else { return nil }
        let lines = address.split { $0 == 0x0a || $0 == 0x0d }
        let joined = row.appendText { $0 += lines.joined(separator: Array(", ".utf8)) }
        return try row.normalised(joined)
    }

    private mutating func website(of row: inout Row) throws(RejectionReason) -> String? {
        guard let text = try text(.website, of: &row) else { return nil }
        guard let website = PlaceWebsite.normalise(text.text) else {
            count(.websiteDropped)
            return nil
        }
        if !website.hadScheme { count(.websiteScheme) }
        if website.isEncoded { count(.websiteEncoded) }
        return website.url
    }

    /// The values that a row is rejected for.
    private func detail(of reason: RejectionReason, in row: inout Row) -> String {
        let fields: [ImportField]
        switch reason {
        case .malformedCategory: fields = [.category]
        case .malformedFeatured: fields = [.featured]
        case .malformedImportance: fields = [.importance]
        case .malformedSuppressed: fields = [.suppressed]
        case .malformedCoordinates, .coordinatesOutOfRange: fields = [.latitude, .longitude, .position]
        case .nameTooLong: fields = [.name]
        case .idTooLong: fields = [.id]
        default: return ""
        }
        let texts = fields.compactMap { mapping[$0].text(of: &row) }
        return texts.map { row.excerpt(of: $0) }.joined(separator: " ")
    }

    /// 96 bits of SHA-256 in Base64 for URLs: the chance that two of ten million places have the same is less than 10⁻¹⁵.
    private static func digest(_ name: String, _ latitude: Double, _ longitude: Double) -> String {
        var message = ByteBuffer()
        message.append(utf8: name)
        message.append(bigEndian: latitude.bitPattern)
        message.append(bigEndian: longitude.bitPattern)
        return Base64URL.encode(Array(SHA256.digest(of: message.bytes).prefix(12)))
    }
}

extension Row {
    /// The parts of a field's text between its separators, without empty ones. A value of JSON has none.
    fileprivate func parts(of field: Int, between separator: UInt8) -> [Range<Int>] {
        hasNestedJSON(field) ? [] : bytes(of: self[field]).split(separator: separator).map(\.indices)
    }

    @inline(__always)
    fileprivate func normalised(_ range: Range<Int>) throws(RejectionReason) -> PlaceText.Normalised {
        try PlaceText.normalise(bytes(of: range))
    }
}
