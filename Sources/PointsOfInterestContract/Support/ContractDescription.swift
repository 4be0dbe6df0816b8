import Foundation
import Locking

/// The description of the service that this version's contract has: a copy of what a local server sends for
/// `/openapi.json`, so that another server is compared with the contract and not with itself.
final class ContractDescription: Sendable {
    struct Documented {
        struct Header {
            let name: String
            let isRequired: Bool
            let schema: JSONSchema
        }

        let headers: [Header]
        /// By media type; none where there is no body.
        let bodies: [String: JSONSchema]
    }

    static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "../Recorded/openapi.json").standardized

    /// The contract's. Where it can't be read, this checkout is broken.
    static let own = Result { ContractDescription(try JSON(Data(contentsOf: file))) }

    let document: JSON
    /// The templates of paths, those without a placeholder first.
    private let templates: [String]
    private let documented = Lock<[String: Made]>([:])

    /// Takes a value out of the lock. Unchecked: it never changes, and its regular expressions are thread-safe.
    private struct Made: @unchecked Sendable {
        let value: Documented?
    }

    init(_ document: JSON) {
        self.document = document
        templates = (document["paths"]?.members ?? [:]).keys.sorted {
            ($0.contains("{") ? 1 : 0, $0) < ($1.contains("{") ? 1 : 0, $1)
        }
    }

    /// The template of a path; nil where the contract has no such path.
    func template(of path: String) -> String? {
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        return templates.first { template in
            let parts = template.split(separator: "/", omittingEmptySubsequences: false)
            return parts.count == segments.count
                && zip(parts, segments).allSatisfy { $0.hasPrefix("{") ? !$1.isEmpty : $0 == $1 }
        }
    }

    /// The description of an operation's response with a status; nil if it isn't described. Problems are the same for
    /// all operations.
    func response(_ status: Int, _ method: String, _ path: String) -> Documented? {
        let template = template(of: path) ?? ""
        return documented.withLock { documented in
            let key = status >= 400 ? "\(status)" : "\(status) \(method) \(template)"
            if let made = documented[key] { return made.value }
            let definition =
                status >= 400
                ? document["components"]?["responses"]?["Problem\(status)"]
                : document["paths"]?[template]?[method.lowercased()]?["responses"]?["\(status)"]
            let made = Made(value: definition.map(read))
            documented[key] = made
            return made.value
        }
    }

    private func read(_ definition: JSON) -> Documented {
        let headers = (definition["headers"]?.members ?? [:]).sorted { $0.key < $1.key }.map { name, header in
            let header = header["$ref"]?.text.map(resolve) ?? header
            return Documented.Header(
                name: name, isRequired: header["required"] == .boolean(true),
                schema: JSONSchema(header["schema"] ?? .null, resolve: resolve))
        }
        let bodies = (definition["content"]?.members ?? [:]).mapValues {
            JSONSchema($0["schema"] ?? .null, resolve: resolve)
        }
        return Documented(headers: headers, bodies: bodies)
    }

    /// What a reference such as `#/components/schemas/Place` leads to.
    private func resolve(_ reference: String) -> JSON {
        reference.split(separator: "/").dropFirst().reduce(document) { $0[String($1)] ?? .null }
    }

    var problemCodes: [String] {
        (document["components"]?["schemas"]?["ProblemCode"]?["enum"]?.array ?? []).compactMap(\.text)
    }

    var categories: [String] {
        let parameters = document["paths"]?["/locations"]?["get"]?["parameters"]?.array ?? []
        let category = parameters.first { $0["name"] == .string("category") }
        return (category?["schema"]?["items"]?["enum"]?.array ?? []).compactMap(\.text)
    }

    /// The properties that a request for places may filter by, and whether each is true or false.
    var filterableProperties: [(name: String, isBoolean: Bool)] {
        let parameters = document["paths"]?["/locations"]?["get"]?["parameters"]?.array ?? []
        return parameters.compactMap { parameter in
            guard let name = parameter["name"]?.text, name.hasPrefix("property.") else { return nil }
            let isBoolean = parameter["schema"]?["items"]?["type"] == .string("boolean")
            return (String(name.dropFirst("property.".count)), isBoolean)
        }
    }

    /// The statuses that a problem of a code has; none for a code that isn't described.
    func statuses(ofProblem code: String) -> [Int] {
        (document["components"]?["responses"]?.members ?? [:]).values.compactMap { response in
            let schema = response["content"]?["application/problem+json"]?["schema"]?["allOf"]?.array?.last?[
                "properties"]
            let hasCode = schema?["code"]?["enum"]?.array?.contains(.string(code)) == true
            return hasCode ? schema?["status"]?["const"]?.number.map { Int($0) } : nil
        }
    }

    /// Whether reading or sending events needs keys; editors have keys of their own.
    var needsKeys: Bool {
        let schemes = document["components"]?["securitySchemes"]
        return schemes?["key"] != nil || schemes?["eventsKey"] != nil
    }

    /// Whether places can be edited, by who has a key.
    var hasEditors: Bool { document["paths"]?["/locations/{id}/record"] != nil }

    /// Whether it tells the sums of places.
    var hasDigest: Bool { document["paths"]?["/locations/digest"] != nil }

    var limitsRate: Bool { document["paths"]?["/locations"]?["get"]?["responses"]?["429"] != nil }
}
