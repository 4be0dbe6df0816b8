/// Why a document can't be used as fixtures: every fault that was found in it.
package struct FixtureError: Error, Hashable, CustomStringConvertible {
    /// The faults, in the document's order; at least one.
    package let faults: [DocumentFault]

    /// The first fault and how many more there are, in one line.
    package var description: String {
        let more = faults.count > 1 ? " (and \(faults.count - 1) more)" : ""
        return (faults.first?.description ?? "not fixtures") + more
    }
}

/// One fault of a JSON document, and where it is.
package struct DocumentFault: Hashable, Sendable, CustomStringConvertible {
    /// Where: `[3].latitude`; empty for the document as a whole.
    package let path: String
    /// What is wrong there, as the rest of a sentence that begins with the path.
    package let detail: String

    /// The path and what is wrong there, in a sentence.
    package var description: String { path.isEmpty ? "the document \(detail)" : "\(path) \(detail)" }
}

extension DocumentFault {
    /// The maximum number of bytes of a member's name, as it is written.
    static let maximumNameBytes = 256

    /// The fault of a JSON document that has a member with a longer name than `maximumNameBytes`; nil if it has none.
    ///
    /// A decoder hashes the names. To normalize a long name of combining marks for that takes time that grows with the
    /// square of its length.
    static func longName(in json: [UInt8]) -> DocumentFault? {
        var rest = json[...]
        while let quote = rest.firstIndex(of: UInt8(ascii: "\"")) {
            let start = quote + 1
            var end = start
            while end < json.endIndex, json[end] != UInt8(ascii: "\"") {
                end += json[end] == UInt8(ascii: "\\") ? 2 : 1
            }
            guard end < json.endIndex else { return nil }
            rest = json[(end + 1)...].drop { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
            if end - start > maximumNameBytes, rest.first == UInt8(ascii: ":") {
                return DocumentFault(
                    path: "", detail: "has a member whose name has more than \(maximumNameBytes) bytes")
            }
        }
        return nil
    }

    /// Describes what a decoder threw.
    init(anyError error: any Error) {
        switch error as? DecodingError {
        case .keyNotFound(let key, let context):
            self.init(context.codingPath + [key], "is missing")
        case .valueNotFound(let type, let context), .typeMismatch(let type, let context):
            self.init(context.codingPath, "must be \(Self.expectation(of: type))")
        case .dataCorrupted(let context):
            // A fault of the document as a whole is one of its syntax.
            self.init(
                context.codingPath, context.codingPath.isEmpty ? "is not JSON" : context.debugDescription)
        default:
            self.init(path: "", detail: "can't be read")
        }
    }

    private init(_ codingPath: [any CodingKey], _ detail: String) {
        self.init(path: Self.path(codingPath), detail: detail)
    }

    /// A decoder's path in the usual notation.
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
