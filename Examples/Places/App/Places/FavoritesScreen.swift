import PlacesCore
import PointsOfInterestClient
import SwiftUI

/// The places that the person has chosen, in the person's order, which the edit button changes.
struct FavoritesScreen: View {
    let window: PlacesWindow
    @ObservedObject private var favorites: FavoritePlaces

    init(window: PlacesWindow) {
        self.window = window
        favorites = window.session.favorites
    }

    var body: some View {
        List {
            DisplayRows(
                display: Display(favorites.state), load: { await window.perform(.loadFavorites) }
            ) { places in
                ForEach(places) { place in
                    NavigationLink(value: place.id) { PlaceRow(place: place) }
                }
                .onDelete { positions in
                    for id in positions.map({ places[$0].id }) { window.session.change(.remove(id: id)) }
                }
                .onMove { window.session.change(.move($0, to: $1)) }
            }
        }
        .navigationTitle("Favourites")
        .toolbar { EditButton() }
        .refreshable { await Task { await window.perform(.loadFavorites) }.value }
        .task {
            if favorites.phase == .idle { await window.perform(.loadFavorites) }
        }
    }
}

#if DEBUG
    struct FavoritesScreen_Previews: PreviewProvider {
        static let window = PlacesWindow.preview()

        static var previews: some View {
            NavigationStack { FavoritesScreen(window: window) }
        }
    }
#endif
