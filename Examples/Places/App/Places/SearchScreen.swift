import PlacesCore
import PointsOfInterestClient
import SwiftUI

/// The places that a text finds while it is typed, the best first.
struct SearchScreen: View {
    let window: PlacesWindow
    /// The text that the system keeps.
    @Binding var text: String
    @ObservedObject private var search: PlaceSearch

    init(window: PlacesWindow, text: Binding<String>) {
        self.window = window
        _text = text
        search = window.search
    }

    var body: some View {
        List {
            PlaceRows(
                display: Display(search.state), load: { await window.perform(.search) },
                loadMore: { await window.perform(.loadMoreResults) }
            ) { result in
                ResultRow(result: result)
            }
        }
        .navigationTitle("Search")
        .searchable(text: $search.text, prompt: "Name of a place")
        .searchScopes($search.scope) {
            Text("Nearby").tag(PlaceSearch.Scope.nearby)
            Text("Everywhere").tag(PlaceSearch.Scope.everywhere)
        }
        .onSubmit(of: .search) { Task { await window.perform(.search) } }
        .refreshable { await Task { await window.perform(.search) }.value }
        .onAppear {
            // What was searched for before the app was ended.
            if search.text.isEmpty { search.text = text }
        }
        .onChange(of: search.text) { text = $0 }
    }
}

/// A place that was found, with what was searched for in bold.
struct ResultRow: View {
    let result: PlaceSearch.Result

    var body: some View {
        HStack {
            VStack(alignment: .leading) {
                result.nameParts.reduce(Text("")) { text, part in
                    text + (part.isMatch ? Text(part.text).bold() : Text(part.text))
                }
                if result.matchedName != result.place.name { Text(result.place.name) }
                Text(result.place.categoryLabel ?? result.place.category)
                    .font(.footnote)
                    .foregroundStyle(.secondary)
            }
            Spacer()
            DistanceText(place: result.place)
        }
        .accessibilityElement(children: .combine)
    }
}

#if DEBUG
    struct SearchScreen_Previews: PreviewProvider {
        static let window = PlacesWindow.preview()

        static var previews: some View {
            NavigationStack { SearchScreen(window: window, text: .constant("museum")) }
        }
    }
#endif
