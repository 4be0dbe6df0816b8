import Foundation
import PointsOfInterestClient
import PointsOfInterestEditing

/// The app on one service: what all of its windows share.
@MainActor
public final class PlacesSession {
    /// The client's parts.
    public let environment: AppEnvironment
    /// Changes places, for a person with an editor's key; nil without one.
    public let editor: PlaceEditor?
    /// The places that the person has chosen.
    public let favorites: FavoritePlaces

    private let favoriteIDs: FavoriteIDs
    private let backgroundTime: (any BackgroundTime)?

    /// Makes what the windows share.
    ///
    /// - Parameters:
    ///   - environment: the client's parts.
    ///   - editor: changes places; nil for a person without an editor's key.
    ///   - favoriteIDs: where the ids of the favourites are kept.
    ///   - backgroundTime: gives the time to send events in after the app went to the background; nil gives none.
    public init(
        environment: AppEnvironment, editor: PlaceEditor? = nil, favoriteIDs: FavoriteIDs,
        backgroundTime: (any BackgroundTime)? = nil
    ) {
        self.environment = environment
        self.editor = editor
        self.favoriteIDs = favoriteIDs
        self.backgroundTime = backgroundTime
        favorites = environment.makeFavorites(ids: favoriteIDs.ids)
    }

    /// Does what the app has to do in the foreground, or in the background. Returns when it is done.
    public func perform(_ change: AppLifecycle.Change) async {
        switch change {
        case .enterForeground: environment.trackingModel.sendTrackingEvent(.launch)
        case .enterBackground:
            environment.trackingModel.sendTrackingEvent(.background)
            await sendEventsInBackground()
        }
    }

    /// Sends tracking events as they arrive, until the task is cancelled. Each window may call it.
    public func sendEvents() async {
        await environment.eventUploader?.run()
    }

    private func sendEventsInBackground() async {
        guard let uploader = environment.eventUploader, let backgroundTime else { return }
        await backgroundTime.keepAwake("Send events") { _ = await uploader.flush() }
    }

}

// MARK: - Favourites

extension PlacesSession {
    /// What a person changes in the favourites.
    public enum FavoriteChange: Hashable, Sendable {
        /// The heart of a place was tapped, which adds it or removes it.
        case toggle(PointOfInterest)
        /// A place was deleted from the list.
        case remove(id: Int)
        /// Places were moved, from their positions in the list to before another one.
        case move(IndexSet, to: Int)
    }

    /// Changes the favourites, and keeps their ids. At once, so that a row stays where a person drops it.
    public func change(_ change: FavoriteChange) {
        switch change {
        case .toggle(let place) where favorites.contains(id: place.id): favorites.remove(id: place.id)
        case .toggle(let place): favorites.add(place)
        case .remove(let id): favorites.remove(id: id)
        case .move(let source, let destination):
            favorites.move(fromOffsets: source, toOffset: destination)
        }
        favoriteIDs.store(favorites.ids)
    }

    /// Loads the favourites.
    func loadFavorites() async { await favorites.load() }
}
