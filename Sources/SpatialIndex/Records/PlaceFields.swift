import PointsOfInterestAPI

/// A place as the database or a fixture has it, from which its record is made.
package struct PlaceFields: Sendable {
    /// UTF-8 of a text.
    package typealias Text = ArraySlice<UInt8>

    /// Where a place's data come from, as `PointOfInterest.Source` has it.
    package struct Source: Sendable {
        package let dataset, id, license: Text

        package init(dataset: Text, id: Text, license: Text) {
            (self.dataset, self.id, self.license) = (dataset, id, license)
        }
    }

    package let id: Int
    package let name: Text
    package let category: Text
    package let latitude, longitude: Double
    package let featured: Bool
    package let address, website: Text?
    package let source: Source?
    package let importance: Int
    /// JSON of an object.
    package let properties: Text?
    /// JSON of an object: a language's tag and a text each.
    package let names: Text?
    /// Names that are only searched, with `betweenOtherNames` between any two.
    package let otherNames: Text?
    package let operatingStatus: OperatingStatus?
    /// Another one after each change.
    package let version: Int
    /// When the place was changed last, in seconds since 1970: one of `writtenSeconds`.
    package let updatedAtSeconds: Int

    /// The years 1 to 9999, since RFC 3339 has four digits for a year.
    package static let writtenSeconds = -62_135_596_800...253_402_300_799

    /// No name has a control character.
    package static let betweenOtherNames: UInt8 = 1

    package init(
        id: Int, name: Text, category: Text, latitude: Double, longitude: Double, featured: Bool = false,
        address: Text? = nil, website: Text? = nil, source: Source? = nil, importance: Int = 0,
        properties: Text? = nil, names: Text? = nil, otherNames: Text? = nil,
        operatingStatus: OperatingStatus? = nil, version: Int = 0, updatedAtSeconds: Int = 0
    ) {
        self.id = id
        self.name = name
        self.category = category
        self.latitude = latitude
        self.longitude = longitude
        self.featured = featured
        self.address = address
        self.website = website
        self.source = source
        self.importance = importance
        self.properties = properties
        self.names = names
        self.otherNames = otherNames
        self.operatingStatus = operatingStatus
        self.version = version
        self.updatedAtSeconds = updatedAtSeconds
    }

    /// Whether lists have the place, and not only who asks for its id.
    var isListed: Bool { operatingStatus != .permanentlyClosed }

    var otherNamesList: [Text] { otherNames?.split(separator: Self.betweenOtherNames) ?? [] }
}
