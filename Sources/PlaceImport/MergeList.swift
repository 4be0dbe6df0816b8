/// A CSV of places that are the same: what `poi duplicates` writes, and `poi places merge --from` reads.
package struct MergeList {
    package struct Pair: Sendable, Hashable {
        package let line: Int
        package let id, into: Int64
        /// The versions that they had; nil for whatever they have.
        package let version, intoVersion: Int64?
    }

    package static let header = columns.joined(separator: ",")
    private static let columns = [
        "id", "into", "name", "into_name", "meters", "reason", "version", "into_version",
    ]

    package static func line(
        id: Int64, into: Int64, names: [String], meters: Double, reason: String, versions: [Int64]
    ) -> String {
        let fields =
            ["\(id)", "\(into)"] + names + ["\(Int(meters.rounded()))", reason] + versions.map { "\($0)" }
        return fields.map { field in
            field.utf8.contains { "\",\r\n".utf8.contains($0) }
                ? "\"" + field.replacing("\"", with: "\"\"") + "\"" : field
        }.joined(separator: ",")
    }

    package private(set) var pairs: [Pair] = []

    /// Reads a file, or with `-` standard input: the columns `id` and `into`, and perhaps the versions.
    package init(path: String) throws(ImportError) {
        var reader = try CSVReader(try ByteInput(path: path), Mapping(), delimiter: nil, headerRow: 1)
        let fields = ["id", "into", "version", "into_version"]
        reader.take(fields)
        let names = reader.columns.map(\.asciiLowercased)
        for field in fields.prefix(2) where !names.contains(field) {
            throw ImportError("there is no column \(field)", path: path, line: 1)
        }
        var row = Row(fieldCount: fields.count)
        while true {
            let result = try reader.next(into: &row)
            if case .end = result { return }
            let texts = fields.indices.map { row.text(of: row[$0]) }
            let numbers = texts.map { Int64($0) }
            guard case .row = result, let id = numbers[0], let into = numbers[1],
                zip(texts, numbers).allSatisfy({ $0.isEmpty || $1 != nil })
            else {
                throw ImportError("expected numbers: id, into and the versions", path: path, line: row.line)
            }
            pairs.append(
                Pair(line: row.line, id: id, into: into, version: numbers[2], intoVersion: numbers[3]))
        }
    }
}
