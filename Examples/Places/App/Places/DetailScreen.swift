import PlacesCore
import PointsOfInterestClient
import SwiftUI

/// A place by its id, so that it can be opened from a list, the map, the search, and a restored state.
struct DetailScreen: View {
    let window: PlacesWindow
    let id: Int

    @StateObject private var details: Loadable<PointOfInterest>
    @ObservedObject private var favorites: FavoritePlaces

    init(window: PlacesWindow, id: Int) {
        self.window = window
        self.id = id
        _details = StateObject(wrappedValue: window.makeDetails(id: id))
        favorites = window.session.favorites
    }

    var body: some View {
        List {
            DisplayRows(display: Display(details.state), load: { await details.load() }) { details in
                PlaceFacts(details: details)
            }
            if let place = details.value {
                PlaceActions(window: window, place: place, load: { await details.load() })
            }
        }
        .navigationTitle("Place")
        .navigationBarTitleDisplayMode(.inline)
        .toolbar {
            if let place = details.value {
                Button {
                    window.session.change(.toggle(place))
                } label: {
                    Image(systemName: favorites.contains(id: id) ? "heart.fill" : "heart")
                }
                .accessibilityLabel(
                    favorites.contains(id: id) ? "Remove from favourites" : "Add to favourites")
            }
        }
        .refreshable { await Task { await details.load() }.value }
        .task {
            await window.perform(.openPlace(id: id))
            await details.load()
        }
    }
}

/// What is known about a place.
struct PlaceFacts: View {
    let details: PlaceDetails

    private var place: PointOfInterest { details.place }

    var body: some View {
        Section {
            Text(place.name).font(.headline)
            Text(place.categoryLabel ?? place.category)
            if let closure = Wording.closure(place.operatingStatus) { Text(closure).bold() }
            if let distance = place.distance { Text(Wording.distance(distance)) }
            if let address = place.address { Text(address) }
            if let openingHours = details.properties.openingHours { Text("Opening hours: \(openingHours)") }
            if let phone = details.properties.phone { Text("Phone: \(phone)") }
            if let website = place.website.flatMap({ URL(string: $0) }) {
                Link("Website", destination: website)
            }
        } footer: {
            if let source = place.source { Text("Source: \(source.dataset), \(source.license)") }
        }
    }
}

/// What a person can do about a place that isn't right.
struct PlaceActions: View {
    let window: PlacesWindow
    let place: PointOfInterest
    let load: @MainActor @Sendable () async -> Void

    @State private var isReporting = false
    @State private var isEditing = false

    var body: some View {
        Section {
            Button("Report a mistake") { isReporting = true }
                .sheet(isPresented: $isReporting) {
                    ReportScreen(place: place, environment: window.session.environment)
                }
            if let editor = window.session.editor {
                Button("Edit this place") { isEditing = true }
                    .sheet(isPresented: $isEditing) {
                        EditScreen(model: PlaceEditModel(id: place.id, editor: editor), onDone: showEdits)
                    }
            }
        }
    }

    private func showEdits() {
        Task {
            await load()
            await window.perform(.showEdits)
        }
    }
}

#if DEBUG
    struct DetailScreen_Previews: PreviewProvider {
        static let window = PlacesWindow.preview()

        static var previews: some View {
            NavigationStack { DetailScreen(window: window, id: 1) }
        }
    }
#endif
