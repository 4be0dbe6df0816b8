import Foundation
import PointsOfInterestClient

/// A place on a line of text.
public enum PlaceLine {
    /// The distance in a column of its own, the name, and the category in brackets.
    public static func text(for place: PointOfInterest) -> String {
        let distance = place.distance.map(self.distance(_:)) ?? ""
        let padding = String(repeating: " ", count: max(0, 8 - distance.count))
        return "\(padding)\(distance)  \(place.name) (\(place.category))"
    }

    /// Metres up to a kilometre, then kilometres.
    static func distance(_ meters: Double) -> String {
        meters < 999.5 ? String(format: "%.0f m", meters) : String(format: "%.1f km", meters / 1_000)
    }
}
