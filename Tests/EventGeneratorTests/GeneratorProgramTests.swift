import Foundation
import Testing

@testable import EventGenerator

@Suite("The generator")
struct GeneratorProgramTests {
    private nonisolated static let definition =
        #"{"title":"a","description":"d","type":"object","additionalProperties":false}"#

    private func run(_ arguments: [String]) -> (lines: [String], code: Int32) {
        var lines: [String] = []
        let code = GeneratorProgram.run(arguments) { line, _ in
            lines.append(line)
            return nil
        }
        return (lines, code)
    }

    @Test("The generator writes the files, and with --check reports those that are out of date")
    func writesAndChecks() throws {
        try ExampleFiles.withFolder(["a.json": Self.definition, "notes.txt": "no definition"]) { folder in
            let arguments = [
                "--definitions", folder, "--swift", "\(folder)/A.swift", "--catalog", "\(folder)/B.swift",
                "--documentation", "\(folder)/a.md",
            ]
            #expect(run(arguments + ["--check"]).code == 1)
            #expect(run(arguments) == ([], 0))
            #expect(run(arguments + ["--check"]) == ([], 0))
            #expect(try String(contentsOfFile: "\(folder)/A.swift", encoding: .utf8).contains("    case a\n"))
            #expect(
                try String(contentsOfFile: "\(folder)/B.swift", encoding: .utf8).contains(
                    "allowsOthers: false)"))
            #expect(try String(contentsOfFile: "\(folder)/a.md", encoding: .utf8).contains("## `a`"))
            try "x".write(toFile: "\(folder)/a.md", atomically: true, encoding: .utf8)
            let (lines, code) = run(arguments + ["--check"])
            #expect(lines == ["generate-events: \(folder)/a.md is not what \(folder) makes"])
            #expect(code == 1)
            #expect(try String(contentsOfFile: "\(folder)/a.md", encoding: .utf8) == "x")
        }
    }

    @Test("The generator ends with exit code 1 and says why if its help can't be written")
    func unwritableOutput() {
        var complaints: [String] = []
        let code = GeneratorProgram.run(["--help"]) { line, isError in
            if isError { complaints.append(line) }
            return isError ? nil : "Broken pipe"
        }
        #expect(code == 1)
        #expect(complaints == ["generate-events: standard output: Broken pipe"])
    }

    @Test(
        "The generator says in one line what is wrong with its arguments",
        arguments: [
            ([], "--definitions is missing"),
            (["--definitions", "x"], "nothing to make: give --swift, --catalog or --documentation"),
            (["--definitions"], "--definitions: not an option with a value; --help lists them"),
            (["--colour", "red"], "--colour is not an option; --help lists them"),
            (["--type", "lower"], "--type: lower is no type's name"),
            (["--access", "open"], "--access: public, package or internal, not open"),
            (["--import", "a b"], "--import: a b is no module's name"),
            (["--definitions", "/nowhere", "--swift", "x"], "/nowhere: is not a folder that can be read"),
        ] as [([String], String)])
    func refusesArguments(arguments: [String], reason: String) {
        let (lines, code) = run(arguments)
        #expect(lines == ["generate-events: \(reason)"])
        #expect(code == 64)
    }

    @Test("The generator prints its usage with --help")
    func helps() {
        let (lines, code) = run(["--help"])
        #expect(code == 0)
        #expect(lines.first?.contains("usage: generate-events") == true)
    }

    @Test("The generator refuses a folder without definitions, and a file that can't be written")
    func refusesFolders() throws {
        try ExampleFiles.withFolder([:]) { folder in
            #expect(
                run(["--definitions", folder, "--swift", "\(folder)/x"]).lines == [
                    "generate-events: \(folder): has no definition, a file that ends in .json"
                ])
        }
        try ExampleFiles.withFolder(["a.json": Self.definition]) { folder in
            #expect(
                run(["--definitions", folder, "--swift", "\(folder)/no/x"]).lines == [
                    "generate-events: \(folder)/no/x: can't be written"
                ])
        }
    }
}

/// The files beside these tests.
enum ExampleFiles {
    private nonisolated static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

    /// The path of a file or a folder.
    static func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    /// A folder of a test's own, with these files, for as long as the body runs.
    static func withFolder<Value>(_ files: [String: String], _ body: (String) throws -> Value) throws -> Value
    {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for (name, text) in files {
            try text.write(to: folder.appendingPathComponent(name), atomically: true, encoding: .utf8)
        }
        return try body(folder.path)
    }
}
