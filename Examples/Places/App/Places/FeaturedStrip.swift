import PlacesCore
import PointsOfInterestClient
import SwiftUI

/// One featured place at a time, above the list.
struct FeaturedStrip: View {
    let window: PlacesWindow
    @ObservedObject private var featured: FeaturedPlaceManager

    init(window: PlacesWindow) {
        self.window = window
        featured = window.featured
    }

    var body: some View {
        HStack {
            switch Display(featured.state).content {
            // Why there is none is said by the list.
            case .idle, .failed: EmptyView()
            case .firstLoad: ProgressView()
            case .value(let place):
                NavigationLink(value: place.id) { Label(place.name, systemImage: "star.fill") }
            case .nothing(let sentence):
                Label(sentence, systemImage: "star")
                    .foregroundStyle(.secondary)
            }
            Spacer()
        }
        .padding()
        .background(.bar)
        .task { await window.showFeatured() }
    }
}

#if DEBUG
    struct FeaturedStrip_Previews: PreviewProvider {
        static let window = PlacesWindow.preview()

        static var previews: some View {
            NavigationStack { FeaturedStrip(window: window) }
        }
    }
#endif
