import Foundation
import PointsOfInterestAPI

/// One run: reads the definitions, and writes or compares what they make.
struct Generation {
    private let options: GeneratorOptions

    init(_ options: GeneratorOptions) {
        self.options = options
    }

    /// Writes the files; false if they are only compared, and one is out of date.
    func run() throws -> Bool {
        let definitions = try EventDefinition.read(folder: options.definitions)
        var isCurrent = true
        if let file = options.swiftFile {
            let source = try SwiftSource(definitions, options: options).text
            isCurrent = try put(source, in: file) && isCurrent
        }
        if let file = options.documentation {
            let page = ReferencePage(definitions, folder: options.definitions).text
            isCurrent = try put(page, in: file) && isCurrent
        }
        return isCurrent
    }

    private func put(_ text: String, in file: String) throws -> Bool {
        let present = FileManager.default.contents(atPath: file)
        if present == Data(text.utf8) { return true }
        if options.isCheck {
            FileHandle.standardError.write(
                Data("generate-events: \(file) is not what \(options.definitions) makes\n".utf8))
            return false
        }
        do {
            try Data(text.utf8).write(to: URL(fileURLWithPath: file), options: .atomic)
        } catch {
            throw GeneratorError("\(file): can't be written")
        }
        return true
    }
}
