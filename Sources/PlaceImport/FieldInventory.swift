import Foundation
import PointsOfInterestAPI

/// The fields of a file's first rows, whatever they are called, and what is in them.
struct FieldInventory {
    struct Field {
        let name: String
        var count = 0
        /// In how many it is a number, and between which these are.
        var numbers = 0
        var range: ClosedRange<Double>?
        var positions = 0
        /// How often it has which text, of the first ones.
        var values: [String: Int] = [:]
        var examples: [String] = []
    }

    /// How many rows are looked at, and how long a row of JSON may be for that.
    static let (maximumRows, maximumObjectBytes) = (1000, 64 * 1024)
    private static let (maximumFields, maximumLevels, maximumValues) = (1000, 6, 200)

    private(set) var fields: [Field] = []
    private(set) var rows = 0
    /// Whether a row is a feature of GeoJSON with an id of its own.
    private(set) var hasFeatureIDs = false
    private var indexes: [String: Int] = [:]

    init(_ reader: inout CSVReader) throws(ImportError) {
        reader.take(reader.columns)
        for name in reader.columns { _ = index(of: name) }
        let columns = reader.columns
        try readRows(&reader, fieldCount: columns.count) { inventory, _, row in
            for (field, name) in columns.enumerated() where !row[field].isEmpty {
                inventory.add(row.text(of: row[field]), to: name)
            }
        }
    }

    init(_ reader: inout GeoJSONReader, fieldCount: Int) throws(ImportError) {
        try readRows(&reader, fieldCount: fieldCount) { inventory, reader, _ in
            guard reader.object.count <= Self.maximumObjectBytes,
                case .object(let object) = try? JSONDecoder().decode(
                    JSONValue.self, from: Data(reader.object))
            else { return }
            inventory.add(object, reader.names)
        }
    }

    /// Passes the first rows on, with the reader that has read them.
    private mutating func readRows<Reader: RowReader>(
        _ reader: inout Reader, fieldCount: Int, _ add: (inout Self, Reader, inout Row) -> Void
    ) throws(ImportError) {
        var row = Row(fieldCount: fieldCount)
        while rows < Self.maximumRows {
            switch try reader.next(into: &row) {
            case .end: return
            case .rejected: break
            case .row:
                rows += 1
                add(&self, reader, &row)
            }
        }
    }

    /// Adds the properties of a feature, or the members of another object.
    private mutating func add(_ object: JSONValue.Object, _ names: [String: String]) {
        let isFeature = object["type"]?.text == "Feature"
        if isFeature, object["id"] != nil { hasFeatureIDs = true }
        for (name, value) in object.members {
            switch (name, value) {
            case ("properties", .object(let properties)) where isFeature && !names.isEmpty:
                for (name, value) in properties.members { add(value, named: names[name] ?? name, level: 0) }
            case ("properties", .object) where isFeature, ("tags", .object), ("attributes", .object):
                add(value, named: "", level: 0)
            case _ where isFeature: break
            default: add(value, named: name, level: 0)
            }
        }
    }

    private mutating func add(_ value: JSONValue, named name: String, level: Int) {
        let path = name.isEmpty ? "" : name + "."
        switch value {
        case .object(let object):
            guard level < Self.maximumLevels else { return }
            for (name, value) in object.members { add(value, named: path + name, level: level + 1) }
        case .array(let values):
            guard level < Self.maximumLevels else { return }
            for (index, value) in values.prefix(3).enumerated() {
                add(value, named: path + "\(index)", level: level + 1)
            }
        case .string(let text): add(text, to: name)
        case .integer(let number): add("\(number)", to: name)
        case .number(let number): add("\(number)", to: name)
        case .boolean(let flag): add("\(flag)", to: name)
        case .null: break
        }
    }

    private mutating func index(of name: String) -> Int? {
        if let index = indexes[name] { return index }
        guard fields.count < Self.maximumFields else { return nil }
        indexes[name] = fields.count
        fields.append(Field(name: name))
        return fields.count - 1
    }

    private mutating func add(_ text: String, to name: String) {
        guard let index = index(of: name) else { return }
        fields[index].count += 1
        let bytes = Array(text.utf8.prefix(1024))[...]
        if let number = PositionText.degrees(bytes), number.isFinite {
            fields[index].numbers += 1
            let range = fields[index].range ?? number...number
            fields[index].range = min(range.lowerBound, number)...max(range.upperBound, number)
        } else if PositionText.position(bytes) != nil {
            fields[index].positions += 1
        }
        let short = String(text.prefix(60)).printable
        if fields[index].examples.count < 3 { fields[index].examples.append(short) }
        if fields[index].values[short] != nil || fields[index].values.count < Self.maximumValues {
            fields[index].values[short, default: 0] += 1
        }
    }

    /// Whether a name is that of an object or an array, of which parts are fields.
    func hasObject(_ name: String) -> Bool {
        let path = name.asciiLowercased + "."
        return fields.contains { $0.name.asciiLowercased.hasPrefix(path) }
    }

    /// The field that has the places' categories, by its name: rather one of labels than of numbers and ids.
    var categories: Field? {
        let kinds = ["type", "kind", "categor", "kategor", "class", "amenity"]
        let candidates = fields.filter { field in
            kinds.contains { field.name.asciiLowercased.contains($0) } && field.values.count <= 100
        }
        func areWords(_ field: Field) -> Bool {
            field.numbers == 0
                && !field.values.keys.contains { text in
                    text.count > 12 && text.allSatisfy { $0.isHexDigit || $0 == "-" }
                }
        }
        return candidates.first(where: areWords) ?? candidates.first
    }

    func has(_ name: String) -> Bool { fields.contains { $0.name.asciiLowercased == name.asciiLowercased } }
}
