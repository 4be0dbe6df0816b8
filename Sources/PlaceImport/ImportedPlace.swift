import Foundation
import PointsOfInterestAPI

/// A place of a file, normalised: PostgreSQL's checks accept it.
package struct ImportedPlace: Sendable, Equatable {
    /// The file's own id of the place, else a digest of name and position.
    package var sourceID: String
    package var hasOwnID = true
    /// The name, of at most 200 code points.
    package var name: String
    /// A category's name; whether the vocabulary has it isn't known here.
    package var category: String
    /// Degrees north of the equator, −90…90.
    package var latitude: Double
    /// Degrees east of Greenwich, −180…180.
    package var longitude: Double
    package var featured = false
    /// The address, of at most 300 code points.
    package var address: String?
    package var website: String?
    package var importance = 0
    /// JSON of an object, which may be too large for the table; nil where there is none.
    package var properties: String?
    /// JSON of an object, a language's tag and a name each; nil where there are none.
    package var names: String?
    package var otherNames: [String] = []
    /// `temporarilyClosed` or `permanentlyClosed`; nil where the place isn't known to be closed.
    package var operatingStatus: String?
    /// JSON of an object, a member's name and what people have corrected it to each; nil where there are none.
    package var corrections: String?
    /// Whether people have removed the place: it isn't shown, and no import brings it back.
    package var isSuppressed = false
    /// Of which members its row says anything; the others stay as they are.
    package var given = GivenMembers.all
    /// The names of properties, and the tags of names in languages, that its row has and leaves empty. They count where not all
    /// properties, or all names, are given.
    package var emptiedProperties: [String] = []
    package var emptiedNames: [String] = []
}

/// The members of a place that a row of a file may leave out.
package struct GivenMembers: OptionSet, Sendable, Hashable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    package static let featured = GivenMembers(rawValue: 1)
    package static let address = GivenMembers(rawValue: 2)
    package static let website = GivenMembers(rawValue: 4)
    package static let importance = GivenMembers(rawValue: 8)
    package static let otherNames = GivenMembers(rawValue: 16)
    /// All names in languages: one that the row doesn't have is gone.
    package static let names = GivenMembers(rawValue: 32)
    /// All properties.
    package static let properties = GivenMembers(rawValue: 64)

    package static let operatingStatus = GivenMembers(rawValue: 128)

    package static let all = GivenMembers(rawValue: 255)
}

/// Members that no row of some files has, although a mapping or an option names them: the files say nothing of them.
package struct UnseenMembers: Sendable, Equatable {
    package var members: GivenMembers = []
    /// The names of properties.
    package var properties: [String] = []

    package init() {}

    init(members: GivenMembers, properties: [String]) {
        (self.members, self.properties) = (members, properties)
    }

    package var isEmpty: Bool { members.isEmpty && properties.isEmpty }

    /// What neither these files have nor others.
    func intersection(_ other: UnseenMembers) -> UnseenMembers {
        UnseenMembers(
            members: members.intersection(other.members),
            properties: properties.filter(other.properties.contains))
    }
}

/// The fields of a place, as mappings and options name them.
package enum ImportField: String, CaseIterable, Sendable {
    case id, name, category, latitude, longitude, featured, address, website, importance
    /// The columns that have names in languages: the beginning of their names, with `*` for the language's tag.
    case names
    /// Other names, with semicolons between them.
    case otherNames = "other_names"
    /// Whether the place is open, or closed for a while or for good.
    case operatingStatus = "operating_status"
    /// Whether people have removed the place, as exports say it.
    case suppressed
    /// Latitude and longitude in one text, or a geometry as WKT.
    case position

    /// The field's number, because looking something up by a name takes too long for each row.
    var number: Int {
        switch self {
        case .id: 0
        case .name: 1
        case .category: 2
        case .latitude: 3
        case .longitude: 4
        case .featured: 5
        case .address: 6
        case .website: 7
        case .importance: 8
        case .names: 9
        case .otherNames: 10
        case .position: 11
        case .operatingStatus: 12
        case .suppressed: 13
        }
    }
}

/// What `--clear` names: a member that is emptied, whatever rows have.
package enum ClearedMember: Hashable, Sendable {
    case field(ImportField)
    case properties
    case property(String)

    private static let fields: [ImportField] = [
        .featured, .address, .website, .importance, .names, .otherNames, .operatingStatus,
    ]

    /// Nil where no member is called like this that a place may lack.
    package init?(_ text: String) {
        let prefix = "properties."
        if text == "properties" {
            self = .properties
        } else if text.hasPrefix(prefix), text.count > prefix.count {
            self = .property(String(text.dropFirst(prefix.count)))
        } else if let field = ImportField(rawValue: text), Self.fields.contains(field) {
            self = .field(field)
        } else {
            return nil
        }
    }

    /// As the option has it.
    package var text: String {
        switch self {
        case .field(let field): field.rawValue
        case .properties: "properties"
        case .property(let name): "properties.\(name)"
        }
    }
}

/// Why a row becomes no place. The names are in reports and in files of rejected rows: they don't change.
package enum RejectionReason: String, CaseIterable, Error, Sendable {
    case columnCount = "column-count"
    case malformedRow = "malformed-row"
    case rowTooLong = "row-too-long"
    case invalidText = "invalid-text"
    case nul
    case noID = "no-id"
    case idTooLong = "id-too-long"
    case noName = "no-name"
    case nameTooLong = "name-too-long"
    case noCategory = "no-category"
    case malformedCategory = "malformed-category"
    case noCoordinates = "no-coordinates"
    case malformedCoordinates = "malformed-coordinates"
    case coordinatesOutOfRange = "coordinates-out-of-range"
    case malformedFeatured = "malformed-featured"
    /// It isn't a number from 0 to 1000.
    case malformedImportance = "malformed-importance"
    /// It is neither true nor false whether people have removed the place.
    case malformedSuppressed = "malformed-suppressed"
    /// The database's vocabulary doesn't have the category. A reader can't know this, and never gives this reason.
    case unknownCategory = "unknown-category"
}

package struct RejectedRow: Sendable, Equatable {
    /// The line of the file that it begins in, from 1.
    package var line: Int
    package var reason: RejectionReason
    /// What was found, for people; may be empty.
    package var detail: String
    /// The file's own id of the place, where it could be read.
    package var sourceID: String?

    package init(line: Int, reason: RejectionReason, detail: String = "", sourceID: String? = nil) {
        self.line = line
        self.reason = reason
        self.detail = detail
        self.sourceID = sourceID
    }
}

package enum ImportItem: Sendable, Equatable {
    case place(ImportedPlace, line: Int)
    case rejected(RejectedRow)
}

package enum ImportFormat: String, CaseIterable, Sendable {
    /// Rows of delimited fields (RFC 4180).
    case csv
    /// A FeatureCollection or a sequence of features (RFC 7946, RFC 8142).
    case geojson
    /// Whatever GDAL's `ogr2ogr` can read.
    case gdal
}

/// Which files to read, and how.
package struct ImportSource: Sendable {
    package var paths: [String]
    /// What the one file is called in the history and in reports, if not by its path: it was downloaded.
    package var name: String?
    /// The format of all files; nil to recognise it from each file's extension or first byte.
    package var format: ImportFormat?
    /// The encoding of delimited files and of JSON, as iconv names it; nil for UTF-8, or where the file shows it.
    package var encoding: String?
    /// Which row of a table has the names of its columns, from 1; nil for the first, or the one below a title.
    package var headerRow: Int?
    /// The delimiter between the fields of a row; nil to recognise it from the header.
    package var delimiter: UInt8?
    /// The columns or properties that fields are taken from, instead of those of the mapping. A row without the id that
    /// is named here is rejected.
    package var columns: [ImportField: String] = [:]
    /// Texts that fields have in every row, instead of what the mapping finds.
    package var fixedTexts: [ImportField: String] = [:]
    /// The layer to read of a file with several, or the member of a JSON object that has the places; nil for what is usual.
    package var layer: String?
    /// The coordinate system of positions, such as `EPSG:3857`; nil where the file says it, or for degrees of WGS 84.
    package var referenceSystem: String?
    package var properties: [String] = []
    /// The members that are emptied, whatever the files have.
    package var cleared: Set<ClearedMember> = []
    /// The name of a built-in mapping or the path of a file; nil: `openstreetmap` for OSM files, else `columns`.
    package var mapping: String?
    /// The files that the mapping looks up texts in, by the names that it has for them.
    package var tables: [String: String] = [:]
    package var boundingBox: BoundingBox?
    /// Only places of these categories are selected; all, if there are none.
    package var categories: Set<String> = []
    /// Whether GDAL may open anything that it can, with our environment, and all that this leads to: other files, databases,
    /// the network.
    package var isUnconfined = false
    /// The environment in which `ogr2ogr` is looked up, and of which it gets a few variables.
    package var environment = ProcessInfo.processInfo.environment

    package init(paths: [String]) { self.paths = paths }

    /// What the files are called in the history and in reports.
    package var names: [String] { name.map { [$0] } ?? paths }
}

package struct ReadProgress: Sendable, Equatable {
    /// The bytes read so far, compressed where the files are.
    package var bytes = 0
    /// The bytes of all files; nil where that isn't known.
    package var totalBytes: Int?
    /// The rows read so far: places, rejected ones, and those that weren't selected.
    package var rows = 0
    /// The rows outside the box, of other categories, or without a category by the rules of the mapping.
    package var notSelected = 0
    /// How many fields were changed or left out, by what was done to them.
    package var normalised: [Normalisation: Int] = [:]
    /// How many rows with a name the mapping's choices of a category left out, by a field and its value: `amenity=bench`.
    package var leftOut: [String: Int] = [:]
    package var remarks: [String] = []

    /// The most frequent of what was left out, on a line; nil where nothing was.
    package var leftOutLine: String? {
        guard !leftOut.isEmpty else { return nil }
        let sorted = leftOut.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        let shown = sorted.prefix(10).map { "\($0.key.printable) \($0.value)" }.joined(separator: ", ")
        let rest = sorted.dropFirst(10).reduce(0) { $0 + $1.value }
        return "left out: \(shown)" + (rest > 0 ? ", and \(rest) others" : "")
    }

    package init() {}
}

/// What is done to fields so that PostgreSQL's checks accept them. The names are in reports: they don't change.
package enum Normalisation: String, CaseIterable, Sendable {
    /// Invisible characters were at an end.
    case trimmed
    /// A control character or a line separator became a space.
    case controlCharacters = "control-characters"
    /// `https://` was put before a bare host, or the scheme written in lower case.
    case websiteScheme = "website-scheme"
    /// The host became punycode, or other characters percent-encoded.
    case websiteEncoded = "website-encoded"
    /// A category wasn't written as categories are: `Coffee Shop` became `coffee_shop`.
    case categorySpelling = "category-spelling"
    /// It is no URL of a web page, or is too long.
    case websiteDropped = "website-dropped"
    /// It has more than 300 code points.
    case addressDropped = "address-dropped"
    /// The place's properties together have more than 4 KiB, or more than three levels: it has none.
    case propertiesDropped = "properties-dropped"
    /// A name in a language, or another name, is too long or one too many; or its language is none.
    case namesDropped = "names-dropped"
    /// It isn't known what the operating status means.
    case operatingStatusDropped = "operating-status-dropped"
    /// What people are said to have corrected isn't an object of members that a place may have.
    case correctionsDropped = "corrections-dropped"
}

/// A source that can't be read, or not any further: the import ends.
package struct ImportError: Error, Hashable, Sendable, CustomStringConvertible {
    package var path: String?
    /// The line of the file; nil where that doesn't matter.
    package var line: Int?
    package var message: String
    /// Whether a field of the places isn't found in the file, so that ``FileExplanation`` helps.
    package var isAboutFields = false

    package init(_ message: String, path: String? = nil, line: Int? = nil) {
        self.message = message
        self.path = path
        self.line = line
    }

    package var description: String {
        guard let path else { return message }
        return path + (line.map { ", line \($0)" } ?? "") + ": " + message
    }
}
