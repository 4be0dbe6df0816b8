import PlacesCore
import PointsOfInterestClient
import SwiftUI

/// One featured place at a time, above the list.
struct FeaturedStrip: View {
    let session: PlacesSession
    @ObservedObject private var featured: FeaturedPlaceManager

    init(session: PlacesSession) {
        self.session = session
        featured = session.featured
    }

    var body: some View {
        HStack {
            if let place = featured.currentPlace {
                NavigationLink(value: place.id) { Label(place.name, systemImage: "star.fill") }
            } else {
                Label("No featured places nearby", systemImage: "star")
                    .foregroundStyle(.secondary)
            }
            Spacer()
        }
        .padding()
        .background(.bar)
        .task { await session.showFeatured() }
    }
}

#if DEBUG
    struct FeaturedStrip_Previews: PreviewProvider {
        static let session = PlacesSession.preview()

        static var previews: some View {
            NavigationStack { FeaturedStrip(session: session) }
        }
    }
#endif
