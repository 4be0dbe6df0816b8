import PlacesCore
import PointsOfInterestClient
import SwiftUI

/// The rows of a list of places, in every state that it can be in.
struct PlaceRows: View {
    let display: ListDisplay
    let nothing: LocalizedStringKey
    let loadMore: @MainActor @Sendable () async -> Void

    var body: some View {
        Section {
            if let notice = display.notice {
                Label(notice, systemImage: "wifi.slash")
                    .font(.footnote)
                    .foregroundStyle(.secondary)
            }
            switch display.content {
            case .idle: EmptyView()
            case .firstLoad: Loading()
            case .nothing: Text(nothing)
            case .failed(let reason): Label(reason, systemImage: "exclamationmark.triangle")
            case .places(let places):
                ForEach(places) { place in
                    NavigationLink(value: place.id) { PlaceRow(place: place) }
                }
                footer(count: places.count)
            }
        }
    }

    @ViewBuilder
    private func footer(count: Int) -> some View {
        switch display.footer {
        case .none: EmptyView()
        // One row for both, or its task would be cancelled by what it began. Once for each number of places, since it
        // may stay in view after a short page.
        case .more, .loadingMore: Loading().task(id: count) { await loadMore() }
        case .failed(let reason):
            VStack(alignment: .leading) {
                Text(reason)
                Button("Try again") { Task { await loadMore() } }
            }
        case .end:
            Text("No more places")
                .font(.footnote)
                .foregroundStyle(.secondary)
        }
    }
}

/// A place in a list.
struct PlaceRow: View {
    let place: PointOfInterest

    var body: some View {
        HStack {
            VStack(alignment: .leading) {
                Text(place.name)
                Text(place.category)
                    .font(.footnote)
                    .foregroundStyle(.secondary)
            }
            Spacer()
            if let distance = place.distance {
                Text(Wording.distance(distance))
                    .foregroundStyle(.secondary)
            }
        }
        .accessibilityElement(children: .combine)
    }
}

/// A row that says that something is on its way.
struct Loading: View {
    var body: some View {
        HStack {
            Spacer()
            ProgressView()
            Spacer()
        }
    }
}

#if DEBUG
    struct PlaceRows_Previews: PreviewProvider {
        static var previews: some View {
            List { PlaceRows(display: .preview, nothing: "Nothing", loadMore: {}) }
        }
    }
#endif
