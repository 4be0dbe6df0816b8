/// One place, as a builder takes it. Its texts are borrowed: the builder copies them.
public struct IndexEntry {
    /// The place's id, which decides between equal distances.
    public var id: Int64
    /// Degrees north of the equator, −90…90.
    public var latitude: Double
    /// Degrees east of Greenwich, −180…180.
    public var longitude: Double
    /// The number of its category, see `IndexPartBuilder.category(named:)`.
    public var category: UInt16
    /// Whether its editors want it to be shown first.
    public var isFeatured: Bool
    /// The words of its name as `locations.folded_name` has them: UTF-8, with spaces before and between the words.
    public var foldedName: UnsafeBufferPointer<UInt8>
    /// What a response is written from: bytes that the index doesn't look into.
    public var record: UnsafeRawBufferPointer

    /// Describes a place.
    public init(
        id: Int64, latitude: Double, longitude: Double, category: UInt16, isFeatured: Bool,
        foldedName: UnsafeBufferPointer<UInt8>, record: UnsafeRawBufferPointer
    ) {
        self.id = id
        self.latitude = latitude
        self.longitude = longitude
        self.category = category
        self.isFeatured = isFeatured
        self.foldedName = foldedName
        self.record = record
    }
}

/// The names of the categories and their numbers. It only grows: a category keeps its number from snapshot to snapshot.
public struct IndexVocabulary: Hashable, Sendable {
    /// The names, each at the index that is its number.
    public private(set) var names: [String] = []
    private var numbers: [String: UInt16] = [:]

    /// A vocabulary without names.
    public init() {}

    /// The number of a category; nil where no place ever had it.
    public func number(of name: String) -> UInt16? { numbers[name] }

    /// The number of a category, which is added if it is new; nil where there are 65,536 others.
    public mutating func number(adding name: String) -> UInt16? {
        if let number = numbers[name] { return number }
        guard let number = UInt16(exactly: names.count) else { return nil }
        names.append(name)
        numbers[name] = number
        return number
    }
}
