import Foundation
import PointsOfInterestAPI

/// Positions as objects or arrays of JSON: `{"lat": 48.85, "lon": 2.35}`, a point of GeoJSON, `[48.85, 2.35]`.
enum PositionObject {
    private static let latitudes = ["lat", "latitude", "y"]
    private static let longitudes = ["lon", "lng", "long", "longitude", "x"]

    /// Names of fields whose arrays have the latitude first. In others it may be either, as in those of GeoJSON.
    static let latitudeFirst: Set<String> = [
        "geo_point_2d", "geo_point", "geo point", "geopoint", "latlng", "latlong", "lat_long", "gps",
    ]

    /// Whether a text begins as one.
    static func isLikely(_ text: ArraySlice<UInt8>) -> Bool {
        text.first == UInt8(ascii: "{") || text.first == UInt8(ascii: "[")
    }

    /// Where a place is; nil if the text is no such object, or one of something else.
    static func position(_ text: ArraySlice<UInt8>, inDegrees: Bool) -> (latitude: Double, longitude: Double)?
    {
        var json = Array(text)
        // As Python writes it.
        if json.dropFirst().first == UInt8(ascii: "'") {
            json = json.map { $0 == UInt8(ascii: "'") ? UInt8(ascii: "\"") : $0 }
        }
        func number(_ value: JSONValue?, _ axis: AngleText.Axis) -> Double? {
            switch value {
            case .integer(let number): Double(number)
            case .number(let number): number
            case .string(let text):
                PositionText.coordinate(Array(text.utf8)[...], along: axis, inDegrees: inDegrees)
            default: nil
            }
        }
        func pair(_ latitude: JSONValue?, _ longitude: JSONValue?) -> (latitude: Double, longitude: Double)? {
            guard let latitude = number(latitude, .latitude), let longitude = number(longitude, .longitude)
            else {
                return nil
            }
            return (latitude, longitude)
        }
        switch try? JSONDecoder().decode(JSONValue.self, from: Data(json)) {
        case .array(let values) where values.count == 2: return pair(values[0], values[1])
        case .object(let object):
            if case .array(let values) = object["coordinates"], object["type"]?.text == "Point",
                values.count >= 2
            {
                return pair(values[1], values[0])
            }
            func member(_ names: [String]) -> JSONValue? {
                object.members.first { names.contains($0.name.asciiLowercased) }?.value
            }
            return pair(member(latitudes), member(longitudes))
        default: return nil
        }
    }
}
