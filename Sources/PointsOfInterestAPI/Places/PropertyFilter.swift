/// Only places that have one of some values of a property.
///
/// `GET /openapi.json` lists the properties that the service can filter by. The parameter is `property.NAME`.
public struct PropertyFilter: Hashable, Sendable {
    /// The maximum number of properties that a request may filter by.
    public static let maximumCount = 5
    /// The maximum number of values of a property.
    public static let maximumValueCount = 20
    /// The lengths of a value as it is written, in Unicode scalars.
    public static let valueLengths = 1...200

    /// The property's name, as it is written.
    public var name: String
    /// The values, of which a place has to have one, at most 20: `true` or `false` for a boolean property; for a text, texts of
    /// 1…200 characters, which are compared as they are written, after composing letters and accents (NFC). A property that is an
    /// array of texts has each of them. A value with a comma can't be asked for: it counts as two.
    public var values: [String]

    /// Asks for places that have one of these values of a property.
    public init(_ name: String, anyOf values: [String]) {
        self.name = name
        self.values = values
    }

    /// Asks for places whose boolean property is true, or false.
    public init(_ name: String, is value: Bool) {
        self.init(name, anyOf: [value ? "true" : "false"])
    }
}

extension PropertyFilter {
    /// What the names of its parameter begin with.
    package static let prefix: StaticString = "property."
}

extension [PropertyFilter] {
    /// Writes an item for each filter, in the order of the names' bytes, each with its values once and in order.
    func encode(into query: inout QueryWriter) {
        for filter in sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) {
            query.add(PropertyFilter.prefix, followedBy: filter.name, filter.values.uniqueInByteOrder)
        }
    }
}
