import Testing

@testable import EventGenerator

@Suite("A definition")
struct DefinitionFaultTests {
    /// What the generator says of a folder with one definition, and its exit code.
    private func outcome(_ json: String, file: String = "a.json") throws -> (lines: [String], code: Int32) {
        try ExampleFiles.withFolder([file: json]) { folder in
            var lines: [String] = []
            let code = GeneratorProgram.run(["--definitions", folder, "--swift", "\(folder)/a.swift"]) {
                line, _ in
                lines.append(line.replacing(folder, with: "FOLDER"))
                return nil
            }
            return (lines, code)
        }
    }

    private nonisolated static func definition(
        _ properties: String = "{}", required: String = "[]", more: String = ""
    ) -> String {
        #"{"title":"a","description":"d","type":"object","properties":\#(properties),"required":\#(required)\#(more)}"#
    }

    private nonisolated static func property(_ members: String) -> String {
        definition(#"{"p":{"description":"d",\#(members)}}"#)
    }

    @Test(
        "The fault of a definition is reported on one line",
        arguments: [
            ("", "there should be a value at byte 0"),
            ("{", "there should be a member's name at byte 1"),
            ("[]", "the definition must be an object"),
            (#"{"title":"a","title":"b"}"#, "there should be each name once at byte 25"),
            (#"{"description":"d"}"#, "the definition must have a title, on one line"),
            (#"{"title":"A b"}"#, "title must be in kebab case, as page-view is"),
            (#"{"title":"b"}"#, "the file of b must be called b.json"),
            (#"{"title":"a","type":"object"}"#, "the definition must have a description, on one line"),
            (
                #"{"title":"a","description":"d\nd","type":"object"}"#,
                "the definition must have a description, on one line"
            ),
            (#"{"title":"a","description":"d"}"#, "type must be object"),
            (
                #"{"title":"a","descripton":"d"}"#,
                "the definition has descripton, which is not known; did you mean description?"
            ),
            (definition(more: #","additionalProperties":{}"#), "additionalProperties must be true or false"),
            (definition("[]"), "properties must be an object"),
            (definition(required: #"["q"]"#), "q is required and not among the properties"),
            (
                definition(#"{"a b":{}}"#),
                "a b is no parameter's name: letters, digits, and - or _ between them"
            ),
            (definition(#"{"p":{"type":"string"}}"#), "p must have a description, on one line"),
            (property(#""type":"array""#), "p: type must be string, integer, number or boolean"),
            (property(#""type":"string","pattern":"x""#), "p has pattern, which is not known"),
            (property(#""type":"string","maximum":1"#), "p has maximum, which is not known"),
            (property(#""type":"integer","minimum":1.5"#), "p: minimum must be a number of its type"),
            (property(#""type":"number","minimum":2,"maximum":1"#), "p: minimum is greater than maximum"),
            (property(#""type":"string","minLength":-1"#), "p: minLength is greater than maxLength"),
            (property(#""type":"string","enum":[]"#), "p: enum must not be empty"),
            (property(#""type":"string","enum":["x","x"]"#), "p: enum must be a list of texts, each once"),
            (
                property(#""type":"string","enum":["x"],"examples":["x"]"#),
                "p: enum and examples exclude each other"
            ),
        ])
    func namesFault(json: String, reason: String) throws {
        let (lines, code) = try outcome(json)
        #expect(lines == ["generate-events: FOLDER/a.json: \(reason)"])
        #expect(code == 64)
    }

    @Test(
        "A definition with names that become the same in Swift is refused",
        arguments: [
            (
                definition(
                    #"{"a-b":{"type":"boolean","description":"d"},"a_b":{"type":"boolean","description":"d"}}"#
                ),
                "a: two parameters would both be aB in Swift"
            ),
            (
                property(#""type":"string","enum":["a b","a-b"]"#),
                "a: p can't have a-b beside the other values"
            ),
            (property(#""type":"string","enum":["!"]"#), "a: p can't have ! beside the other values"),
            (
                definition(#"{"parameters":{"type":"string","description":"d","enum":["x"]}}"#),
                "parameters of its event and the parameters of a would both be AParameters in Swift"
            ),
            (
                definition(#"{"hash-value":{"type":"boolean","description":"d"}}"#),
                "a: Swift has no room for a parameter hash-value"
            ),
        ])
    func refusesCollisions(json: String, reason: String) throws {
        let (lines, code) = try outcome(json)
        #expect(lines == ["generate-events: \(reason)"])
        #expect(code == 64)
    }
}
