import PointsOfInterestClient

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
