import Bytes
import PointsOfInterestAPI

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The definition of an event: its name, its meaning and its values. Each file in `Events/` has one.
package struct EventDefinition: Hashable, Sendable {
    /// The event's name, in kebab case.
    package let name: String
    /// What happened, in a sentence.
    package let description: String
    /// The values that the event may have; the required ones come first.
    package let parameters: [EventParameter]
    /// Whether values that aren't among the parameters are kept. They come from newer apps. If this is false, they are
    /// refused.
    package let allowsOthers: Bool

    /// Makes a definition, of at most `EventLimits.members` parameters.
    package init(
        name: String, description: String, parameters: [EventParameter] = [], allowsOthers: Bool = true
    ) {
        self.name = name
        self.description = description
        self.parameters = parameters
        self.allowsOthers = allowsOthers
    }
}

/// One value of an event, as its definition has it.
package struct EventParameter: Hashable, Sendable {
    /// What a value may be.
    package enum Kind: Hashable, Sendable {
        /// A text whose length in Unicode scalars is in this range.
        case text(length: ClosedRange<Int>)
        /// One of a few texts, and no other.
        case choice([String])
        /// A text whose length in Unicode scalars is in this range. These values are known; newer apps have more.
        case openChoice([String], length: ClosedRange<Int>)
        case integer(ClosedRange<Int>)
        case number(ClosedRange<Double>)
        /// True or false.
        case boolean
    }

    /// The value's name, in snake case, kebab case or camel case.
    package let name: String
    package let description: String
    /// What the value may be.
    package let kind: Kind
    /// Whether every such event must have it.
    package let isRequired: Bool

    package init(name: String, description: String, kind: Kind, isRequired: Bool) {
        self.name = name
        self.description = description
        self.kind = kind
        self.isRequired = isRequired
    }

    /// The length of a text without a `minLength` and a `maxLength`: the whole value has a maximum size.
    package static let anyLength = 0...EventLimits.valueBytes
}

/// The events that are known, by their names.
package struct EventCatalog: Hashable, Sendable {
    package static let builtIn = EventCatalog(unique: trackingEvents)

    /// The definitions, in the order of their names.
    package let definitions: [EventDefinition]
    /// The places of the definitions whose names have so many bytes.
    private let indicesByLength: [[Int]]

    private init(unique definitions: [EventDefinition]) {
        self.definitions = definitions.sorted { $0.name < $1.name }
        var indices: [[Int]] = []
        for (index, definition) in self.definitions.enumerated() {
            let length = definition.name.utf8.count
            while indices.count <= length { indices.append([]) }
            indices[length].append(index)
        }
        indicesByLength = indices
    }

    /// The place of the definition of an event; nil if the name is not known.
    func index(of name: UnsafeBufferPointer<UInt8>) -> Int? {
        guard name.count < indicesByLength.count else { return nil }
        return indicesByLength[name.count].first { name.isSame(as: definitions[$0].name) }
    }

    /// Returns the catalog with more events, a team's own for instance.
    ///
    /// - Throws: `EventDefinitionError` if a name is there already: one name would have two meanings in the table.
    package func merging(_ definitions: [EventDefinition]) throws(EventDefinitionError) -> EventCatalog {
        var names = Set(self.definitions.map(\.name))
        for definition in definitions {
            guard names.insert(definition.name).inserted else {
                throw EventDefinitionError(
                    file: "\(definition.name).json",
                    reason: "there is an event named \(definition.name) already")
            }
        }
        return EventCatalog(unique: self.definitions + definitions)
    }
}

extension EventDefinition {
    /// Reads every definition of a folder: the files that end in `.json`, in the order of their names.
    ///
    /// - Throws: the first fault; a folder without definitions is one.
    package static func read(folder: String) throws(EventDefinitionError) -> [EventDefinition] {
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

/// Why a definition of an event can't be used, on one line.
package struct EventDefinitionError: Error, Hashable, Sendable, CustomStringConvertible, LocalizedError {
    package let file: String
    /// What is wrong with it.
    package let reason: String

    package init(file: String, reason: String) {
        self.file = file
        self.reason = reason
    }

    package var description: String { "\(file): \(reason)" }

    /// The file and what is wrong with it, on one line.
    package var errorDescription: String? { description }
}
