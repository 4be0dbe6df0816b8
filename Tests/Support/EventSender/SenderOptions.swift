import Foundation
import PointsOfInterestClient

/// What the command line asks for.
struct SenderOptions {
    static let usage = """
        usage: event-sender --directory FOLDER --base-url URL --user ID --count NUMBER
                            [--batch NUMBER] [--key KEY] [--time SECONDS]
        """

    /// Where the queue is, and how far it got.
    private(set) var directory = ""
    private(set) var baseURL = URL(fileURLWithPath: "/")
    private(set) var user = ""
    /// Events 1…count are tracked, those of earlier runs among them.
    private(set) var count = 0
    private(set) var batch = 100
    /// What the service wants as a bearer token.
    private(set) var key: String?
    /// The time of the first event, in seconds since 1970; each is a second after the one before.
    private(set) var time = 1_700_000_000.0

    init(_ arguments: [String]) throws(SenderError) {
        var values: [String: String] = [:]
        var rest = arguments[...]
        while let name = rest.popFirst() {
            guard name.hasPrefix("--"), let value = rest.popFirst() else {
                throw SenderError("\(name): no value")
            }
            values[name] = value
        }
        func take(_ name: String) throws(SenderError) -> String {
            guard let value = values.removeValue(forKey: name) else {
                throw SenderError("\(name) is missing")
            }
            return value
        }
        directory = try take("--directory")
        user = try take("--user")
        guard let url = URL(string: try take("--base-url")) else { throw SenderError("--base-url: no URL") }
        baseURL = url
        guard let count = UInt32(try take("--count")) else { throw SenderError("--count: no number") }
        self.count = Int(count)
        if let text = values.removeValue(forKey: "--batch") {
            guard let number = Int(text), number > 0 else { throw SenderError("--batch: no number") }
            batch = number
        }
        if let text = values.removeValue(forKey: "--time") {
            guard let number = Double(text) else { throw SenderError("--time: no number") }
            time = number
        }
        key = values.removeValue(forKey: "--key")
        if let unknown = values.keys.min() { throw SenderError("\(unknown) is not an option") }
    }
}

/// Why the program can't begin.
struct SenderError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
