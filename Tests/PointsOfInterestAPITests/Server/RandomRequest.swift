import Foundation
import PointsOfInterestAPI
import Randomness

/// Valid requests, with any of the options that go together.
enum RandomRequest {
    static func nearbyPlaces(using random: inout SeededGenerator) -> NearbyPlacesRequest {
        func maybe<Value>(_ value: (inout SeededGenerator) -> Value?) -> Value? {
            Bool.random(using: &random) ? value(&random) : nil
        }
        let box = maybe(RandomPosition.box)
        let center = box == nil ? RandomPosition.coordinate(using: &random) : maybe(RandomPosition.coordinate)
        var request = NearbyPlacesRequest(center: center, box: box)
        if box == nil {
            request.radiusMeters = maybe {
                .random(in: 0.1...NearbyPlacesRequest.maximumRadiusMeters, using: &$0)
            }
        }
        request.limit = maybe { .random(in: NearbyPlacesRequest.limits, using: &$0) }
        request.categories = maybe(categories) ?? []
        request.datasets = maybe(datasets) ?? []
        request.searchText = maybe { text(1...100, using: &$0) }
        request.featured = maybe { .random(using: &$0) }
        request.properties = maybe(datasets) ?? []
        request.languages = maybe(languages) ?? []
        if request.searchText != nil, request.radiusMeters == nil, Bool.random(using: &random) {
            request.sort = .relevance
            request.center = maybe(RandomPosition.coordinate)
            if request.center != nil {
                request.nearMeters = maybe {
                    .random(in: 0...NearbyPlacesRequest.maximumRadiusMeters, using: &$0)
                }
            }
        }
        return request
    }

    static func place(using random: inout SeededGenerator) -> PlaceRequest {
        let id = Bool.random(using: &random) ? Int.random(in: 1...100, using: &random) : .max
        let center = Bool.random(using: &random) ? RandomPosition.coordinate(using: &random) : nil
        return PlaceRequest(id: id, center: center, languages: languages(using: &random))
    }

    static func placesByID(using random: inout SeededGenerator) -> NearbyPlacesRequest {
        let ids = (0..<Int.random(in: 1...100, using: &random)).map { _ in place(using: &random).id }
        var request = NearbyPlacesRequest(ids: Set(ids).sorted(), center: place(using: &random).center)
        request.languages = languages(using: &random)
        return request
    }

    static func events(using random: inout SeededGenerator) -> EventsRequest {
        EventsRequest(
            events: (0..<Int.random(in: 0...3, using: &random)).map { _ in
                TrackedEvent(
                    id: Bool.random(using: &random) ? UUID() : nil,
                    userID: text(1...50, using: &random),
                    time: Bool.random(using: &random)
                        ? .random(in: EventLimits.times, using: &random) : 1_700_000_000,
                    event: event(using: &random), isTest: .random(using: &random))
            })
    }

    /// Some of a vocabulary's names, in the order in which a decoder has them.
    private static func categories(using random: inout SeededGenerator) -> [String] {
        let names = ["art gallery", "bar", "café", "museum", "park&ride", "ресторан", "100%"]
        return names.filter { _ in Bool.random(using: &random) }.sorted()
    }

    private static func datasets(using random: inout SeededGenerator) -> [String] {
        // In the order of their bytes.
        [",", "a+b=c&d%2C", "cafe\u{301}s, all", "caf\u{E9}s, all", "poi-seed"]
            .filter { _ in Bool.random(using: &random) }
    }

    /// Some languages in any order, as a decoder has them.
    private static func languages(using random: inout SeededGenerator) -> [String] {
        ["de-at", "en", "ja", "sl-rozaj-biske-1994", "zh-hant-x-a"]
            .filter { _ in Bool.random(using: &random) }.shuffled(using: &random)
    }

    private static func event(using random: inout SeededGenerator) -> TrackingEvent {
        let maybe = Bool.random(using: &random) ? text(0...300, using: &random) : nil
        let count = Int.random(in: 1 ... .max, using: &random)
        switch Int.random(in: 0...8, using: &random) {
        case 0: return .background
        case 1: return .launch
        case 2: return .featuredShown(place: maybe.map { _ in count })
        case 3: return .locationCheck
        case 4: return .search(query: maybe ?? "", page: count, results: maybe.map { _ in count })
        case 5: return .notification(identifier: text(1...200, using: &random))
        case 6: return .eventsDropped(count: count, reason: .init(rawValue: text(1...100, using: &random)))
        case 7: return .pageView(page: .init(rawValue: text(1...100, using: &random)), additional: maybe)
        default:
            let value = (0..<Int.random(in: 0...5, using: &random)).map { _ in
                (text(0...10, using: &random), json(levels: 2, using: &random))
            }
            return .other(
                EventContent(
                    name: text(1...25, using: &random),
                    value: Dictionary(value, uniquingKeysWith: { first, _ in first })))
        }
    }

    private static func json(levels: Int, using random: inout SeededGenerator) -> JSONValue {
        let items = 0..<Int.random(in: 0...3, using: &random)
        switch Int.random(in: 0...(levels > 0 ? 6 : 4), using: &random) {
        case 0: return .null
        case 1: return .boolean(.random(using: &random))
        case 2: return .integer(.random(in: .min ... .max, using: &random))
        // Not a whole number, which would come back as an integer.
        case 3: return .number(Double(Int.random(in: -1_000_000...1_000_000, using: &random)) + 0.5)
        case 4: return .string(text(0...10, using: &random))
        case 5: return .array(items.map { _ in json(levels: levels - 1, using: &random) })
        default:
            let members = items.map { _ in
                (text(0...10, using: &random), json(levels: levels - 1, using: &random))
            }
            return .object(JSONValue.Object(Dictionary(members, uniquingKeysWith: { first, _ in first })))
        }
    }

    /// So many characters of any kind but NUL.
    private static func text(_ lengths: ClosedRange<Int>, using random: inout SeededGenerator) -> String {
        let scalars = (0..<Int.random(in: lengths, using: &random)).map { _ in
            let isASCII = Bool.random(using: &random)
            return Unicode.Scalar(UInt32.random(in: 1...(isASCII ? 0x7F : 0x10FFFF), using: &random)) ?? "&"
        }
        return String(String.UnicodeScalarView(scalars))
    }
}
