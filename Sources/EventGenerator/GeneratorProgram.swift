import Foundation
import PointsOfInterestServerAPI

/// The program, without its process, so that tests can run it.
enum GeneratorProgram {
    /// Does what the arguments say and returns the exit code: 0; 1 where `--check` finds a file out of date, or where
    /// standard output can't be written; 64 (EX_USAGE, sysexits.h) and one line of text where an argument or a
    /// definition is wrong.
    /// - Parameter say: writes a line; returns the system's reason where that fails.
    static func run(_ arguments: [String], say: (_ line: String, _ isError: Bool) -> String?) -> Int32 {
        do {
            guard let options = try GeneratorOptions(arguments) else {
                guard let reason = say(GeneratorOptions.help, false) else { return 0 }
                _ = say("generate-events: standard output: \(reason)", true)
                return 1
            }
            let outdated = try Generation(options).run()
            for file in outdated {
                _ = say("generate-events: \(file) is not what \(options.definitions) makes", true)
            }
            return outdated.isEmpty ? 0 : 1
        } catch {
            _ = say("generate-events: \(error)", true)
            return 64
        }
    }
}

private struct Generation {
    private let options: GeneratorOptions

    init(_ options: GeneratorOptions) { self.options = options }

    /// Writes the files, or with `--check` compares them; returns those that are out of date.
    func run() throws -> [String] {
        let definitions = try EventDefinition.read(folder: options.definitions)
        var outdated: [String] = []
        if let file = options.swiftFile {
            let source = try SwiftSource(definitions, options: options).text
            if try !put(source, in: file) { outdated.append(file) }
        }
        if let file = options.catalog {
            let source = CatalogSource(definitions, options: options).text
            if try !put(source, in: file) { outdated.append(file) }
        }
        if let file = options.documentation {
            let page = ReferencePage(definitions, folder: options.definitions).text
            if try !put(page, in: file) { outdated.append(file) }
        }
        return outdated
    }

    /// Writes a file unless it has this text already; with `--check` returns false instead.
    private func put(_ text: String, in file: String) throws -> Bool {
        let present = FileManager.default.contents(atPath: file)
        if present == Data(text.utf8) { return true }
        if options.isCheck { return false }
        do {
            try Data(text.utf8).write(to: URL(fileURLWithPath: file), options: .atomic)
        } catch {
            throw GeneratorError("\(file): can't be written")
        }
        return true
    }
}

struct GeneratorError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

struct GeneratorOptions {
    static let help = """
        Makes Swift types and a page of documentation from a folder of event definitions.

        usage: generate-events --definitions FOLDER [--swift FILE] [--catalog FILE] [--documentation FILE] [options]

          --definitions FOLDER    the folder whose *.json files define the events
          --swift FILE            the Swift file to write, for an app
          --catalog FILE          the Swift file with the definitions to write, for the service
          --documentation FILE    the Markdown page to write
          --type NAME             the name of the enum (TrackingEvent)
          --access LEVEL          its access level: public, package or internal (internal)
          --import MODULE         the module that the file imports (PointsOfInterestClient; none for nothing)
          --check                 write nothing; fail if a file is not what would be written
        """

    enum Access: String {
        case `public`, package, `internal`
    }

    private(set) var definitions = ""
    private(set) var swiftFile: String?
    private(set) var catalog: String?
    private(set) var documentation: String?
    private(set) var type = "TrackingEvent"
    private(set) var access = Access.internal
    private(set) var module: String? = "PointsOfInterestClient"
    private(set) var isCheck = false

    /// Reads the arguments; nil if they ask for help.
    init?(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--help" || argument == "-h" { return nil }
            if argument == "--check" {
                isCheck = true
                continue
            }
            guard argument.hasPrefix("--"), let value = rest.popFirst(), !value.isEmpty else {
                throw GeneratorError("\(argument): not an option with a value; --help lists them")
            }
            try set(argument, to: value)
        }
        guard !definitions.isEmpty else { throw GeneratorError("--definitions is missing") }
        guard swiftFile != nil || catalog != nil || documentation != nil else {
            throw GeneratorError("nothing to make: give --swift, --catalog or --documentation")
        }
    }

    private mutating func set(_ option: String, to value: String) throws {
        switch option {
        case "--definitions": definitions = value
        case "--swift": swiftFile = value
        case "--catalog": catalog = value
        case "--documentation": documentation = value
        case "--type":
            guard SwiftName.isTypeName(value) else {
                throw GeneratorError("--type: \(value) is no type's name")
            }
            type = value
        case "--access":
            guard let level = Access(rawValue: value) else {
                throw GeneratorError("--access: public, package or internal, not \(value)")
            }
            access = level
        case "--import":
            guard SwiftName.isTypeName(value) || value == "none" else {
                throw GeneratorError("--import: \(value) is no module's name")
            }
            module = value == "none" ? nil : value
        default: throw GeneratorError("\(option) is not an option; --help lists them")
        }
    }
}
