import PlacesCore
import PointsOfInterestClient
import SwiftUI

/// A place by its id, so that it can be opened from the list, the map, the search, and a restored state.
struct DetailScreen: View {
    let session: PlacesSession
    let id: Int

    @State private var detail = PlaceDetail.loading

    var body: some View {
        List {
            switch detail {
            case .loading: Loading()
            case .loaded(let place, let properties): PlaceFacts(place: place, properties: properties)
            case .gone: Text("This place is gone.")
            case .failed(let reason):
                Text(reason)
                Button("Try again") { Task { await load() } }
            }
        }
        .navigationTitle("Place")
        .navigationBarTitleDisplayMode(.inline)
        .refreshable { await Task { await load() }.value }
        .task(id: id) {
            await session.perform(.openPlace(id: id))
            await load()
        }
    }

    private func load() async {
        if let loaded = await session.detail(of: id) { detail = loaded }
    }
}

/// What is known about a place.
struct PlaceFacts: View {
    let place: PointOfInterest
    let properties: PlaceProperties

    var body: some View {
        Section {
            Text(place.name).font(.headline)
            Text(place.category)
            if let distance = place.distance { Text(Wording.distance(distance)) }
            if let address = place.address { Text(address) }
            if let openingHours = properties.openingHours { Text("Opening hours: \(openingHours)") }
            if let phone = properties.phone { Text("Phone: \(phone)") }
            if let website = place.website.flatMap({ URL(string: $0) }) {
                Link("Website", destination: website)
            }
        } footer: {
            if let source = place.source { Text("Source: \(source.dataset), \(source.license)") }
        }
    }
}

#if DEBUG
    struct DetailScreen_Previews: PreviewProvider {
        static let session = PlacesSession.preview()

        static var previews: some View {
            NavigationStack { DetailScreen(session: session, id: 1) }
        }
    }
#endif
