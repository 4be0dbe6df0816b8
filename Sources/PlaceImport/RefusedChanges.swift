import PointsOfInterestServerAPI

/// What a reviewer refuses of an import: lines of its report, behind the report's first line, which names the dataset.
package struct RefusedChanges: Sendable, Hashable {
    /// What an import would do to a place, and may be told not to do.
    package enum Change: String, Sendable, CaseIterable {
        case added, changed, removed
    }

    /// One for each line, in their order.
    package private(set) var sourceIDs: [String] = []
    package private(set) var changes: [Change] = []

    private static let maximumLineBytes = 1 << 20
    /// As of the column `source_id`.
    private static let maximumIDLength = 200

    package var isEmpty: Bool { changes.isEmpty }

    /// None.
    package init() {}

    /// Reads a file, or with `-` standard input.
    ///
    /// - Throws: ``ImportError`` with the line where it isn't as it should be, or of another dataset than `dataset`,
    ///   or has more lines than `maximumCount` behind the first.
    package init(
        path: String, of dataset: String, atMost maximumCount: Int = 1_000_000
    ) throws(ImportError) {
        let input = try ByteInput(path: path)
        var number = 0
        while let line = try Self.nextLine(input, number + 1) {
            number += 1
            do throws(ImportError) {
                guard number > 1 else {
                    try Self.check(line, isOf: dataset)
                    continue
                }
                guard changes.count < maximumCount else {
                    throw ImportError("more than \(maximumCount) lines are refused")
                }
                try append(line)
            } catch {
                throw input.error(error.message, line: number)
            }
        }
        if number == 0 { throw input.error(Self.expectedHeader, line: 1) }
    }

    private static let expectedHeader = #"expected {"import": {"dataset": …}}, as in the report"#

    /// The next line without its end; nil behind the last one.
    private static func nextLine(_ input: ByteInput, _ number: Int) throws(ImportError) -> [UInt8]? {
        while true {
            let end = input.unread.firstIndex(of: UInt8(ascii: "\n"))
            let length = end.map { $0 - input.unread.startIndex } ?? input.unread.count
            guard length <= maximumLineBytes else { throw input.error("more than 1 MiB", line: number) }
            if end == nil, try input.fill() { continue }
            guard length > 0 || end != nil else { return nil }
            defer { input.consume(length + (end == nil ? 0 : 1)) }
            return Array(input.unread.prefix(length))
        }
    }

    private static func check(_ line: [UInt8], isOf dataset: String) throws(ImportError) {
        var named: String?
        try read(line) { (member, scanner) throws(JSONScanner.SyntaxError) in
            guard member == "import" else { return try scanner.skipValue() }
            try scanner.object { (name, scanner) throws(JSONScanner.SyntaxError) in
                guard name.decoded(in: scanner.bytes) == "dataset" else { return try scanner.skipValue() }
                named = try scanner.string().decoded(in: scanner.bytes)
            }
        }
        guard let named else { throw ImportError(expectedHeader) }
        // As the database compares names.
        guard named.utf8.elementsEqual(dataset.utf8) else {
            throw ImportError(
                "it is of the dataset \(shown(named)), and the import is of \(dataset.printable)")
        }
    }

    private mutating func append(_ line: [UInt8]) throws(ImportError) {
        var (sourceID, change): (String?, String?)
        try Self.read(line) { (member, scanner) throws(JSONScanner.SyntaxError) in
            switch member {
            case "sourceId": sourceID = try scanner.string().decoded(in: scanner.bytes)
            case "change": change = try scanner.string().decoded(in: scanner.bytes)
            default: try scanner.skipValue()
            }
        }
        guard let sourceID, TableCheck.isSingleLine(sourceID, maximumLength: Self.maximumIDLength) else {
            throw ImportError("expected a sourceId of 1 to \(Self.maximumIDLength) characters")
        }
        guard let change = change.flatMap(Change.init) else {
            let all = Change.allCases.map(\.rawValue).joined(separator: ", ")
            throw ImportError(
                (change.map { "the change \(Self.shown($0)) can't be refused: " } ?? "")
                    + "expected a change of \(all)")
        }
        sourceIDs.append(sourceID)
        changes.append(change)
    }

    /// Reads a line that is an object.
    private static func read(
        _ line: [UInt8],
        _ member: (_ name: String, _ scanner: inout JSONScanner) throws(JSONScanner.SyntaxError) -> Void
    ) throws(ImportError) {
        do throws(JSONScanner.SyntaxError) {
            try line.withScanner { (scanner) throws(JSONScanner.SyntaxError) in
                scanner.skipBlanks()
                try scanner.object { (name, scanner) throws(JSONScanner.SyntaxError) in
                    try member(name.decoded(in: scanner.bytes), &scanner)
                }
                scanner.skipBlanks()
                guard scanner.isAtEnd else { throw scanner.fail("the line's end") }
            }
        } catch {
            throw ImportError("there should be \(error.expected.text) at byte \(error.offset)")
        }
    }

    /// A text of the file for a message.
    private static func shown(_ text: String) -> String { String(text.prefix(60)).printable }
}
