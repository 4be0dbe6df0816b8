import Foundation
import PointsOfInterestAPI

/// One run: reads the definitions, and writes or compares what they make.
struct Generation {
    private let options: GeneratorOptions

    init(_ options: GeneratorOptions) {
        self.options = options
    }

    /// Writes the files; or, where they are only compared, answers those that are out of date.
    func run() throws -> [String] {
        let definitions = try EventDefinition.read(folder: options.definitions)
        var outdated: [String] = []
        if let file = options.swiftFile {
            let source = try SwiftSource(definitions, options: options).text
            if try !put(source, in: file) { outdated.append(file) }
        }
        if let file = options.documentation {
            let page = ReferencePage(definitions, folder: options.definitions).text
            if try !put(page, in: file) { outdated.append(file) }
        }
        return outdated
    }

    /// False if the file is only compared, and isn't this text.

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
