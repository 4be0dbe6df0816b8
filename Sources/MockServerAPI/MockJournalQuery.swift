import PointsOfInterestAPI

/// The query of a session's journal: which requests, and whether to wait for one.
public struct MockJournalQuery: Hashable, Sendable {
    /// Only requests with a greater number than this, from 0.
    public var after: Int
    /// How long to wait for the first of them to be answered, in whole seconds, 0…60.
    public var waitSeconds: Int

    /// Makes a query.
    public init(after: Int = 0, waitSeconds: Int = 0) {
        self.after = after
        self.waitSeconds = waitSeconds
    }

    /// The query as a URL has it.
    public var text: String { "after=\(after)&wait=\(waitSeconds)" }

    /// Reads a raw query.
    ///
    /// - Throws: `ParameterError` with every fault.
    package init(text: String) throws(ParameterError) {
        var numbers: [String: Int] = [:]
        var faults: [ParameterFault] = []
        for item in text.split(separator: "&") {
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(
                String.init)
            let name = String(parts[0].prefix(40))
            guard let range = Self.ranges[name] else {
                faults.append(
                    ParameterFault(
                        parameter: name, code: .unknownParameter,
                        detail: "is not known; known are after, wait"))
                continue
            }
            if numbers[name] != nil {
                faults.append(
                    ParameterFault(parameter: name, code: .repeatedParameter, detail: "must be given once"))
            }
            let number = parts.count == 2 ? Int(parts[1]) : nil
            if number.map(range.contains) != true {
                faults.append(
                    ParameterFault(
                        parameter: name, code: .outOfRange,
                        detail: "must be a whole number from \(range.lowerBound) to \(range.upperBound)"))
            }
            numbers[name] = number ?? 0
        }
        guard faults.isEmpty else { throw ParameterError(faults: faults) }
        self.init(after: numbers["after"] ?? 0, waitSeconds: numbers["wait"] ?? 0)
    }

    private static let ranges = ["after": 0...Int.max, "wait": 0...60]
}
