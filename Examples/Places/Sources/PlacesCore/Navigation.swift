import Foundation
import PointsOfInterestClient

/// A tab of the app.
public enum AppTab: String, Hashable, Sendable, Codable, CaseIterable {
    /// The places nearby, nearest first.
    case list
    /// The places on a map.
    case map
    /// The places that a text finds.
    case search
    /// The places that the person has chosen.
    case favorites
    /// Which service the app uses.
    case settings

    /// The tab's page in tracking events.
    public var page: TrackingEvent.PageViewPage {
        switch self {
        case .list: .locationsList
        case .map: .locationsMap
        case .search: .search
        case .favorites: "favorites"
        case .settings: .settings
        }
    }
}

/// Where a person is in a window. The system keeps it as a text while the app isn't running (`@SceneStorage`).
public struct Navigation: Hashable, Sendable {
    /// The tab that is shown.
    public var tab = AppTab.list
    /// The ids of the places that are open in the list's tab, the last one on top.
    public var listPath: [Int] = []
    /// The ids of the places that are open in the map's tab.
    public var mapPath: [Int] = []
    /// The ids of the places that are open in the search's tab.
    public var searchPath: [Int] = []
    /// The ids of the places that are open in the favourites' tab.
    public var favoritesPath: [Int] = []
    /// The text in the search field.
    public var searchText = ""

    /// Makes the state of a first launch.
    public init() {}
}

extension Navigation: RawRepresentable {
    /// What the text contains. `Navigation` itself isn't `Codable`: the default coding of a `RawRepresentable` type is
    /// that of its raw value, which would be made by coding it.
    private struct Stored: Codable {
        let tab: AppTab
        let listPath: [Int]
        let mapPath: [Int]
        let searchPath: [Int]
        let favoritesPath: [Int]
        let searchText: String
    }

    /// Restores a state; nil where the text isn't one, but of another version of the app for instance.
    public init?(rawValue: String) {
        guard let stored = try? JSONDecoder().decode(Stored.self, from: Data(rawValue.utf8)) else {
            return nil
        }
        tab = stored.tab
        listPath = stored.listPath
        mapPath = stored.mapPath
        searchPath = stored.searchPath
        favoritesPath = stored.favoritesPath
        searchText = stored.searchText
    }

    /// The state as a text, the same for the same state: `==` compares it.
    public var rawValue: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let stored = Stored(
            tab: tab, listPath: listPath, mapPath: mapPath, searchPath: searchPath,
            favoritesPath: favoritesPath, searchText: searchText)
        return (try? encoder.encode(stored)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
}
