import Foundation
import PointsOfInterestTesting

extension RecordedExchange {
    /// What parts two exchanges of a file, as in the `.http` files of editors.
    private static let separator = "###\n"

    /// Reads a file of exchanges.
    static func all(in text: String) throws -> [RecordedExchange] {
        // The end of the last line is not the body's.
        try text.components(separatedBy: "\n" + separator).filter { !$0.isEmpty }
            .map { try RecordedExchange(text: $0 + "\n") }
    }

    /// Writes a file of exchanges, in an order that doesn't depend on when they happened.
    static func text(of exchanges: [RecordedExchange]) -> String {
        exchanges.map(\.text).sorted().map { $0 + "\n" + separator }.joined()
    }

    private var text: String {
        let request = ["\(method) \(target)"] + Self.lines(of: requestHeaders)
        let answer = ["\(status)"] + Self.lines(of: responseHeaders)
        return (request + [""] + answer + ["", String(decoding: body, as: UTF8.self)]).joined(separator: "\n")
    }

    private static func lines(of headers: [String: String]) -> [String] {
        headers.map { "\($0): \($1)" }.sorted()
    }
}
