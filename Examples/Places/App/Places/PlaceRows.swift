import PlacesCore
import PointsOfInterestClient
import SwiftUI

/// The rows of a screen, in every state that it can be in.
struct DisplayRows<Value: Hashable & Sendable, Rows: View>: View {
    let display: Display<Value>
    let load: @MainActor @Sendable () async -> Void
    let rows: (Value) -> Rows

    var body: some View {
        Section {
            if let notice = display.notice {
                Label(notice, systemImage: "clock")
                    .font(.footnote)
                    .foregroundStyle(.secondary)
            }
            switch display.content {
            case .idle: EmptyView()
            case .firstLoad: Loading()
            case .nothing(let sentence): Text(sentence)
            case .failed(let reason):
                Label(reason, systemImage: "exclamationmark.triangle")
                Button("Try again") { Task { await load() } }
            case .value(let value): rows(value)
            }
        }
    }
}

/// The rows of a list with pages.
struct PlaceRows<Element: Identifiable & Hashable & Sendable, Row: View>: View where Element.ID == Int {
    let display: Display<[Element]>
    let load: @MainActor @Sendable () async -> Void
    let loadMore: @MainActor @Sendable () async -> Void
    let row: (Element) -> Row

    var body: some View {
        DisplayRows(display: display, load: load, rows: rows(of:))
    }

    @ViewBuilder
    private func rows(of elements: [Element]) -> some View {
        ForEach(elements) { element in
            NavigationLink(value: element.id) { row(element) }
        }
        footer(count: elements.count)
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
                Text(place.categoryLabel ?? place.category)
                    .font(.footnote)
                    .foregroundStyle(.secondary)
            }
            Spacer()
            DistanceText(place: place)
        }
        .accessibilityElement(children: .combine)
    }
}

/// How far away a place is, where that is known.
struct DistanceText: View {
    let place: PointOfInterest

    var body: some View {
        if let distance = place.distance {
            Text(Wording.distance(distance))
                .foregroundStyle(.secondary)
        }
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
            List {
                PlaceRows(display: .preview, load: {}, loadMore: {}) { PlaceRow(place: $0) }
            }
        }
    }
#endif
