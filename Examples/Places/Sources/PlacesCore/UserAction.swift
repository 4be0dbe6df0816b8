import PointsOfInterestClient

/// What a person does in a window, one case each. The screens call `PlacesWindow.perform(_:)` with it, which does it and
/// sends its tracking events.
public enum UserAction: Hashable, Sendable {
    /// A tab was chosen.
    case open(AppTab)
    /// A place was opened.
    case openPlace(id: Int)
    /// The list of the places nearby is loaded, for the first time or anew.
    case loadList
    /// The end of the list came into view, or its button was tapped after a failure.
    case loadMore
    /// The map was moved. The width of its view is in points.
    case showOnMap(BoundingBox, width: Double)
    /// The text in the search field is searched for at once, without a pause in typing.
    case search
    /// The end of the results came into view, or their button was tapped after a failure.
    case loadMoreResults
    /// The favourites are loaded, for the first time or anew.
    case loadFavorites
    /// A place was edited: the list, the search and the favourites are loaded anew, where they were loaded before.
    case showEdits
}
