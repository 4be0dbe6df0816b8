import Foundation
import PointsOfInterestClient

extension ExpectedPlaces {
    /// Reads a file.
    init(csv: Data) throws(ExpectedPlacesError) {
        guard var text = String(data: csv, encoding: .utf8)?.unicodeScalars else { throw .notUTF8 }
        if text.first == "\u{FEFF}" { text.removeFirst() }
        var records = CSVRecords(text)
        while let setting = records.nextComment() { try read(setting.text, line: setting.line) }
        guard let header = try records.next() else { throw .noHeader }
        let columns = try Self.columns(header)
        let number = /[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/
        while let record = try records.next() {
            guard places.count < Self.maximumCount else { throw .tooManyPlaces(line: record.line) }
            places.append(try ExpectedPlace(record, columns, number))
        }
        guard !places.isEmpty else { throw .noPlaces }
    }

    private mutating func read(_ comment: String, line: Int) throws(ExpectedPlacesError) {
        guard let match = comment.wholeMatch(of: /# *([A-Z0-9_]+)=(.*)/) else {
            throw .malformedSetting(line: line)
        }
        let (name, value) = (String(match.output.1), String(match.output.2))
        switch name {
        case "POI_CACHE_PRIVATE_MAX_AGE":
            guard settings.privateMaxAge == nil else { throw .repeatedSetting(line: line, name: name) }
            settings.privateMaxAge = try Self.seconds(value, name, line)
        case "POI_CACHE_PUBLIC_MAX_AGE":
            guard settings.publicMaxAge == nil else { throw .repeatedSetting(line: line, name: name) }
            settings.publicMaxAge = try Self.seconds(value, name, line)
        case "POI_CORS_ORIGINS":
            guard settings.origins == nil else { throw .repeatedSetting(line: line, name: name) }
            settings.origins = value.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        default: throw .unknownSetting(line: line, name: name)
        }
    }

    private static func seconds(
        _ text: String, _ name: String, _ line: Int
    ) throws(ExpectedPlacesError) -> Int {
        guard text.allSatisfy({ $0.isASCII && $0.isNumber }), let seconds = Int(text) else {
            throw .unusableSetting(line: line, name: name)
        }
        return seconds
    }

    private static func columns(_ header: CSVRecords.Record) throws(ExpectedPlacesError) -> [String] {
        let known = ["name", "latitude", "longitude"] + ExpectedPlace.optionalColumns
        for (index, name) in header.cells.enumerated() {
            guard known.contains(name) else { throw .unknownColumn(line: header.line, name: name) }
            guard !header.cells[..<index].contains(name) else {
                throw .repeatedColumn(line: header.line, name: name)
            }
        }
        for name in known.prefix(3) where !header.cells.contains(name) {
            throw .missingColumn(line: header.line, name: name)
        }
        return header.cells
    }
}

extension ExpectedPlace {
    fileprivate static let optionalColumns = [
        "category", "featured", "address", "website", "importance", "properties", "dataset", "id", "license",
        "credit", "url", "places",
    ]

    /// - Parameter number: what degrees look like.
    fileprivate init(
        _ record: CSVRecords.Record, _ columns: [String], _ number: Regex<Substring>
    ) throws(ExpectedPlacesError) {
        guard record.cells.count == columns.count else {
            throw .wrongCellCount(line: record.line, count: record.cells.count, expected: columns.count)
        }
        let cells = Dictionary(uniqueKeysWithValues: zip(columns, record.cells)).filter { !$0.value.isEmpty }
        func fault(_ column: String, _ rule: String) -> ExpectedPlacesError {
            .unusableCell(line: record.line, column: column, rule: rule)
        }
        func degrees(_ column: String, _ range: ClosedRange<Double>) throws(ExpectedPlacesError) -> Double {
            let text = cells[column] ?? ""
            guard text.wholeMatch(of: number) != nil, let degrees = Double(text), range.contains(degrees)
            else {
                throw fault(column, "has to be a decimal number of \(range.lowerBound)…\(range.upperBound)")
            }
            return degrees
        }
        guard let name = cells["name"] else { throw fault("name", "is empty") }
        self.init(
            line: record.line, name: name, latitude: try degrees("latitude", Coordinate.latitudes),
            longitude: try degrees("longitude", Coordinate.longitudes))
        if let text = cells["featured"] {
            guard ["true", "false"].contains(text) else { throw fault("featured", "has to be true or false") }
            featured = text == "true"
        }
        (category, address, website) = (cells["category"], cells["address"], cells["website"])
        if let text = cells["importance"] {
            guard let number = Int(text), (0...1000).contains(number) else {
                throw fault("importance", "has to be a whole number of 0…1000")
            }
            importance = number
        }
        if let text = cells["properties"] {
            properties = try? JSONDecoder().decode(JSONValue.Object.self, from: Data(text.utf8))
            guard properties != nil else { throw fault("properties", "has to be a JSON object") }
        }
        (dataset, id, license) = (cells["dataset"], cells["id"], cells["license"])
        (credit, url) = (cells["credit"], cells["url"])
        if let text = cells["places"] {
            guard text.allSatisfy({ $0.isASCII && $0.isNumber }), let count = Int(text), count > 0 else {
                throw fault("places", "has to be a whole number above 0")
            }
            datasetPlaces = count
        }
        for column in ["credit", "url", "places"] where cells[column] != nil && dataset == nil {
            throw fault(column, "is the dataset's, which has to be there too")
        }
    }
}

/// The records of a CSV file.
private struct CSVRecords {
    struct Record {
        var line: Int
        var cells: [String] = []
    }

    private let text: [Unicode.Scalar]
    private var position = 0
    private var line = 1

    init(_ text: String.UnicodeScalarView) { self.text = Array(text) }

    private var current: Unicode.Scalar? { position < text.count ? text[position] : nil }

    /// The next line, where it begins with #.
    mutating func nextComment() -> (text: String, line: Int)? {
        guard current == "#" else { return nil }
        var comment = String.UnicodeScalarView()
        let line = line
        while let scalar = current, !isAtLineEnd() {
            comment.append(scalar)
            position += 1
        }
        skipLineEnd()
        return (String(comment), line)
    }

    /// The next record; nil at the end. Empty lines are none.
    mutating func next() throws(ExpectedPlacesError) -> Record? {
        while current != nil, isAtLineEnd() { skipLineEnd() }
        guard current != nil else { return nil }
        var record = Record(line: line)
        while true {
            record.cells.append(try cell())
            if current == "," {
                position += 1
            } else {
                skipLineEnd()
                return record
            }
        }
    }

    private mutating func cell() throws(ExpectedPlacesError) -> String {
        var cell = String.UnicodeScalarView()
        guard current == "\"" else {
            while let scalar = current, scalar != ",", !isAtLineEnd() {
                guard scalar != "\"" else { throw .misplacedQuote(line: line) }
                cell.append(scalar)
                position += 1
            }
            return String(cell)
        }
        position += 1
        while let scalar = current {
            position += 1
            if scalar == "\n" { line += 1 }
            if scalar != "\"" {
                cell.append(scalar)
            } else if current == "\"" {
                cell.append(scalar)
                position += 1
            } else {
                guard current == nil || current == "," || isAtLineEnd() else { break }
                return String(cell)
            }
        }
        throw .misplacedQuote(line: line)
    }

    private func isAtLineEnd() -> Bool {
        current == "\n" || current == "\r" && position + 1 < text.count && text[position + 1] == "\n"
    }

    private mutating func skipLineEnd() {
        if current == "\r" { position += 1 }
        guard current == "\n" else { return }
        position += 1
        line += 1
    }
}
