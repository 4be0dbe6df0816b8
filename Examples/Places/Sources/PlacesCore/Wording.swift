import Foundation
import PointsOfInterestClient

/// How the app writes distances and ages, and what it calls what is reported and edited.
public enum Wording {
    /// Says a distance in metres up to a kilometre, then in kilometres.
    public static func distance(_ meters: Double, locale: Locale = .current) -> String {
        let number = FloatingPointFormatStyle<Double>.number.locale(locale)
        return meters < 999.5
            ? "\(meters.formatted(number.precision(.fractionLength(0)))) m"
            : "\((meters / 1_000).formatted(number.precision(.fractionLength(1)))) km"
    }

    /// Says how long ago something was, in the largest unit that fits; a time to come was just now.
    public static func age(of date: Date, at now: Date) -> String {
        let minutes = Int(max(0, now.timeIntervalSince(date)) / 60)
        switch minutes {
        case 0: return "just now"
        case 1..<60: return "\(minutes) min ago"
        case 60..<1_440: return "\(minutes / 60) h ago"
        default: return "\(minutes / 1_440) d ago"
        }
    }

    /// Says whether a place is closed; nil where it isn't, or in a way that the app doesn't know.
    public static func closure(_ status: OperatingStatus?) -> String? {
        switch status {
        case .temporarilyClosed: "Temporarily closed"
        case .permanentlyClosed: "Permanently closed"
        default: nil
        }
    }

    /// Says what is wrong with a place.
    public static func reason(_ reason: PlaceReport.Reason) -> String {
        switch reason {
        case .closed: "It has closed for good"
        case .moved: "It is elsewhere"
        case .wrong: "Something said of it is wrong"
        case .duplicate: "It is there twice"
        case .missing: "A place near it is missing"
        case .other: "Something else"
        }
    }

    /// The title of a field.
    public static func title(of field: PlaceEditModel.Field) -> String {
        switch field {
        case .name: "Name"
        case .category: "Category"
        case .address: "Address"
        case .website: "Website"
        case .phone: "Phone"
        case .operatingStatus: "Closed"
        }
    }

    /// Says what a field contains.
    public static func value(_ value: String, of field: PlaceEditModel.Field) -> String {
        switch field {
        case .operatingStatus: value.isEmpty ? "No" : closure(OperatingStatus(rawValue: value)) ?? value
        default: value.isEmpty ? "–" : value
        }
    }
}

extension PlaceSearch.Result {
    /// A part of the name that was found.
    public struct NamePart: Hashable, Sendable {
        /// The part.
        public let text: String
        /// Whether it is what was searched for.
        public let isMatch: Bool
    }

    /// The parts of the name that was found, from its beginning to its end. None is empty.
    public var nameParts: [NamePart] {
        var parts: [NamePart] = []
        var end = matchedName.startIndex
        func add(_ range: Range<String.Index>, isMatch: Bool) {
            guard !range.isEmpty else { return }
            parts.append(NamePart(text: String(matchedName[range]), isMatch: isMatch))
        }
        for match in matches {
            add(end..<match.lowerBound, isMatch: false)
            add(match, isMatch: true)
            end = match.upperBound
        }
        add(end..<matchedName.endIndex, isMatch: false)
        return parts
    }
}
