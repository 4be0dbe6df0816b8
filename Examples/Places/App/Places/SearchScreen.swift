import PlacesCore
import PointsOfInterestClient
import SwiftUI

/// The places that a text finds, nearest first.
struct SearchScreen: View {
    let session: PlacesSession
    @Binding var text: String
    @ObservedObject private var results: PointsOfInterestList

    init(session: PlacesSession, text: Binding<String>) {
        self.session = session
        _text = text
        results = session.results
    }

    var body: some View {
        List {
            PlaceRows(
                display: ListDisplay(results.state), nothing: "No place has such a name.",
                loadMore: { await session.perform(.loadMoreResults) })
        }
        .navigationTitle("Search")
        .searchable(text: $text, prompt: "Name of a place")
        .onSubmit(of: .search) { Task { await search() } }
        .refreshable { await Task { await search() }.value }
        .task {
            // What was searched for before the app was ended.
            if results.phase == .idle { await search() }
        }
    }

    private func search() async {
        await session.perform(.search(text))
    }
}

#if DEBUG
    struct SearchScreen_Previews: PreviewProvider {
        static let session = PlacesSession.preview()

        static var previews: some View {
            NavigationStack { SearchScreen(session: session, text: .constant("museum")) }
        }
    }
#endif
