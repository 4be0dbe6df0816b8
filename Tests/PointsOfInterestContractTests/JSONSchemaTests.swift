import Foundation
import Testing

@testable import PointsOfInterestContract

@Suite("The description that responses are checked by", .onceOnly)
struct JSONSchemaTests {
    /// The definitions of a description, each with the keywords that it uses.
    private func keywords(of schema: JSON) -> Set<String> {
        guard let members = schema.members else { return [] }
        var found = Set(members.keys)
        for name in ["items", "not"] { found.formUnion(members[name].map(keywords) ?? []) }
        for name in ["anyOf", "allOf", "prefixItems"] {
            for part in members[name]?.array ?? [] { found.formUnion(keywords(of: part)) }
        }
        for member in (members["properties"]?.members ?? [:]).values {
            found.formUnion(keywords(of: member))
        }
        return found
    }

    @Test("No keyword of a schema is ignored")
    func known() throws {
        let document = try ContractDescription.own.get().document
        let schemas = try #require(document["components"]?["schemas"]?.members)
        #expect(schemas.count > 15)
        for (name, schema) in schemas {
            #expect(keywords(of: schema).subtracting(JSONSchema.keywords) == [], "\(name)")
        }
    }

    @Test(
        "Each keyword of a schema accepts what it allows and finds what it forbids",
        arguments: [
            (#"{"type": "string"}"#, #""a""#, "1"), (#"{"type": "integer"}"#, "5.0", "5.5"),
            (#"{"type": "boolean"}"#, "true", "1"), (#"{"type": "number"}"#, "1", "true"),
            (#"{"type": ["array", "null"]}"#, "null", "{}"), (#"{"const": "a"}"#, #""a""#, #""b""#),
            (#"{"enum": ["a", 1]}"#, "1", "2"), (#"{"minimum": 0, "maximum": 1}"#, "0.5", "1.5"),
            (#"{"minLength": 1, "maxLength": 2}"#, #""ab""#, #""""#),
            (#"{"maxLength": 2}"#, #""é""#, #""abc""#), (#"{"pattern": "^a+$"}"#, #""aa""#, #""ab""#),
            (#"{"items": {"type": "null"}}"#, "[null]", "[null, 1]"),
            (#"{"prefixItems": [{"type": "null"}], "items": {"type": "number"}}"#, "[null, 1]", "[1, 1]"),
            (#"{"minItems": 1, "maxItems": 2}"#, "[1]", "[]"),
            (#"{"required": ["a"], "properties": {"a": {"type": "null"}}}"#, #"{"a": null, "b": 1}"#, "{}"),
            (#"{"properties": {"a": {"type": "null"}}}"#, #"{"b": 1}"#, #"{"a": 1}"#),
            (#"{"maxProperties": 1}"#, #"{"a": 1}"#, #"{"a": 1, "b": 1}"#),
            (
                #"{"properties": {"a": {}}, "additionalProperties": {"type": "null"}}"#,
                #"{"a": 1, "b": null}"#, #"{"b": 1}"#
            ),
            (#"{"properties": {"a": {}}, "additionalProperties": false}"#, #"{"a": 1}"#, #"{"b": 1}"#),
            (#"{"anyOf": [{"type": "null"}, {"type": "string"}]}"#, "null", "1"),
            (#"{"allOf": [{"minimum": 0}, {"maximum": 1}]}"#, "1", "2"),
            (#"{"not": {"const": 1}}"#, "2", "1"), (#"{"$ref": "any"}"#, "null", "1"),
            (
                #"{"properties": {"code": {"type": "string", "enum": ["a"]}}}"#, #"{"code": "new"}"#,
                #"{"code": 1}"#
            ),
        ] as [(String, String, String)])
    func checks(definition: String, right: String, wrong: String) throws {
        func json(_ text: String) throws -> JSON { try JSON(Data(text.utf8)) }
        let schema = JSONSchema(try json(definition)) { _ in .object(["type": .string("null")]) }
        #expect(schema.fault(of: try json(right)) == nil)
        #expect(schema.fault(of: try json(wrong)) != nil)
    }

    @Test(
        "A description with missing parts isn't accepted as one that has grown",
        arguments: [
            (#"{"a": {"type": "string"}}"#, #"{"a": {"type": "integer"}}"#), (#"{"a": 1}"#, "{}"),
            (#"{"required": ["a", "b"]}"#, #"{"required": ["b"]}"#),
            (#"{"parameters": [{"name": "lat", "in": "query"}]}"#, #"{"parameters": []}"#),
            (#"{"anyOf": [{"type": "string"}]}"#, #"{"anyOf": [{"type": "null"}]}"#),
        ])
    func growth(old: String, new: String) throws {
        let (old, new) = (try JSON(Data(old.utf8)), try JSON(Data(new.utf8)))
        #expect(Growth(from: old, to: new).missing != [])
        #expect(Growth(from: old, to: old).missing == [])
        let more = JSON.object(old.members?.merging(["x": .null]) { $1 } ?? [:])
        #expect(Growth(from: old, to: more).missing == [])
    }
}
