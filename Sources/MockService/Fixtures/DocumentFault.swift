/// One fault of a JSON document, and where it is.
package struct DocumentFault: Hashable, Sendable, CustomStringConvertible {
    /// Where: `[3].latitude`; empty for the document as a whole.
    package let path: String
    /// What is wrong with it, as the rest of a sentence that begins with the path.
    package let detail: String

    /// The sentence.
    package var description: String { path.isEmpty ? "the document \(detail)" : "\(path) \(detail)" }
}

extension DocumentFault {
    /// What a decoder threw.
    init(anyError error: any Error) {
        if let error = error as? DecodingError {
            self.init(error)
        } else {
            self.init(path: "", detail: "can't be read")
        }
    }

    /// What a decoder says, in a few words.
    init(_ error: DecodingError) {
        switch error {
        case .keyNotFound(let key, let context):
            self.init(context.codingPath + [key], "is missing")
        case .valueNotFound(let type, let context), .typeMismatch(let type, let context):
            self.init(context.codingPath, "must be \(Self.expectation(of: type))")
        case .dataCorrupted(let context):
            // What is corrupted at the top is the syntax.
            self.init(
                context.codingPath, context.codingPath.isEmpty ? "is not JSON" : context.debugDescription)
        @unknown default:
            self.init(path: "", detail: "can't be read")
        }
    }

    private init(_ codingPath: [any CodingKey], _ detail: String) {
        self.init(path: Self.path(codingPath), detail: detail)
    }

    /// A decoder's path as people write it.
    static func path(_ codingPath: [any CodingKey]) -> String {
        codingPath.reduce(into: "") { path, key in
            if let index = key.intValue {
                path += "[\(index)]"
            } else {
                path += path.isEmpty ? key.stringValue : ".\(key.stringValue)"
            }
        }
    }

    private static func expectation(of type: any Any.Type) -> String {
        switch type {
        case is String.Type: "a text"
        case is Bool.Type: "true or false"
        case is Int.Type: "a whole number"
        case is Double.Type: "a number"
        case is [String: Any].Type: "an object"
        default: "an array"
        }
    }
}

/// Why a document is no fixtures: every fault that was found in it.
package struct FixtureError: Error, Hashable, CustomStringConvertible {
    /// The faults, in the document's order; never none.
    package let faults: [DocumentFault]

    /// The first fault, and how many more there are, in one line.
    package var description: String {
        let more = faults.count > 1 ? " (and \(faults.count - 1) more)" : ""
        return (faults.first?.description ?? "not fixtures") + more
    }
}
