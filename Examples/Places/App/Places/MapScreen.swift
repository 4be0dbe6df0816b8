import CoreLocation
import MapKit
import PlacesCore
import PointsOfInterestClient
import SwiftUI

/// The places in the region that the map shows, one by one or in clusters. A tap on a cluster zooms in.
struct MapScreen: View {
    let window: PlacesWindow
    @Binding var path: [Int]
    @ObservedObject private var map: PlacesMap

    /// The middle of San José, where the seeded places are, until the location is known.
    @State private var region = MKCoordinateRegion(
        center: CLLocationCoordinate2D(latitude: 37.3293, longitude: -121.8893), span: Self.span)

    private static let span = MKCoordinateSpan(latitudeDelta: 0.02, longitudeDelta: 0.02)

    init(window: PlacesWindow, path: Binding<[Int]>) {
        self.window = window
        _path = path
        map = window.map
    }

    var body: some View {
        GeometryReader { proxy in
            Map(coordinateRegion: $region, showsUserLocation: true, annotationItems: map.state.items) {
                item in
                MapAnnotation(
                    coordinate: CLLocationCoordinate2D(latitude: item.latitude, longitude: item.longitude)
                ) {
                    MapItemButton(item: item) { tap(item) }
                }
            }
            .task(id: showing(width: proxy.size.width)) {
                // Once the map rests: a new region cancels the task, and with it the pause.
                guard (try? await Task.sleep(for: .milliseconds(300))) != nil,
                    let action = showing(width: proxy.size.width)
                else { return }
                await window.perform(action)
            }
        }
        .overlay(alignment: .top) { notice }
        .navigationTitle("Map")
        .navigationBarTitleDisplayMode(.inline)
        .task {
            guard map.box == nil, let here = await window.here() else { return }
            region = MKCoordinateRegion(center: CLLocationCoordinate2D(here), span: Self.span)
        }
    }

    private func showing(width: Double) -> UserAction? {
        BoundingBox(region).map { .showOnMap($0, width: width) }
    }

    private func tap(_ item: MapItem) {
        switch item {
        case .place(let place): path.append(place.id)
        case .cluster(let cluster): region = MKCoordinateRegion(MapRegion(zoomingInto: cluster))
        }
    }

    @ViewBuilder private var notice: some View {
        let display = Display(map.state)
        switch display.content {
        case .idle: EmptyView()
        case .firstLoad: ProgressView().padding()
        case .nothing(let sentence), .failed(let sentence): MapNotice(text: sentence)
        case .value:
            if let notice = display.notice { MapNotice(text: notice) }
        }
    }
}

/// A place on the map, or the number of several.
private struct MapItemButton: View {
    let item: MapItem
    let tap: @MainActor () -> Void

    var body: some View {
        switch item {
        case .place(let place):
            Button(action: tap) {
                Image(systemName: place.featured ? "star.circle.fill" : "mappin.circle.fill")
                    .font(.title)
            }
            .accessibilityLabel(place.name)
        case .cluster(let cluster):
            Button(action: tap) {
                Text("\(cluster.count)")
                    .font(.headline)
                    .padding()
                    .background(.thinMaterial, in: Circle())
            }
            .accessibilityLabel("\(cluster.count) places")
        }
    }
}

extension MKCoordinateRegion {
    fileprivate init(_ region: MapRegion) {
        self.init(
            center: CLLocationCoordinate2D(latitude: region.latitude, longitude: region.longitude),
            span: MKCoordinateSpan(
                latitudeDelta: region.latitudeDelta, longitudeDelta: region.longitudeDelta))
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
        static let window = PlacesWindow.preview()

        static var previews: some View {
            MapScreen(window: window, path: .constant([]))
        }
    }
#endif
