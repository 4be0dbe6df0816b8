import Foundation
import PointsOfInterestServerAPI
import PointsOfInterestAPI

// The format in which users write mappings, too; Documentation/import.md describes it.
extension Mapping {
    static let builtIn: [String: [UInt8]] = [
        "alltheplaces": PackageResources.alltheplaces_json, "columns": PackageResources.columns_json,
        "foursquare": PackageResources.foursquare_json, "geonames": PackageResources.geonames_json,
        "gtfs": PackageResources.gtfs_json, "openstreetmap": PackageResources.openstreetmap_json,
        "overture": PackageResources.overture_json,
    ]

    /// - Parameter tables: the paths of the files that it looks up texts in, by the names of `tables`.
    static func named(_ name: String, tables: [String: String] = [:]) throws(ImportError) -> Mapping {
        if let json = builtIn[name] { return try Mapping(json: Data(json), path: name, tables: tables) }
        guard let json = FileManager.default.contents(atPath: name) else {
            let names = builtIn.keys.sorted().joined(separator: ", ")
            throw ImportError("there is no such mapping: neither a file nor one of \(names)", path: name)
        }
        return try Mapping(json: json, path: name, tables: tables)
    }

    /// Reads a mapping's JSON; an error names the part that is wrong.
    init(json: Data, path: String, tables: [String: String] = [:]) throws(ImportError) {
        let members = try Self.members(of: json, path: path)
        let files = try tables.map { (name, path) throws(ImportError) in (name, try Self.table(path)) }
        do throws(Fault) {
            // Choices name tables, wherever these are written.
            if let tables = members["lookup"] { try readLookupTables(tables) }
            if let keys = members["tables"] { try readTableKeys(keys) }
            for (name, table) in files {
                guard tableKeys[name] != nil else {
                    let known = tableKeys.keys.sorted().joined(separator: ", ")
                    throw Fault("tables", "has no \"\(name)\"" + (known.isEmpty ? "" : ", but \(known)"))
                }
                lookupTables[name] = table
            }
            for (name, value) in members.members { try read(value, named: name) }
            for field in [ImportField.name, .category] where self[field].isEmpty {
                throw Fault("\(field)", "is missing")
            }
        } catch {
            throw ImportError(Self.line("\(error.place): \(error.reason)"), path: path)
        }
    }

    /// The members of a mapping, and those of the built-in one that it extends, where it doesn't have them.
    private static func members(of json: Data, path: String) throws(ImportError) -> JSONValue.Object {
        var members: JSONValue.Object
        do {
            guard case .object(let object) = try JSONDecoder().decode(JSONValue.self, from: json) else {
                throw ImportError("should be a JSON object", path: path)
            }
            members = object
        } catch let error as ImportError { throw error } catch {
            throw ImportError("isn't JSON: \(reason(for: error))", path: path)
        }
        guard let extended = members["extends"] else { return members }
        guard let name = extended.text, let json = builtIn[name] else {
            let names = builtIn.keys.sorted().joined(separator: ", ")
            throw ImportError("extends: should be one of \(names)", path: path)
        }
        var whole = try Self.members(of: Data(json), path: name)
        whole.append(members.members)
        return whole
    }

    /// What is wrong, and where: `category[3].when`.
    private struct Fault: Error {
        let place: String
        let reason: String

        init(_ place: String, _ reason: String) {
            self.place = place
            self.reason = reason
        }
    }

    private static func reason(for error: any Error) -> String {
        guard case DecodingError.dataCorrupted(let context) = error else { return "\(error)" }
        let cause = (context.underlyingError as? NSError)?.userInfo[NSDebugDescriptionErrorKey] as? String
        return line(cause ?? context.debugDescription)
    }

    /// A text in one line: a mapping's names may have line ends in them.
    private static func line(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { TableCheck.isControl($0) ? " " : $0 }))
    }

    private mutating func read(_ value: JSONValue, named name: String) throws(Fault) {
        switch (name, value) {
        case ("description", .string), ("extends", _), ("lookup", _), ("tables", _): break
        case ("quotes", .boolean(let hasQuotes)): self.hasQuotes = hasQuotes
        case ("delimiter", .string(let text)): delimiter = try character(text, place: name)
        case ("cut", .object(let cuts)):
            for (field, value) in cuts.members { add(try cut(value, of: field, place: "\(name).\(field)")) }
        case ("columns", .array(let values)):
            columns = values.compactMap(\.text)
            guard columns?.count == values.count else { throw Fault(name, "should be a list of names") }
        case ("properties", .array(let values)):
            for value in values {
                guard let name = value.text, !name.isEmpty else {
                    throw Fault(name, "should be a list of names")
                }
                takeProperty(from: name)
            }
        case ("corrections", .string(let column)) where !column.isEmpty: takeCorrections(fromObject: column)
        case ("properties", .string(let column)) where !column.isEmpty: takeProperties(fromObject: column)
        case ("names", .array(let values)):
            for (index, value) in values.enumerated() { try readNames(value, place: "\(name)[\(index)]") }
        case ("names", let value): try readNames(value, place: name)
        case ("other_names", .array(let values)):
            for (index, value) in values.enumerated() {
                try readOtherNames(value, place: "\(name)[\(index)]")
            }
        case ("properties", _):
            throw Fault(name, "should be a list of names, or the name of a field with an object")
        case ("other_names", _): throw Fault(name, "should be a list of names")
        case ("corrections", _): throw Fault(name, "should be the name of a field with an object")
        case ("description", _), ("delimiter", _): throw Fault(name, "should be a text")
        case ("quotes", _): throw Fault(name, "should be true or false")
        case ("cut", _): throw Fault(name, "should be an object of fields")
        case ("columns", _): throw Fault(name, "should be a list of names")
        default:
            guard let field = ImportField(rawValue: name) else {
                let known =
                    ImportField.allCases.map(\.rawValue) + [
                        "columns", "corrections", "cut", "delimiter", "extends", "lookup", "properties",
                        "quotes", "tables",
                    ]
                throw Fault(name, "isn't one of \(known.joined(separator: ", "))")
            }
            guard case .array(let values) = value else { throw Fault(name, "should be a list of choices") }
            for (index, value) in values.enumerated() {
                add(try choice(value, of: field, place: "\(name)[\(index)]"), for: field)
            }
        }
    }

    /// A character between two others.
    private func character(_ text: String?, place: String) throws(Fault) -> UInt8 {
        guard let text, let byte = text.utf8.first, text.utf8.count == 1 else {
            throw Fault(place, "should be one character of ASCII")
        }
        return byte
    }

    private mutating func readLookupTables(_ value: JSONValue) throws(Fault) {
        guard case .object(let tables) = value else {
            throw Fault("lookup", "should be an object of tables by their names")
        }
        for (name, value) in tables.members {
            guard case .object(let rows) = value else {
                throw Fault("lookup.\(name)", "should be an object of texts")
            }
            var table: LookupTable = [:]
            for (key, value) in rows.members {
                guard let text = value.text, !text.isEmpty else {
                    throw Fault("lookup.\(name).\(key)", "should be a text that isn't empty")
                }
                table[Array(key.utf8)] = Array(text.utf8)
            }
            lookupTables[name] = table
        }
    }

    /// What the texts of a file's table stand for, by the tables' names.
    private mutating func readTableKeys(_ value: JSONValue) throws(Fault) {
        guard case .object(let keys) = value else {
            throw Fault("tables", "should be an object of texts by the tables' names")
        }
        for (name, value) in keys.members {
            let place = "tables.\(name)"
            guard let template = value.text, lookupTables[name] == nil else {
                throw Fault(place, "should be a text with fields in braces, and no table of \"lookup\"")
            }
            tableKeys[name] = try parts(template, place: place)
        }
    }

    /// A file of a table: in each line a text, a tab, and what it stands for. Behind another tab, anything may follow.
    private static func table(_ path: String) throws(ImportError) -> LookupTable {
        guard let data = try? Data(contentsOf: URL(filePath: path)) else {
            throw ImportError("can't be read", path: path)
        }
        guard data.count <= maximumTableBytes, String(validating: data, as: UTF8.self) != nil else {
            throw ImportError("should be a text in UTF-8 of at most 16 MiB", path: path)
        }
        var table: LookupTable = [:]
        for (index, line) in data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .enumerated()
        where !line.allSatisfy({ $0 <= 0x20 }) {
            let fields = line.split(separator: 0x09, maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count >= 2, !fields[1].isEmpty else {
                throw ImportError("line \(index + 1) has no tab between two texts", path: path)
            }
            table[Array(fields[0])] = Array(fields[1].last == 0x0d ? fields[1].dropLast() : fields[1])
        }
        return table
    }

    private static let maximumTableBytes = 16 << 20

    /// What the names of fields with a name in a language begin with; or a field that has an object of all.
    private mutating func readNames(_ value: JSONValue, place: String) throws(Fault) {
        guard let name = value.text, !name.isEmpty, name != "*" else {
            throw Fault(
                place,
                "should be the beginning of columns' names, with * for the language, or the name of a field with an object"
            )
        }
        if name.hasSuffix("*") { takeNames(fromColumns: name) } else { takeNames(fromObject: name) }
    }

    /// A field with other names, or an object that also says what is between two of them.
    private mutating func readOtherNames(_ value: JSONValue, place: String) throws(Fault) {
        switch value {
        case .string(let field): takeOtherNames(from: field)
        case .object(let object):
            for (name, _) in object.members where !["field", "separator"].contains(name) {
                throw Fault("\(place).\(name)", "isn't one of field, separator")
            }
            guard let field = object["field"]?.text else { throw Fault("\(place).field", "should be a name") }
            let separator = try character(object["separator"]?.text, place: "\(place).separator")
            takeOtherNames(from: field, separator: separator)
        default: throw Fault(place, "should be a name, or an object of \"field\" and \"separator\"")
        }
    }

    private mutating func choice(
        _ value: JSONValue, of field: ImportField, place: String
    ) throws(Fault) -> Choice {
        switch value {
        case .string(let template): return Choice(parts: try parts(template, place: place))
        case .object(let object):
            var choice = Choice(parts: [])
            for (name, value) in object.members {
                let place = "\(place).\(name)"
                switch (name, value) {
                case ("when", .object(let conditions)), ("unless", .object(let conditions)):
                    for (field, value) in conditions.members {
                        let place = "\(place).\(field)"
                        choice.conditions.append(
                            try condition(field, value, isReversed: name == "unless", place: place))
                    }
                case ("then", .string(let template)): choice.parts = try parts(template, place: place)
                case ("log10", _):
                    choice.logarithmFactor = try logarithmFactor(value, of: field, place: place)
                case ("when", _), ("unless", _):
                    throw Fault(place, "should be an object of fields and their values")
                case ("then", _): throw Fault(place, "should be a text")
                default: throw Fault(place, "isn't one of when, unless, then, log10")
                }
            }
            guard !choice.parts.isEmpty else { throw Fault(place, "has no \"then\"") }
            return choice
        default: throw Fault(place, "should be a text, or an object of \"when\" and \"then\"")
        }
    }

    private func logarithmFactor(
        _ value: JSONValue, of field: ImportField, place: String
    ) throws(Fault) -> Double {
        guard field == .importance else { throw Fault(place, "is for importance only") }
        guard let factor = value.decimal, factor > 0, factor <= 1000 else {
            throw Fault(place, "should be a number above 0, at most 1000")
        }
        return factor
    }

    /// The parts of a text with fields in braces: `{street} {number}, {country code|countries}`.
    private mutating func parts(_ template: String, place: String) throws(Fault) -> [Part] {
        guard !template.isEmpty else { throw Fault(place, "is empty") }
        var parts: [Part] = []
        var rest = template[...]
        while !rest.isEmpty {
            let text = rest.prefix { $0 != "{" && $0 != "}" }
            if !text.isEmpty { parts.append(.text(Array(text.utf8))) }
            rest = rest[text.endIndex...]
            guard !rest.isEmpty else { break }
            guard rest.removeFirst() == "{", let end = rest.firstIndex(of: "}"), end > rest.startIndex else {
                throw Fault(place, "a brace has no counterpart: \(template)")
            }
            parts.append(try part(rest[..<end], place: place))
            rest = rest[rest.index(after: end)...]
        }
        return parts
    }

    /// What is in braces: a field, a field and the table in which its text is looked up, or a table with a key of its own.
    private mutating func part(_ text: Substring, place: String) throws(Fault) -> Part {
        if let key = tableKeys[String(text)] { return .lookup(key, lookupTables[String(text)] ?? [:]) }
        guard let bar = text.lastIndex(of: "|") else { return .field(index(of: String(text))) }
        let name = String(text[text.index(after: bar)...])
        guard let table = lookupTables[name] else {
            throw Fault(place, "\"lookup\" has no table \"\(name)\": {\(text)}")
        }
        guard bar > text.startIndex else {
            throw Fault(place, "there is no field before the table: {\(text)}")
        }
        return .lookup([.field(index(of: String(text[..<bar])))], table)
    }

    private mutating func condition(
        _ field: String, _ value: JSONValue, isReversed: Bool, place: String
    ) throws(Fault) -> Condition {
        var condition = Condition(field: index(of: field), patterns: [], isReversed: isReversed)
        var takesEmpty = false
        let values: [JSONValue] = if case .array(let values) = value { values } else { [value] }
        for value in values {
            switch value {
            case .null: takesEmpty = true
            case .string("*"): condition.patterns.append(.anything)
            case .string(let text) where text.last == "*":
                condition.patterns.append(.prefix(Array(text.utf8.dropLast())))
            case .string(let text): condition.patterns.append(.exactly(Array(text.utf8)))
            default: throw Fault(place, "should be a text or null, or a list of these")
            }
        }
        guard !values.isEmpty else { throw Fault(place, "should be a text or null, or a list of these") }
        condition.holdsIfEmpty = takesEmpty != isReversed
        return condition
    }

    private mutating func cut(_ value: JSONValue, of field: String, place: String) throws(Fault) -> Cut {
        guard case .object(let object) = value, !object.members.isEmpty else {
            throw Fault(place, "should be an object of \"before\" and \"behind\"")
        }
        var cut = Cut(field: index(of: field))
        for (name, value) in object.members {
            let values: [JSONValue] =
                if case .array(let values) = value, name == "before" { values } else { [value] }
            let texts = values.compactMap(\.text).filter { !$0.isEmpty }.map { Array($0.utf8) }
            guard !texts.isEmpty, texts.count == values.count else {
                throw Fault("\(place).\(name)", "should be a text that isn't empty")
            }
            switch name {
            case "before": cut.before = texts
            case "behind": cut.behind = texts[0]
            default: throw Fault("\(place).\(name)", "isn't one of before, behind")
            }
        }
        return cut
    }
}
