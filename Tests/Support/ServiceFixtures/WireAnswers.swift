import Foundation
import PointsOfInterestClient

/// All that came over a connection until its end, taken apart.
package struct WireAnswers {
    /// What no server may send.
    package struct Malformed: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) { self.description = description }
    }

    /// One answer's head, and its body where one came.
    package struct Answer {
        package let status: Int
        package let isProblem: Bool
        package let isCompressed: Bool
        package let body: ArraySlice<UInt8>
    }

    package let answers: [Answer]

    /// - Parameter isReset: whether the connection was torn down, so that the last answer may be cut off.
    package init(_ bytes: [UInt8], isReset: Bool) throws {
        var answers: [Answer] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            guard let answer = try Self.take(from: &rest) else {
                if isReset { break }
                throw Malformed(description: "the answer's end is missing")
            }
            answers.append(answer)
        }
        self.answers = answers
    }

    private static let start = Array("HTTP/1.1 ".utf8)

    /// Takes an answer off the start; nil where it isn't whole.
    private static func take(from bytes: inout ArraySlice<UInt8>) throws -> Answer? {
        guard let headEnd = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let head = String(decoding: bytes[..<headEnd.lowerBound], as: UTF8.self)
        let lines = head.split(separator: "\r\n", omittingEmptySubsequences: false)
        guard let statusLine = try /HTTP\/1\.1 ([1-5][0-9][0-9]) .*/.wholeMatch(in: lines[0]),
            let status = Int(statusLine.output.1)
        else { throw Malformed(description: "no status line: \(lines[0])") }
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let field = try /([!-9;-~]+): ?([^\0\r\n]*)/.wholeMatch(in: line) else {
                throw Malformed(description: "no field: \(line)")
            }
            fields[field.output.1.lowercased()] = String(field.output.2)
        }
        bytes = bytes[headEnd.upperBound...]
        let length = fields["content-length"].flatMap { Int($0) } ?? 0
        // The answer to HEAD tells a length and has no body: the next answer follows, or nothing.
        let hasBody = length > 0 && !bytes.isEmpty && !bytes.starts(with: start)
        guard !hasBody || bytes.count >= length else { return nil }
        let body = hasBody ? bytes.prefix(length) : []
        bytes = bytes.dropFirst(body.count)
        return Answer(
            status: status, isProblem: fields["content-type"] == MediaType.problemJSON,
            isCompressed: fields["content-encoding"] != nil, body: body)
    }
}
