import PlacesCore
import SwiftUI

/// A window: the tabs. The system keeps which one is shown, and which places are open in it.
struct RootView: View {
    let session: PlacesSession
    let useService: @MainActor (String) throws -> Void
    let useEditorKey: @MainActor (String) -> Void

    @State private var window: PlacesWindow
    @SceneStorage("navigation") private var navigation = Navigation()

    init(
        session: PlacesSession, useService: @escaping @MainActor (String) throws -> Void,
        useEditorKey: @escaping @MainActor (String) -> Void
    ) {
        self.session = session
        self.useService = useService
        self.useEditorKey = useEditorKey
        // SwiftUI keeps the first one for as long as the window is there.
        _window = State(initialValue: PlacesWindow(session: session))
    }

    var body: some View {
        TabView(selection: $navigation.tab) {
            NavigationStack(path: $navigation.listPath) {
                ListScreen(window: window)
                    .navigationDestination(for: Int.self) { details(of: $0) }
            }
            .tabItem { Label("Nearby", systemImage: "list.bullet") }
            .tag(AppTab.list)

            NavigationStack(path: $navigation.mapPath) {
                MapScreen(window: window, path: $navigation.mapPath)
                    .navigationDestination(for: Int.self) { details(of: $0) }
            }
            .tabItem { Label("Map", systemImage: "map") }
            .tag(AppTab.map)

            NavigationStack(path: $navigation.searchPath) {
                SearchScreen(window: window, text: $navigation.searchText)
                    .navigationDestination(for: Int.self) { details(of: $0) }
            }
            .tabItem { Label("Search", systemImage: "magnifyingglass") }
            .tag(AppTab.search)

            NavigationStack(path: $navigation.favoritesPath) {
                FavoritesScreen(window: window)
                    .navigationDestination(for: Int.self) { details(of: $0) }
            }
            .tabItem { Label("Favourites", systemImage: "heart") }
            .tag(AppTab.favorites)

            NavigationStack {
                SettingsScreen(
                    current: session.environment.configuration.baseURL, useService: useService,
                    isEditor: session.editor != nil, useEditorKey: useEditorKey)
            }
            .tabItem { Label("Settings", systemImage: "gear") }
            .tag(AppTab.settings)
        }
        .task(id: navigation.tab) { await window.perform(.open(navigation.tab)) }
        .task { await window.trackSearches() }
    }

    private func details(of id: Int) -> some View {
        // A view of its own for each place, also where one takes the place of another one.
        DetailScreen(window: window, id: id).id(id)
    }
}

#if DEBUG
    struct RootView_Previews: PreviewProvider {
        static let window = PlacesWindow.preview()

        static var previews: some View {
            RootView(session: window.session, useService: { _ in }, useEditorKey: { _ in })
        }
    }
#endif
