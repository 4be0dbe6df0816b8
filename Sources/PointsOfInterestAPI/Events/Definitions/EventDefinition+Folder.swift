#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension EventDefinition {
    /// Reads every definition of a folder: the files that end in `.json`, in the order of their names.
    ///
    /// - Throws: the first fault; a folder without definitions is one.
    public static func read(folder: String) throws(EventDefinitionError) -> [EventDefinition] {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: folder)
        } catch {
            throw EventDefinitionError(file: folder, reason: "is not a folder that can be read")
        }
        let files = names.filter { $0.hasSuffix(".json") && !$0.hasPrefix(".") }.sorted()
        guard !files.isEmpty else {
            throw EventDefinitionError(file: folder, reason: "has no definition, a file that ends in .json")
        }
        var definitions: [EventDefinition] = []
        for file in files {
            let path = folder.hasSuffix("/") ? folder + file : "\(folder)/\(file)"
            guard let data = FileManager.default.contents(atPath: path) else {
                throw EventDefinitionError(file: path, reason: "can't be read")
            }
            definitions.append(try EventDefinition(json: Array(data), file: path))
        }
        return definitions
    }
}
