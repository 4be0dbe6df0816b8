import PointsOfInterestClient

/// A place, and what the app knows of its properties.
public struct PlaceDetails: Hashable, Sendable {
    /// The place.
    public let place: PointOfInterest
    /// What the app knows of its properties.
    public let properties: PlaceProperties

    /// Makes the details of a place.
    public init(_ place: PointOfInterest) {
        self.place = place
        // Properties are an object, so reading them doesn't fail.
        properties = (try? place.properties(as: PlaceProperties.self)) ?? PlaceProperties()
    }
}

/// The properties of a place that the app shows. What properties a place has, and of which types, is up to its team: one
/// that isn't text is left out, so that it doesn't hide the others.
public struct PlaceProperties: Codable, Hashable, Sendable {
    /// When the place is open, as its team writes it; OpenStreetMap's syntax where it is from there.
    public var openingHours: String?
    /// The number to call.
    public var phone: String?

    private enum CodingKeys: String, CodingKey {
        case openingHours = "opening_hours"
        case phone
    }

    /// Makes the properties of a place.
    public init(openingHours: String? = nil, phone: String? = nil) {
        self.openingHours = openingHours
        self.phone = phone
    }

    /// Decodes the properties that are text.
    ///
    /// - Throws: `DecodingError` if this is no object.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        openingHours = try? container.decode(String.self, forKey: .openingHours)
        phone = try? container.decode(String.self, forKey: .phone)
    }
}
