import Foundation
import PointsOfInterestAPI

extension Mapping {
    /// The mappings that come with the program, by their names.
    static let builtIn: [String: [UInt8]] = [
        "columns": PackageResources.columns_json, "geonames": PackageResources.geonames_json,
        "openstreetmap": PackageResources.openstreetmap_json,
    ]

    /// Reads a built-in mapping or a file.
    static func named(_ name: String) throws(ImportError) -> Mapping {
        if let json = builtIn[name] { return try Mapping(json: Data(json), path: name) }
        guard let json = FileManager.default.contents(atPath: name) else {
            let names = builtIn.keys.sorted().joined(separator: ", ")
            throw ImportError("there is no such mapping: neither a file nor one of \(names)", path: name)
        }
        return try Mapping(json: json, path: name)
    }

    /// Reads a mapping's JSON; an error names the part that is wrong.
    init(json: Data, path: String) throws(ImportError) {
        let members: JSONValue.Object
        do {
            guard case .object(let object) = try JSONDecoder().decode(JSONValue.self, from: json) else {
                throw ImportError("should be a JSON object", path: path)
            }
            members = object
        } catch let error as ImportError {
            throw error
        } catch {
            throw ImportError("isn't JSON: \(Self.reason(for: error))", path: path)
        }
        do throws(Fault) {
            for (name, value) in members.members { try read(value, named: name) }
            for field in [ImportField.name, .category] where self[field].isEmpty {
                throw Fault("\(field)", "is missing")
            }
        } catch {
            throw ImportError("\(error.place): \(error.reason)", path: path)
        }
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
        return (cause ?? context.debugDescription).replacing("\n", with: " ")
    }

    private mutating func read(_ value: JSONValue, named name: String) throws(Fault) {
        switch (name, value) {
        case ("description", .string): break
        case ("quotes", .boolean(let hasQuotes)): self.hasQuotes = hasQuotes
        case ("delimiter", .string(let text)):
            guard let byte = text.utf8.first, text.utf8.count == 1 else {
                throw Fault(name, "should be one character of ASCII")
            }
            delimiter = byte
        case ("columns", .array(let values)):
            columns = values.compactMap(\.text)
            guard columns?.count == values.count else { throw Fault(name, "should be a list of names") }
        case ("description", _), ("delimiter", _): throw Fault(name, "should be a text")
        case ("quotes", _): throw Fault(name, "should be true or false")
        case ("columns", _): throw Fault(name, "should be a list of names")
        default:
            guard let field = ImportField(rawValue: name) else {
                let known = ImportField.allCases.map(\.rawValue) + ["columns", "delimiter", "quotes"]
                throw Fault(name, "isn't one of \(known.joined(separator: ", "))")
            }
            guard case .array(let values) = value else { throw Fault(name, "should be a list of choices") }
            for (index, value) in values.enumerated() {
                add(try choice(value, place: "\(name)[\(index)]"), for: field)
            }
        }
    }

    private mutating func choice(_ value: JSONValue, place: String) throws(Fault) -> Choice {
        switch value {
        case .string(let template):
            return Choice(parts: try parts(template, place: place))
        case .object(let object):
            var choice = Choice(parts: [])
            for (name, value) in object.members {
                let place = "\(place).\(name)"
                switch (name, value) {
                case ("when", .object(let conditions)):
                    for (field, value) in conditions.members {
                        choice.conditions.append(try condition(field, value, place: "\(place).\(field)"))
                    }
                case ("then", .string(let template)): choice.parts = try parts(template, place: place)
                case ("when", _): throw Fault(place, "should be an object of fields and their values")
                case ("then", _): throw Fault(place, "should be a text")
                default: throw Fault(place, "isn't one of when, then")
                }
            }
            guard !choice.parts.isEmpty else { throw Fault(place, "has no \"then\"") }
            return choice
        default:
            throw Fault(place, "should be a text, or an object of \"when\" and \"then\"")
        }
    }

    private mutating func parts(_ template: String, place: String) throws(Fault) -> [Part] {
        guard let parts = parts(of: template) else {
            throw Fault(place, "a brace has no counterpart: \(template)")
        }
        guard !parts.isEmpty else { throw Fault(place, "is empty") }
        return parts
    }

    private mutating func condition(
        _ field: String, _ value: JSONValue, place: String
    ) throws(Fault) -> Condition {
        let values: [JSONValue] = if case .array(let values) = value { values } else { [value] }
        let patterns = values.compactMap(\.text).map { text -> Condition.Pattern in
            guard text.last == "*" else { return .exactly(Array(text.utf8)) }
            return text == "*" ? .anything : .prefix(Array(text.utf8.dropLast()))
        }
        guard !patterns.isEmpty, patterns.count == values.count else {
            throw Fault(place, "should be a text or a list of texts")
        }
        return Condition(field: index(of: field), patterns: patterns)
    }
}
