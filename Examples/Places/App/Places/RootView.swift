import PlacesCore
import SwiftUI

/// The tabs. The system keeps which one is shown, and which places are open in it.
struct RootView: View {
    let session: PlacesSession
    let useService: @MainActor (String) throws -> Void

    @SceneStorage("navigation") private var navigation = Navigation()

    var body: some View {
        TabView(selection: $navigation.tab) {
            NavigationStack(path: $navigation.listPath) {
                ListScreen(session: session)
                    .navigationDestination(for: Int.self) { DetailScreen(session: session, id: $0) }
            }
            .tabItem { Label("Nearby", systemImage: "list.bullet") }
            .tag(AppTab.list)

            NavigationStack(path: $navigation.mapPath) {
                MapScreen(session: session, path: $navigation.mapPath)
                    .navigationDestination(for: Int.self) { DetailScreen(session: session, id: $0) }
            }
            .tabItem { Label("Map", systemImage: "map") }
            .tag(AppTab.map)

            NavigationStack(path: $navigation.searchPath) {
                SearchScreen(session: session, text: $navigation.searchText)
                    .navigationDestination(for: Int.self) { DetailScreen(session: session, id: $0) }
            }
            .tabItem { Label("Search", systemImage: "magnifyingglass") }
            .tag(AppTab.search)

            NavigationStack {
                SettingsScreen(current: session.environment.configuration.baseURL, useService: useService)
            }
            .tabItem { Label("Settings", systemImage: "gear") }
            .tag(AppTab.settings)
        }
        .task(id: navigation.tab) { await session.perform(.open(navigation.tab)) }
    }
}

#if DEBUG
    struct RootView_Previews: PreviewProvider {
        static let session = PlacesSession.preview()

        static var previews: some View {
            RootView(session: session, useService: { _ in })
        }
    }
#endif
