import CoreLocation
import MapKit
import PlacesCore
import PointsOfInterestClient
import SwiftUI

/// The places in the region that the map shows.
struct MapScreen: View {
    let session: PlacesSession
    @Binding var path: [Int]
    @ObservedObject private var map: PlacesMap

    /// The middle of San José, where the seeded places are, until the location is known.
    @State private var region = MKCoordinateRegion(
        center: CLLocationCoordinate2D(latitude: 37.3293, longitude: -121.8893), span: Self.span)

    private static let span = MKCoordinateSpan(latitudeDelta: 0.02, longitudeDelta: 0.02)

    init(session: PlacesSession, path: Binding<[Int]>) {
        self.session = session
        _path = path
        map = session.map
    }

    var body: some View {
        Map(coordinateRegion: $region, showsUserLocation: true, annotationItems: map.places) { place in
            MapAnnotation(
                coordinate: CLLocationCoordinate2D(latitude: place.latitude, longitude: place.longitude)
            ) {
                Button {
                    path.append(place.id)
                } label: {
                    Image(systemName: place.featured ? "star.circle.fill" : "mappin.circle.fill")
                        .font(.title)
                }
                .accessibilityLabel(place.name)
            }
        }
        .overlay(alignment: .top) { notice }
        .navigationTitle("Map")
        .navigationBarTitleDisplayMode(.inline)
        .task {
            guard map.state.box == nil, let here = await session.here() else { return }
            region = MKCoordinateRegion(center: CLLocationCoordinate2D(here), span: Self.span)
        }
        .task(id: BoundingBox(region)) {
            // Once the map rests: a new region cancels the task, and with it the pause.
            guard (try? await Task.sleep(for: .milliseconds(300))) != nil, let box = BoundingBox(region)
            else { return }
            await session.perform(.showOnMap(box))
        }
    }

    @ViewBuilder private var notice: some View {
        switch map.phase {
        case .failed(let error): MapNotice(text: error.localizedDescription)
        case .loading: ProgressView().padding()
        default:
            if !map.isComplete, !map.places.isEmpty {
                MapNotice(text: "There are more places here. Zoom in to see them.")
            }
        }
    }
}

/// A sentence above the map.
private struct MapNotice: View {
    let text: String

    var body: some View {
        Text(text)
            .font(.footnote)
            .padding()
            .background(.thinMaterial)
    }
}

#if DEBUG
    struct MapScreen_Previews: PreviewProvider {
        static let session = PlacesSession.preview()

        static var previews: some View {
            MapScreen(session: session, path: .constant([]))
        }
    }
#endif
