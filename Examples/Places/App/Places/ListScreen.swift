import PlacesCore
import PointsOfInterestClient
import SwiftUI

/// The places nearby, nearest first, below the featured ones.
struct ListScreen: View {
    let window: PlacesWindow
    @ObservedObject private var list: PointsOfInterestList

    init(window: PlacesWindow) {
        self.window = window
        list = window.list
    }

    var body: some View {
        // The same list in every state, so that pull to refresh isn't interrupted.
        List {
            PlaceRows(
                display: Display(list.state), load: { await window.perform(.loadList) },
                loadMore: { await window.perform(.loadMore) }
            ) { place in
                PlaceRow(place: place)
            }
        }
        .safeAreaInset(edge: .top) { FeaturedStrip(window: window) }
        .navigationTitle("Nearby")
        // In a task of its own: SwiftUI cancels the action's when the list is drawn anew, which `.loading` does.
        .refreshable { await Task { await window.perform(.loadList) }.value }
        .task {
            if list.phase == .idle { await window.perform(.loadList) }
        }
    }
}

#if DEBUG
    struct ListScreen_Previews: PreviewProvider {
        static let window = PlacesWindow.preview()
        static let offline = PlacesWindow.offline()

        static var previews: some View {
            NavigationStack { ListScreen(window: window) }
                .previewDisplayName("Places")
            NavigationStack { ListScreen(window: offline) }
                .previewDisplayName("No network")
        }
    }
#endif
