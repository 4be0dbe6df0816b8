import Foundation
import PointsOfInterestClient

/// What a release's client needs of the responses that it got, from its sources: `Needs.json` beside its exchanges.
struct Needs: Decodable {
    /// A kind of response, and whose it is.
    struct Response: Decodable {
        /// The scenarios whose requests it is for.
        let exchanges: [String]
        /// The header fields that the client reads.
        let headers: [String]
        /// The types of the members that it reads, by their paths. With a `?`, a member may be absent.
        let body: [String: Kind]
    }

    enum Kind: String, Decodable {
        case boolean, integer, number, string
        /// West, south, east and north.
        case box
        /// What the recorded response has, too: a code, or a parameter's name.
        case same
    }

    let responses: [String: Response]
    /// The problem codes that the client knows.
    let problemCodes: [String]

    init(besides exchanges: URL) throws {
        let file = exchanges.deletingLastPathComponent().appending(path: "Needs.json")
        self = try JSONDecoder().decode(Self.self, from: Data(contentsOf: file))
    }

    /// The codes that the service doesn't have any more.
    var goneCodes: [String] {
        problemCodes.filter { ProblemCode.kinds[ProblemCode(rawValue: $0)] == nil && $0 != "unspecified" }
    }

    /// What a response of now lacks that the recorded one had, each fault with its member or header field.
    func faults(of now: Exchange.Response, comparedWith then: Exchange.Response, in scenario: String)
        -> [String]
    {
        guard let needs = responses.values.first(where: { $0.exchanges.contains(scenario) }) else {
            return ["Needs.json doesn't have it"]
        }
        guard now.status == then.status else {
            return ["the status is \(now.status) instead of \(then.status)"]
        }
        let headerFaults = needs.headers.compactMap { name in
            then.value(of: name).flatMap { fault(of: name, now.value(of: name), then: $0) }
        }
        guard !then.body.isEmpty else { return headerFaults }
        return headerFaults + needs.bodyFaults(of: now, comparedWith: then)
    }

    /// What is wrong with a header field that the recorded response has.
    private func fault(of name: String, _ now: String?, then: String) -> String? {
        guard let now else { return "\(name) is missing" }
        let isSound =
            switch name {
            case "Content-Type": now.prefix { $0 != ";" } == then
            case "Cache-Control": now.contains("no-store") == then.contains("no-store")
            case "Link": now.wholeMatch(of: /<[^>]+>; rel="next"/) != nil
            default: true
            }
        return isSound ? nil : "\(name) is \(now)"
    }
}

extension Needs.Response {
    fileprivate func bodyFaults(
        of now: Exchange.Response, comparedWith then: Exchange.Response
    ) -> [String] {
        guard let bodyNow = now.json, let bodyThen = then.json else { return ["the body isn't JSON"] }
        return body.sorted { $0.key < $1.key }.flatMap { path, kind in
            let (found, recorded) = (Members(of: bodyNow, at: path), Members(of: bodyThen, at: path))
            if let fault = found.faults.first { return [fault] }
            if kind == .same {
                return found.values == recorded.values ? [] : ["\(path) is another than it was"]
            }
            if let wrong = found.values.first(where: { !kind.isKind(of: $0) }) {
                return ["\(path) is no \(kind): \(wrong)"]
            }
            return found.values.isEmpty && !recorded.values.isEmpty ? ["\(path) is nowhere any more"] : []
        }
    }
}

extension Needs.Kind {
    fileprivate func isKind(of value: JSONValue) -> Bool {
        switch (self, value) {
        case (.boolean, .boolean), (.integer, .integer), (.string, .string): true
        case (.number, .number), (.number, .integer), (.same, _): true
        case (.box, .array(let edges)):
            edges.count == 4 && edges.allSatisfy { Self.number.isKind(of: $0) }
        default: false
        }
    }
}

/// The members at a path of a body, such as `clusters[].place?.id`: `[]` is each item, `?` a member that may be absent.
private struct Members {
    private(set) var values: [JSONValue] = []
    private(set) var faults: [String] = []

    init(of body: JSONValue, at path: String) {
        add(body, path.split(separator: ".")[...], "")
    }

    private mutating func add(_ value: JSONValue, _ steps: ArraySlice<Substring>, _ place: String) {
        guard let step = steps.first else { return values.append(value) }
        let name = step.prefix { $0 != "?" && $0 != "[" }
        let here = name.isEmpty || place.isEmpty ? "\(place)\(name)" : "\(place).\(name)"
        var member = value
        if !name.isEmpty {
            guard case .object(let object) = value else { return faults.append("\(place) is no object") }
            guard let found = object[String(name)], found != .null else {
                if !step.contains("?") { faults.append("\(here) is missing") }
                return
            }
            member = found
        }
        guard step.hasSuffix("[]") else { return add(member, steps.dropFirst(), here) }
        guard case .array(let items) = member else { return faults.append("\(here) is no array") }
        for (index, item) in items.enumerated() { add(item, steps.dropFirst(), "\(here)[\(index)]") }
    }
}
