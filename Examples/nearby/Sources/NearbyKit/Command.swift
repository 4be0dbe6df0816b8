import PointsOfInterestClient

/// What a person asked the program to do.
public struct Command: Hashable, Sendable {
    /// What the program does.
    public enum Action: Hashable, Sendable {
        /// Lists the places nearby.
        case list
        /// Shows a featured place, and the next one every ten seconds; ends after this many, or never.
        case watch(count: Int?)
        /// Tells whether the position is a point of interest.
        case check
    }

    /// Why arguments make no command.
    public struct UsageError: Error, Hashable {
        /// One sentence for the person.
        public let message: String
    }

    /// How to call the program.
    public static let usage = """
        usage: nearby [--watch | --check] [--at LATITUDE,LONGITUDE] [--accuracy METRES]
                      [--limit NUMBER] [--category NAME]... [--count NUMBER]
                      [--events-folder FOLDER]
                      [-POI_BASE_URL URL] [-POI_HEADERS "NAME: VALUE"]
        """

    /// What to do.
    public var action = Action.list
    /// Where the person is.
    public var position: LocationFix
    /// How many places to list, and of which categories.
    public var request = NearbyPlacesRequest(center: nil)
    /// Where tracking events wait for the service; nil is the user's own folder for it.
    public var eventsFolder: String?

    /// Reads the program's arguments, without its name.
    ///
    /// - Throws: `UsageError`.
    public init(arguments: [String]) throws {
        // The middle of San José, where the seeded places are.
        position = LocationFix(latitude: 37.3293, longitude: -121.8893, horizontalAccuracy: 10)
        var rest = arguments[...]
        var count: Int?
        while let argument = rest.popFirst() {
            switch argument {
            case "--watch": action = .watch(count: nil)
            case "--check": action = .check
            case "--at": try setPosition(Self.value(of: argument, from: &rest))
            case "--accuracy": position.horizontalAccuracy = try Self.number(of: argument, from: &rest)
            case "--limit": request.limit = try Self.number(of: argument, from: &rest)
            case "--count": count = try Self.number(of: argument, from: &rest)
            case "--category": request.categories.append(try Self.value(of: argument, from: &rest))
            case "--events-folder": eventsFolder = try Self.value(of: argument, from: &rest)
            // The client's own, which `AppConfiguration` reads.
            case "-POI_BASE_URL", "-POI_HEADERS": _ = try Self.value(of: argument, from: &rest)
            default: throw UsageError(message: "There is no option \(argument).")
            }
        }
        if case .watch = action { action = .watch(count: count) }
    }

    private mutating func setPosition(_ text: String) throws {
        let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
        guard numbers.count == 2, let latitude = numbers[0], let longitude = numbers[1],
            (try? Coordinate(latitude: latitude, longitude: longitude)) != nil
        else { throw UsageError(message: "--at takes degrees: 37.3293,-121.8893 for instance.") }
        position.latitude = latitude
        position.longitude = longitude
    }

    private static func value(of option: String, from rest: inout ArraySlice<String>) throws -> String {
        guard let value = rest.popFirst() else { throw UsageError(message: "\(option) has no value.") }
        return value
    }

    private static func number<Number: LosslessStringConvertible>(
        of option: String, from rest: inout ArraySlice<String>
    ) throws -> Number {
        guard let number = Number(try value(of: option, from: &rest)) else {
            throw UsageError(message: "\(option) takes a number.")
        }
        return number
    }
}

extension Command.Action {
    /// The page that an action shows, as its tracking event names it: an action without one doesn't compile.
    public var page: TrackingEvent.PageViewPage {
        switch self {
        case .list: .locationsList
        case .watch: .featured
        case .check: "location-check"
        }
    }
}
