import PointsOfInterestClient

/// What the screen of a place shows.
public enum PlaceDetail: Hashable, Sendable {
    /// The place is being loaded.
    case loading
    /// The place, and what the app knows of its properties.
    case loaded(PointOfInterest, PlaceProperties)
    /// The service doesn't have the place, or no longer.
    case gone
    /// The place could not be loaded, for this reason.
    case failed(String)
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

extension PlacesSession {
    /// Loads a place for its own screen.
    ///
    /// - Returns: what the screen shows; nil where the task was cancelled, since nobody looks any more.
    public func detail(of id: Int) async -> PlaceDetail? {
        do {
            let center = environment.locationProvider.lastLocation
            let place = try await environment.service.place(id: id, center: center)
            return .loaded(place, try place.properties(as: PlaceProperties.self))
        } catch RequestError.cancelled {
            return nil
        } catch RequestError.problem(let problem) where problem.code == .notFound {
            return .gone
        } catch {
            return .failed(error.localizedDescription)
        }
    }
}
