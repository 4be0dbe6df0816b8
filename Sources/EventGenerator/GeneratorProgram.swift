import Foundation
import PointsOfInterestServerAPI

/// The program, without its process, so that tests can run it.
enum GeneratorProgram {
    /// Does what the arguments say and returns the exit code: 0; 1 where `--check` finds a file out of date, or where
    /// standard output can't be written; 64 (EX_USAGE, sysexits.h) and one line of text where an argument or a
    /// definition is wrong.
    ///
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

/// One run: reads the definitions, and writes or compares the files that are made from them.
private struct Generation {
    private let options: GeneratorOptions

    init(_ options: GeneratorOptions) {
        self.options = options
    }

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

/// Why nothing was generated, on one line.
struct GeneratorError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
