import Foundation
import PointsOfInterestClient

/// Places that the target is known to have, and settings that it is known to run with: a CSV file (RFC 4180) in UTF-8.
///
///     # POI_CACHE_PUBLIC_MAX_AGE=300
///     name,latitude,longitude,category,featured,address,website,importance,properties,dataset,id,license,credit,url,places
///     "Café ""Zur Post""",48.2,16.37,cafe,false,,,20,"{""rooms"": 4}",osm,node/1,ODbL-1.0,© OpenStreetMap contributors,,1072
///
/// The first three columns have to be there, the others may be, in any order; `properties` are a JSON object, `id` is the
/// source's, `places` how many places its dataset has. An empty cell says nothing.
struct ExpectedPlaces: Hashable, Sendable {
    static let maximumCount = 20

    private(set) var places: [ExpectedPlace] = []
    private(set) var settings = ServiceSettings()

    /// What the file that `POI_CONTRACT_EXPECT` names says; nil without that variable. Where the file can't be used, this
    /// process ends with one line and exit code 64.
    static let current: ExpectedPlaces? = {
        guard let path = ProcessInfo.processInfo.environment["POI_CONTRACT_EXPECT"], !path.isEmpty else {
            return nil
        }
        do {
            guard let data = FileManager.default.contents(atPath: path) else {
                throw ContractConfigurationError("the file can't be read")
            }
            return try ExpectedPlaces(csv: data)
        } catch {
            ContractConfiguration.end(with: ContractConfigurationError("POI_CONTRACT_EXPECT: \(error)"))
        }
    }()
}

/// A place that the target is known to have. A member that is nil isn't known.
struct ExpectedPlace: Hashable, Sendable {
    var line: Int
    var name: String
    var latitude: Double
    var longitude: Double
    var category: String?
    var featured: Bool?
    var address: String?
    var website: String?
    var importance: Int?
    var operatingStatus: OperatingStatus?
    var properties: JSONValue.Object?
    var dataset: String?
    var id: String?
    var license: String?
    var credit: String?
    var url: String?
    var datasetPlaces: Int?
}

// MARK: - Reading the file

extension ExpectedPlaces {
    /// Reads a file; the error is one line without the file's contents, but for names.
    init(csv: Data) throws(ContractConfigurationError) {
        guard let text = String(data: csv, encoding: .utf8) else {
            throw ContractConfigurationError("the file isn't UTF-8")
        }
        var records = try Self.records(text)[...]
        while let setting = records.first, setting.cells[0].hasPrefix("#") {
            try read(setting.cells.joined(separator: ","), line: setting.line)
            records.removeFirst()
        }
        let columns = records.popFirst()?.cells ?? []
        if let unknown = columns.first(where: { !ExpectedPlace.columns.contains($0) }) {
            throw ContractConfigurationError("the column \(unknown) isn't known")
        }
        guard Set(columns).count == columns.count else {
            throw ContractConfigurationError("a column is there twice")
        }
        for record in records {
            guard record.cells.count == columns.count else {
                throw fault(record.line, "\(record.cells.count) cells instead of \(columns.count)")
            }
            let cells = Dictionary(uniqueKeysWithValues: zip(columns, record.cells))
            places.append(try ExpectedPlace(line: record.line, cells: cells.filter { !$0.value.isEmpty }))
        }
        guard (1...Self.maximumCount).contains(places.count) else {
            throw ContractConfigurationError("\(places.count) places instead of 1…\(Self.maximumCount)")
        }
    }

    private mutating func read(_ comment: String, line: Int) throws(ContractConfigurationError) {
        let parts = comment.dropFirst().split(separator: "=", maxSplits: 1).map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        let (name, value) = (parts.first ?? "", parts.dropFirst().first ?? "")
        switch (name, Int(value)) {
        case ("POI_CACHE_PRIVATE_MAX_AGE", let seconds?): settings.privateMaxAge = seconds
        case ("POI_CACHE_PUBLIC_MAX_AGE", let seconds?): settings.publicMaxAge = seconds
        case ("POI_CORS_ORIGINS", _) where !value.isEmpty:
            settings.origins = value.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        default: throw fault(line, "the setting \(name) isn't known, or its value can't be used")
        }
    }

    private static func records(
        _ text: String
    ) throws(ContractConfigurationError) -> [(line: Int, cells: [String])] {
        enum Part { case plain, quoted, afterQuote }
        var records: [(line: Int, cells: [String])] = []
        var (line, part, cells, cell) = (1, Part.plain, [String](), String.UnicodeScalarView())
        let scalars = text.unicodeScalars.drop { $0 == "\u{FEFF}" } + ["\n"]
        for scalar in scalars {
            if scalar == "\n" { line += 1 }
            switch (part, scalar) {
            case (.quoted, "\""): part = .afterQuote
            case (.afterQuote, "\""):
                cell.append(scalar)
                part = .quoted
            case (.plain, "\"") where cell.isEmpty: part = .quoted
            case (.quoted, _): cell.append(scalar)
            case (_, ","), (_, "\n"):
                cells.append(String(cell))
                (part, cell) = (.plain, String.UnicodeScalarView())
                guard scalar == "\n" else { continue }
                let lines = cells.reduce(1) { $0 + $1.unicodeScalars.count { $0 == "\n" } }
                // Empty lines are none.
                if cells != [""] { records.append((line - lines, cells)) }
                cells = []
            case (_, "\r"): continue
            case (.plain, _) where scalar != "\"": cell.append(scalar)
            default: throw fault(line, "a misplaced quotation mark")
            }
        }
        guard part == .plain else { throw fault(line - 1, "a quotation mark that isn't closed") }
        return records
    }
}

private func fault(_ line: Int, _ fault: String) -> ContractConfigurationError {
    ContractConfigurationError("line \(line): \(fault)")
}

extension ExpectedPlace {
    fileprivate static let columns = [
        "name", "latitude", "longitude", "category", "featured", "address", "website", "importance",
        "operatingStatus", "properties", "dataset", "id", "license", "credit", "url", "places",
    ]

    /// Reads the cells of a line that aren't empty, by the names of their columns.
    fileprivate init(line: Int, cells: [String: String]) throws(ContractConfigurationError) {
        func read<Value>(
            _ column: String, _ rule: String, _ value: (String) -> Value?
        ) throws(ContractConfigurationError) -> Value? {
            guard let cell = cells[column] else { return nil }
            guard let value = value(cell) else { throw fault(line, "\(column) has to be \(rule)") }
            return value
        }
        func degrees(_ range: ClosedRange<Double>) -> (String) -> Double? {
            { Double($0).flatMap { range.contains($0) ? $0 : nil } }
        }
        func integer(_ range: ClosedRange<Int>) -> (String) -> Int? {
            { Int($0).flatMap { range.contains($0) ? $0 : nil } }
        }
        guard let name = cells["name"],
            let latitude = try read("latitude", "-90…90", degrees(Coordinate.latitudes)),
            let longitude = try read("longitude", "-180…180", degrees(Coordinate.longitudes))
        else { throw fault(line, "a place needs a name, a latitude and a longitude") }
        (self.line, self.name, self.latitude, self.longitude) = (line, name, latitude, longitude)
        (category, address, website) = (cells["category"], cells["address"], cells["website"])
        (dataset, id, license) = (cells["dataset"], cells["id"], cells["license"])
        (credit, url) = (cells["credit"], cells["url"])
        featured = try read("featured", "true or false") { Bool($0) }
        importance = try read("importance", "a whole number of 0…1000", integer(0...1000))
        operatingStatus = cells["operatingStatus"].map(OperatingStatus.init)
        datasetPlaces = try read("places", "a whole number above 0", integer(1...Int.max))
        properties = try read("properties", "a JSON object") {
            try? JSONDecoder().decode(JSONValue.Object.self, from: Data($0.utf8))
        }
        guard dataset != nil || credit == nil && url == nil && datasetPlaces == nil else {
            throw fault(line, "credit, url and places are a dataset's, which has to be there too")
        }
    }
}
