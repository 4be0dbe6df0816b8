import PlacesCore
import PointsOfInterestClient
import SwiftUI

/// The places nearby, nearest first, below the featured ones.
struct ListScreen: View {
    let session: PlacesSession
    @ObservedObject private var list: PointsOfInterestList

    init(session: PlacesSession) {
        self.session = session
        list = session.list
    }

    var body: some View {
        // The same list in every state, so that pull to refresh isn't interrupted.
        List {
            PlaceRows(
                display: ListDisplay(list.state), nothing: "There are no places nearby.",
                loadMore: { await session.perform(.loadMore) })
        }
        .safeAreaInset(edge: .top) { FeaturedStrip(session: session) }
        .navigationTitle("Nearby")
        // In a task of its own: SwiftUI cancels the action's when the list is drawn anew, which `.loading` does.
        .refreshable { await Task { await session.perform(.loadList) }.value }
        .task {
            if list.phase == .idle { await session.perform(.loadList) }
        }
    }
}

#if DEBUG
    struct ListScreen_Previews: PreviewProvider {
        static let session = PlacesSession.preview()
        static let offline = PlacesSession.offline()

        static var previews: some View {
            NavigationStack { ListScreen(session: session) }
                .previewDisplayName("Places")
            NavigationStack { ListScreen(session: offline) }
                .previewDisplayName("No network")
        }
    }
#endif
