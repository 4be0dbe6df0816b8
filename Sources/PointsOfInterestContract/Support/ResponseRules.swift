import Foundation
import Locking
import PointsOfInterestClient

/// An exchange that broke a rule that every response follows.
struct Violation: Sendable {
    let exchange: Exchange
    let fault: String
    let rule: ContractRule
}

/// What holds for every response, whatever a test asked for: form, headers, and what caches may do with it.
enum ResponseRules {
    /// The rules that an exchange breaks. Recorded responses lack most headers, and aren't checked.
    static func violations(of exchange: Exchange) -> [Violation] {
        if ContractConfiguration.current.target == .recorded { return [] }
        return all.flatMap { rule in
            rule.faults(exchange).map { Violation(exchange: exchange, fault: $0, rule: rule.rule) }
        }
    }

    private struct Rule: Sendable {
        let rule: ContractRule
        let faults: @Sendable (Exchange) -> [String]

        init(
            _ says: String, in section: ContractRule.Section, otherwise harm: String,
            _ faults: @escaping @Sendable (Exchange) -> [String]
        ) {
            rule = ContractRule(says: says, section: section, harm: harm)
            self.faults = faults
        }
    }

    private static let all = [
        Rule(
            "A response is one that the contract describes, in status, headers and body", in: .conventions,
            otherwise: "The app can't decode the response and shows an error, or shows what is wrong.",
            described),
        Rule(
            "Every response has a request's id: the client's, or one of the server's", in: .conventions,
            otherwise: "Nobody finds the log's line of a user's failed request.", requestID),
        Rule(
            "Every response varies with Accept and Accept-Encoding", in: .conditional,
            otherwise:
                "A cache hands out GeoJSON to an app that asked for JSON, or gzip to one that can't read it.",
            vary),
        Rule(
            "Problems and health aren't stored by caches; data are private if they depend on a position or a text, or are of some ids",
            in: .conditional,
            otherwise: "A cache serves a past failure, or one user's surroundings to another user.",
            cacheControl),
        Rule(
            "A problem tells the status and the id of its response, and what to do, in words", in: .problems,
            otherwise: "The app shows an empty alert, or takes the problem for another one.", problem),
        Rule(
            "A tag belongs to one content of one query", in: .conditional,
            otherwise:
                "The app keeps the list of one query under the tag of another, and shows it after a 304.",
            tags),
    ]

    private static func faults(
        _ exchange: Exchange, _ name: String, _ isValid: (String) -> Bool
    ) -> [String] {
        guard let value = exchange.header(name) else { return ["there is no \(name)"] }
        return isValid(value) ? [] : ["\(name) is \"\(value)\""]
    }
}

// MARK: - The rules

extension ResponseRules {
    private static func described(_ exchange: Exchange) -> [String] {
        guard exchange.method != "OPTIONS", let description = try? ContractDescription.own.get() else {
            return []
        }
        guard let response = description.response(exchange.status, exchange.method, exchange.path) else {
            return ["\(exchange.status) isn't among the responses"]
        }
        var faults = response.headers.compactMap { header -> String? in
            guard let value = exchange.header(header.name) else {
                return header.isRequired ? "there is no \(header.name)" : nil
            }
            // A header has no types: a number is its digits.
            let read = Double(value).flatMap {
                header.schema.fault(of: .number($0)) == nil ? JSON.number($0) : nil
            }
            return header.schema.fault(of: read ?? .string(value), at: header.name)
        }
        if exchange.method != "HEAD", exchange.status != 304 { faults += body(of: exchange, response) }
        return faults
    }

    private static func body(of exchange: Exchange, _ response: ContractDescription.Documented) -> [String] {
        if response.bodies.isEmpty { return exchange.body.isEmpty ? [] : ["it has a body"] }
        guard let type = exchange.mediaType, let schema = response.bodies[type] else {
            return ["its content is \(exchange.header("Content-Type") ?? "of no type")"]
        }
        guard type.hasSuffix("json") else { return [] }
        return checked.once(exchange) {
            do {
                return try schema.fault(of: JSON(exchange.body))
            } catch {
                return "the body is no JSON: \(error)"
            }
        }
    }

    /// Bodies that were checked: many tests get the same one.
    private static let checked = Checked()

    private final class Checked: Sendable {
        private struct Key: Hashable {
            let status: Int
            let type: String?
            let template: String?
            /// Not `Data`: it keeps its case in bits of a pointer, so that LeakSanitizer doesn't see that it is still there.
            let body: [UInt8]
        }

        private let faults = Lock<[Key: String?]>([:])

        func once(_ exchange: Exchange, _ check: () -> String?) -> [String] {
            let template = (try? ContractDescription.own.get())?.template(of: exchange.path)
            let key = Key(
                status: exchange.status, type: exchange.mediaType, template: template,
                body: Array(exchange.body))
            if let known = faults.withLock({ $0[key] }) { return known.map { [$0] } ?? [] }
            let fault = check()
            faults.withLock { $0[key] = .some(fault) }
            return fault.map { [$0] } ?? []
        }
    }

    private static func requestID(_ exchange: Exchange) -> [String] {
        faults(exchange, "X-Request-Id") { id in
            let sent = exchange.request.value(forHTTPHeaderField: "X-Request-Id")
            return id.wholeMatch(of: /[A-Za-z0-9._-]{1,128}/) != nil
                && (sent == id || sent?.wholeMatch(of: /[A-Za-z0-9._-]{1,128}/) == nil)
        }
    }

    private static func vary(_ exchange: Exchange) -> [String] {
        let names = exchange.list("Vary")
        return ["accept", "accept-encoding"].filter { !names.contains($0) && !names.contains("*") }
            .map { "Vary doesn't name \($0)" }
    }

    private static func cacheControl(_ exchange: Exchange) -> [String] {
        if exchange.method == "OPTIONS" { return [] }
        let directives = exchange.list("Cache-Control")
        let isHealth = [EndpointPath.livez, EndpointPath.readyz].contains(exchange.path)
        if exchange.status >= 400 || isHealth || exchange.path == EndpointPath.events || exchange.isOfEditors
        {
            return directives.contains("no-store") ? [] : ["Cache-Control is \(directives)"]
        }
        let hasKey = ContractConfiguration.current.keys != nil
        let items = URLComponents(string: exchange.target)?.queryItems ?? []
        // Which region an app keeps is where its user lives, or travels.
        let isPersonal =
            exchange.path == "/locations/digest"
            || items.contains { ["lat", "ids", "q"].contains($0.name) }
        let isData = [
            EndpointPath.locations, EndpointPath.categories, EndpointPath.attributions,
        ].contains { exchange.path.hasPrefix($0) }
        // Whose key it is that is in other headers, the service's or a gateway's, nobody knows here.
        let isUnclear = !hasKey && exchange.request.value(forHTTPHeaderField: "Authorization") != nil
        guard isData, isPersonal || !isUnclear else { return [] }
        let scope = isPersonal || hasKey ? "private" : "public"
        let other = isPersonal || hasKey ? "public" : "private"
        let hasAge = directives.contains { $0.hasPrefix("max-age=") } || directives.contains("no-cache")
        return directives.contains(scope) && !directives.contains(other) && hasAge
            ? [] : ["Cache-Control is \(directives), not \(scope) with an age"]
    }

    private static func problem(_ exchange: Exchange) -> [String] {
        guard exchange.status >= 400, exchange.method != "HEAD" else { return [] }
        guard let body = try? JSON(exchange.body), let code = body["code"]?.text else {
            return ["there is no problem"]
        }
        var faults: [String] = []
        if body["status"] != .number(Double(exchange.status)) {
            faults.append("`status` isn't the response's")
        }
        if body["requestId"]?.text != exchange.header("X-Request-Id") {
            faults.append("`requestId` isn't the response's")
        }
        if body["type"] != .string("/problems/\(code)") { faults.append("`type` isn't /problems/\(code)") }
        if body["detail"] == body["title"] { faults.append("`detail` says no more than `title`") }
        let statuses = (try? ContractDescription.own.get())?.statuses(ofProblem: code) ?? []
        if !statuses.isEmpty, !statuses.contains(exchange.status) {
            faults.append("\(code) isn't a code of \(exchange.status)")
        }
        for name in ["title", "detail"] where body[name]?.text?.isEmpty != false {
            faults.append("there is no `\(name)`")
        }
        return faults
    }

    /// The content that each tag had.
    private static let contents = Lock<[String: Content]>([:])

    private struct Content {
        let target: String
        /// As in `Checked.Key`.
        let body: [UInt8]
    }

    private static func tags(_ exchange: Exchange) -> [String] {
        guard exchange.status == 200, exchange.method == "GET", let tag = exchange.header("ETag") else {
            return []
        }
        // A record's tag is its version, which is of one place.
        let key = exchange.isOfEditors ? exchange.path + tag : tag
        let first = contents.withLock { contents -> Content? in
            if let first = contents[key] { return first }
            contents[key] = Content(target: exchange.target, body: Array(exchange.body))
            return nil
        }
        guard let first, !first.body.elementsEqual(exchange.body) else { return [] }
        return ["\(tag) was also the tag of other content, of \(first.target)"]
    }
}
