#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What a person says is wrong with a place, or missing. Editors of the service read it.
public struct PlaceReport: Hashable, Sendable, Identifiable {
    /// What is wrong. A later version may have more.
    public enum Reason: String, Hashable, Sendable, Codable, CaseIterable {
        /// The place has closed for good.
        case closed
        /// The place is elsewhere.
        case moved
        /// Something that is said of the place is wrong, its name or its telephone number for instance.
        case wrong
        /// The place is there twice.
        case duplicate
        /// A place is missing; then the report has its position.
        case missing
        /// Something else, which the text says.
        case other
    }

    /// The maximum length of a report's text, in Unicode scalars. The service refuses a longer one.
    public static let maximumTextLength = 500

    /// The report's own id. Because of it, a report that is sent twice is there once.
    public let id: UUID
    /// The id of the place that the report is about; nil for one that isn't there.
    public let place: Int?
    /// Where the place is, or should be; nil where the place says that. It is sent as it is, without any rounding.
    public let position: Coordinate?
    /// What is wrong.
    public let reason: Reason
    /// What the person has to say, of 1 to `maximumTextLength` Unicode scalars, line breaks included, without a NUL; nil for
    /// nothing. It is the person's own words: whatever it says of anybody is personal data.
    public let text: String?

    /// Makes a report of a place that is there.
    ///
    /// - Parameters:
    ///   - id: an id that no other report has.
    ///   - place: the place's id.
    ///   - position: where the place is in truth; nil where its position isn't what is wrong.
    ///   - reason: what is wrong.
    ///   - text: what the person has to say; an empty one is none.
    public init(
        id: UUID = UUID(), place: Int, position: Coordinate? = nil, reason: Reason, text: String? = nil
    ) {
        self.init(id: id, anyPlace: place, position: position, reason: reason, text: text)
    }

    /// Makes a report about a position, where a place is missing for instance.
    ///
    /// - Parameters:
    ///   - id: an id that no other report has.
    ///   - position: where it is.
    ///   - reason: what is wrong.
    ///   - text: what the person has to say; an empty one is none.
    public init(id: UUID = UUID(), position: Coordinate, reason: Reason, text: String? = nil) {
        self.init(id: id, anyPlace: nil, position: position, reason: reason, text: text)
    }

    /// Makes a report that has a place, a position or both.
    package init(id: UUID, anyPlace: Int?, position: Coordinate?, reason: Reason, text: String?) {
        self.id = id
        self.place = anyPlace
        self.position = position
        self.reason = reason
        self.text = text?.isEmpty == true ? nil : text
    }
}

extension PlaceReport: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, place, latitude, longitude, reason, text
    }

    /// Decodes a report, as a test gets it from the mock server.
    ///
    /// - Throws: `DecodingError` if a member is missing or malformed; `RequestError.invalidCoordinate` for a position that
    ///   there isn't.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let latitude = try container.decodeIfPresent(Double.self, forKey: .latitude)
        let longitude = try container.decodeIfPresent(Double.self, forKey: .longitude)
        var position: Coordinate?
        if let latitude, let longitude { position = try Coordinate(latitude: latitude, longitude: longitude) }
        self.init(
            id: try container.decode(UUID.self, forKey: .id),
            anyPlace: try container.decodeIfPresent(Int.self, forKey: .place), position: position,
            reason: try container.decode(Reason.self, forKey: .reason),
            text: try container.decodeIfPresent(String.self, forKey: .text))
    }

    /// Encodes the report with the members that it has.
    ///
    /// - Throws: what the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encodeIfPresent(place, forKey: .place)
        try container.encodeIfPresent(position?.latitude, forKey: .latitude)
        try container.encodeIfPresent(position?.longitude, forKey: .longitude)
        try container.encode(reason, forKey: .reason)
        try container.encodeIfPresent(text, forKey: .text)
    }
}

extension PlaceReport {
    /// The body of `POST /reports`, on one line.
    package var json: [UInt8] {
        var writer = JSONWriter(capacity: 256)
        writer.beginObject()
        writer.members(of: self)
        writer.endObject()
        return writer.bytes
    }
}

extension JSONWriter {
    /// Writes the members that a report has as it is sent.
    package mutating func members(of report: PlaceReport) {
        member("id", report.id.uuidString.lowercased())
        if let place = report.place { member("place", place) }
        member("latitude", report.position?.latitude)
        member("longitude", report.position?.longitude)
        member("reason", report.reason.rawValue)
        member("text", report.text)
    }
}

/// The response to `POST /reports`: the report is stored durably, now or before.
package struct PlaceReportReceipt: Hashable, Sendable, Codable {
    /// The report's id.
    package let id: UUID

    /// Makes a response.
    package init(id: UUID) {
        self.id = id
    }

    /// The body of the response.
    package var json: [UInt8] {
        var writer = JSONWriter(capacity: 64)
        writer.beginObject()
        writer.member("id", id.uuidString.lowercased())
        writer.endObject()
        return writer.bytes
    }
}
