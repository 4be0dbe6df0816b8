import PointsOfInterestServerAPI

/// One place, as a builder takes it. Its texts are borrowed: the builder copies them.
package struct IndexEntry {
    /// The place's id, which decides between equal distances.
    package var id: Int64
    /// Degrees north of the equator, −90…90.
    package var latitude: Double
    /// Degrees east of Greenwich, −180…180.
    package var longitude: Double
    /// The number of its category, see `IndexPartBuilder.category(named:)`.
    package var category: UInt16
    /// Whether its editors want it to be shown first.
    package var isFeatured: Bool
    /// The number of its source, see `IndexPartBuilder.number(of:)`; 0 without one.
    package var source: UInt32
    /// Its importance, 0…1000.
    package var importance: UInt16
    /// The words of each of its names as `NameFolder` finds them: UTF-8, with `betweenNames` between names.
    package var foldedNames: UnsafeBufferPointer<UInt8>
    /// Its address, as its record has it.
    var address: UnsafeBufferPointer<UInt8>?
    /// The hash of its content, see `PlaceFields.contentHash`.
    var contentHash: UInt64 = 0
    /// Whether searches find it; others are found by their ids alone.
    package var isListed = true
    /// What a response is written from: bytes that packing doesn't look into.
    package var record: UnsafeRawBufferPointer

    static let betweenNames = UInt8(ascii: "\n")

    package init(
        id: Int64, latitude: Double, longitude: Double, category: UInt16, isFeatured: Bool,
        source: UInt32 = 0, importance: UInt16 = 0, foldedNames: UnsafeBufferPointer<UInt8>,
        record: UnsafeRawBufferPointer
    ) {
        self.id = id
        self.latitude = latitude
        self.longitude = longitude
        self.category = category
        self.isFeatured = isFeatured
        self.source = source
        self.importance = importance
        self.foldedNames = foldedNames
        self.record = record
    }
}

/// Where places came from.
package struct IndexSource: Hashable, Sendable {
    package let dataset: String
    /// What its places name as their license.
    package let license: String

    package init(dataset: String, license: String) {
        self.dataset = dataset
        self.license = license
    }

    /// Compares byte by byte, as PostgreSQL does.
    package static func == (one: Self, other: Self) -> Bool {
        ExactName(one.dataset) == ExactName(other.dataset)
            && ExactName(one.license) == ExactName(other.license)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(ExactName(dataset))
        hasher.combine(ExactName(license))
    }
}

/// The names of the categories and of the sources, and their numbers. It only grows: they keep their numbers from snapshot to
/// snapshot.
package struct IndexVocabulary: Hashable, Sendable {
    /// The categories, each at the index that is its number.
    package private(set) var names: [String] = []
    private var numbers: [String: UInt16] = [:]
    /// The sources: number 1 is at index 0, since 0 stands for none.
    package private(set) var sources: [IndexSource] = []
    private var sourceNumbers: [IndexSource: UInt32] = [:]
    /// The properties that places can be filtered by. With others, all places are packed anew.
    package let properties: FilterableProperties

    /// A vocabulary without names.
    package init(properties: FilterableProperties = .none) {
        self.properties = properties
    }

    /// The number of a category; nil where no place ever had it.
    package func number(of name: String) -> UInt16? { numbers[name] }

    /// The number of a category, which is added if it is new; nil where there are 65,536 others.
    package mutating func number(adding name: String) -> UInt16? {
        if let number = numbers[name] { return number }
        guard let number = UInt16(exactly: names.count) else { return nil }
        names.append(name)
        numbers[name] = number
        return number
    }

    package mutating func number(adding source: IndexSource) -> UInt32 {
        if let number = sourceNumbers[source] { return number }
        sources.append(source)
        let number = UInt32(sources.count)
        sourceNumbers[source] = number
        return number
    }
}

/// How many of a snapshot's listed places have each category, and how many of all places each source.
struct IndexCounts: Sendable {
    private(set) var categories: [Int]
    private(set) var sources: [Int]

    init(_ vocabulary: IndexVocabulary) {
        categories = Array(repeating: 0, count: vocabulary.names.count)
        sources = Array(repeating: 0, count: vocabulary.sources.count + 1)
    }

    func extended(to vocabulary: IndexVocabulary) -> IndexCounts {
        var extended = self
        extended.categories += Array(repeating: 0, count: vocabulary.names.count - categories.count)
        extended.sources += Array(repeating: 0, count: vocabulary.sources.count + 1 - sources.count)
        return extended
    }

    mutating func add(_ columns: PartColumns) {
        for place in 0..<columns.count { add(place, of: columns, 1) }
    }

    /// Counts a place that has gone.
    mutating func remove(_ place: Int, of columns: PartColumns) { add(place, of: columns, -1) }

    private mutating func add(_ place: Int, of columns: PartColumns, _ number: Int) {
        if columns.isListed(place) { categories[Int(columns.kinds[place] >> 1)] += number }
        sources[Int(columns.sources[place])] += number
    }
}
