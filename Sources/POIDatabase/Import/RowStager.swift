import PlaceImport
import PointsOfInterestAPI
import PointsOfInterestServerAPI
import Postgres

/// Writes what a file's rows become into the format of COPY, rejects those whose category isn't in the vocabulary, and
/// counts.
struct RowStager {
    /// If there are more new categories than this, probably the wrong column was taken: they aren't a vocabulary.
    static let maximumNewCategories = 500
    /// How many names of unknown categories are counted one by one; all other names are counted together.
    private static let maximumUnknownCategories = 1000
    private static let otherCategories = "(others)"

    private let vocabulary: Set<String>
    private let addsCategories: Bool
    private let maximumErrors: Int?
    private var number: Int64 = 0
    /// The rows that haven't been taken yet.
    var encoder = BinaryCopyEncoder()
    private(set) var rejected: [RejectionReason: Int] = [:]
    private(set) var unknownCategories: [String: Int] = [:]
    private(set) var newCategories: Set<String> = []

    init(vocabulary: Set<String>, addsCategories: Bool, maximumErrors: Int?) {
        self.vocabulary = vocabulary
        self.addsCategories = addsCategories
        self.maximumErrors = maximumErrors
    }

    /// Takes a row; returns it where it is rejected.
    ///
    /// - Throws: `CommandError` where there are too many rejected rows, or too many new categories.
    mutating func stage(_ item: ImportItem) throws(CommandError) -> RejectedRow? {
        switch item {
        case .place(let place, let line):
            guard try isKnown(place.category) else {
                return try reject(
                    RejectedRow(
                        line: line, reason: .unknownCategory, detail: place.category, sourceID: place.sourceID
                    ))
            }
            append(place)
            return nil
        case .rejected(let row):
            return try reject(row)
        }
    }

    private mutating func isKnown(_ category: String) throws(CommandError) -> Bool {
        if vocabulary.contains(category) { return true }
        if addsCategories {
            newCategories.insert(category)
            guard newCategories.count <= Self.maximumNewCategories else {
                throw CommandError(
                    "more than \(Self.maximumNewCategories) new categories, such as \(category): is that the column "
                        + "of the categories?")
            }
            return true
        }
        let isListed =
            unknownCategories[category] != nil || unknownCategories.count < Self.maximumUnknownCategories
        unknownCategories[isListed ? category : Self.otherCategories, default: 0] += 1
        return false
    }

    private mutating func reject(_ row: RejectedRow) throws(CommandError) -> RejectedRow {
        rejected[row.reason, default: 0] += 1
        if let maximumErrors, rejected.values.reduce(0, +) > maximumErrors {
            throw CommandError(
                "more than \(maximumErrors) rows were rejected (--max-errors), the last in line \(row.line): "
                    + "\(row.reason.rawValue) \(row.detail)")
        }
        if let id = row.sourceID {
            encoder.append(
                [.int8(nextNumber()), .text(id), .null(.int8), .null(.text), .null(.text), .null(.float8)]
                    + [.null(.float8), .null(.bool), .null(.text), .null(.text)])
        }
        return row
    }

    private mutating func append(_ place: ImportedPlace) {
        let quadkey = Quadkey(latitude: place.latitude, longitude: place.longitude)
        encoder.append([
            .int8(nextNumber()), .text(place.sourceID), .int8(Int64(bitPattern: quadkey.rawValue)),
            .text(place.name), .text(place.category), .float8(place.latitude), .float8(place.longitude),
            .bool(place.featured), place.address.map { .text($0) } ?? .null(.text),
            place.website.map { .text($0) } ?? .null(.text),
        ])
    }

    private mutating func nextNumber() -> Int64 {
        number += 1
        return number
    }
}
