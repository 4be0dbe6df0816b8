import Foundation

/// The query of a session's journal: which requests, and whether to wait for one.
public struct MockJournalQuery: Hashable, Sendable {
    /// Only requests with a greater number than this, from 0.
    public var after: Int
    /// How long to wait for the first of them, in whole seconds, 0…60.
    public var waitSeconds: Int
    /// Whether a request is waited for until the mock is done with it, or only until it has arrived.
    public var untilDone: Bool
    /// The method of the requests; nil is any.
    public var method: String?
    /// The path of the requests, or the template of a route, as a rule of faults has it; nil is any.
    public var path: String?

    /// Makes a query.
    public init(
        after: Int = 0, waitSeconds: Int = 0, untilDone: Bool = true, method: String? = nil,
        path: String? = nil
    ) {
        self.after = after
        self.waitSeconds = waitSeconds
        self.untilDone = untilDone
        self.method = method
        self.path = path
    }
}

extension MockJournalQuery {
    private enum Name: String, CaseIterable {
        case after, wait, done, method, path
    }

    /// Why a query is none, as the rest of a sentence that begins with the parameter's name.
    package struct Fault: Error, Hashable {
        /// The parameter's name.
        package let parameter: String
        /// What is wrong with it.
        package let detail: String
    }

    /// The query's items.
    public var queryItems: [URLQueryItem] {
        let values: [(Name, String?)] = [
            (.after, String(after)), (.wait, String(waitSeconds)), (.done, untilDone ? nil : "false"),
            (.method, method), (.path, path),
        ]
        return values.compactMap { name, value in
            value.map { URLQueryItem(name: name.rawValue, value: $0) }
        }
    }

    /// Reads a raw query; each parameter may be there once.
    ///
    /// - Throws: the first `Fault`.
    package init(query: String) throws(Fault) {
        var values: [Name: String] = [:]
        for item in query.split(separator: "&") {
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Name(rawValue: String(parts[0])) else {
                let known = Name.allCases.map(\.rawValue).joined(separator: ", ")
                throw Fault(
                    parameter: String(parts[0].prefix(40)), detail: "is not known; known are \(known)")
            }
            guard parts.count == 2, let value = String(parts[1]).removingPercentEncoding else {
                throw Fault(parameter: name.rawValue, detail: "has no value that is encoded properly")
            }
            guard values.updateValue(value, forKey: name) == nil else {
                throw Fault(parameter: name.rawValue, detail: "must be given once")
            }
        }
        self.init(
            after: try Self.integer(values, .after, in: 0...Int.max),
            waitSeconds: try Self.integer(values, .wait, in: 0...60),
            untilDone: try Self.flag(values, .done),
            method: values[.method], path: values[.path])
    }

    private static func integer(
        _ values: [Name: String], _ name: Name, in range: ClosedRange<Int>
    ) throws(Fault) -> Int {
        guard let text = values[name] else { return 0 }
        guard let number = Int(text), range.contains(number) else {
            throw Fault(
                parameter: name.rawValue,
                detail: "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    private static func flag(_ values: [Name: String], _ name: Name) throws(Fault) -> Bool {
        switch values[name] {
        case nil, "true": return true
        case "false": return false
        default: throw Fault(parameter: name.rawValue, detail: "must be true or false")
        }
    }
}
