import PointsOfInterestClient
import SwiftUI

/// The places nearby: SwiftUI's `List` of what the client's list has loaded. With Observation, a view that reads a model
/// is drawn again when the model changes.
struct ListScreen: View {
    @State private var list: PointsOfInterestList

    init(environment: AppEnvironment) {
        _list = State(wrappedValue: environment.makeList())
    }

    var body: some View {
        if case .failed(let error) = list.phase {
            Text(error.localizedDescription)
        }
        List(list.places) { place in
            Text(place.name)
        }
        .task { await list.load() }
        .refreshable { await list.load() }
        if list.hasMore {
            Button("More") { Task { await list.loadMore() } }
        }
    }
}
