import PointsOfInterestClient

/// What happens in the app, one case each. The screens call `PlacesSession.perform(_:)` with it, which does it and
/// sends its tracking events.
public enum UserAction: Hashable, Sendable {
    /// The app was started, or came back.
    case enterForeground
    /// The app went to the background.
    case enterBackground
    /// A tab was chosen.
    case open(AppTab)
    /// A place was opened.
    case openPlace(id: Int)
    /// The list of the places nearby is loaded, for the first time or anew.
    case loadList
    /// The end of the list came into view, or its button was tapped after a failure.
    case loadMore
    /// The map was moved.
    case showOnMap(BoundingBox)
    /// A text was searched for.
    case search(String)
    /// The end of the results came into view, or their button was tapped after a failure.
    case loadMoreResults
}
