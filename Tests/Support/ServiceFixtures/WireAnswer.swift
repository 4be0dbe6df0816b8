import Foundation
import PointsOfInterestClient

/// An answer as it came over the wire.
package struct WireAnswer: Sendable {
    package let status: Int
    /// By lower-case name.
    package let headers: [String: String]
    package var body = Data()

    init(head: String) {
        let lines = head.components(separatedBy: "\r\n")
        status = lines[0].split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        headers = Dictionary(
            lines.dropFirst().compactMap { line in
                let parts = line.split(separator: ":", maxSplits: 1)
                guard parts.count == 2 else { return nil }
                return (parts[0].lowercased(), parts[1].trimmingCharacters(in: .whitespaces))
            }, uniquingKeysWith: { "\($0), \($1)" })
    }

    /// The problem document, if the answer is one.
    package var problem: Problem? {
        guard headers["content-type"] == "application/problem+json" else { return nil }
        return try? JSONDecoder().decode(Problem.self, from: body)
    }

    /// The places, if the answer has them.
    package var places: [PointOfInterest]? {
        try? JSONDecoder().decode([PointOfInterest].self, from: body)
    }
}
