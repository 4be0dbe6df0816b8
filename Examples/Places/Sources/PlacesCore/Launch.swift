import Foundation
import PointsOfInterestClient
import PointsOfInterestEditing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Starts the app: makes a session, and a new one when a person chooses another service.
@MainActor
public final class Launch {
    /// What a person has chosen.
    public let settings: ServiceSettings

    private let arguments: [String]
    private let variables: [String: String]
    private let eventQueue: EventQueue?
    private let responseStore: ResponseStore
    private let urlSession: URLSession
    private let backgroundTime: (any BackgroundTime)?
    private let makeLocationFetcher: () -> any LocationFetcher

    /// Opens what the app keeps.
    ///
    /// - Parameters:
    ///   - settings: what a person has chosen.
    ///   - events: the folder where tracking events wait for the service. Where it can't be used, none are kept.
    ///   - responses: the folder where responses are kept, for a time without a network. Where it can't be used, they
    ///     are kept in memory.
    ///   - arguments: the launch arguments; a UI test names the service there.
    ///   - variables: the environment variables of the launch.
    ///   - urlSession: sends the requests.
    ///   - backgroundTime: gives time after the app went to the background.
    ///   - makeLocationFetcher: makes the device's location manager.
    public init(
        settings: ServiceSettings = ServiceSettings(), events: URL, responses: URL,
        arguments: [String] = ProcessInfo.processInfo.arguments,
        variables: [String: String] = ProcessInfo.processInfo.environment,
        urlSession: URLSession = .uncached, backgroundTime: (any BackgroundTime)? = nil,
        makeLocationFetcher: @escaping () -> any LocationFetcher
    ) {
        self.settings = settings
        self.arguments = arguments
        self.variables = variables
        self.backgroundTime = backgroundTime
        self.makeLocationFetcher = makeLocationFetcher
        self.urlSession = urlSession
        eventQueue = try? EventQueue(directory: events)
        responseStore = (try? ResponseStore(directory: responses)) ?? ResponseStore()
    }

    /// Makes a session on the service that the launch names, else on the one that a person has chosen.
    ///
    /// Sessions share the queue of events: `sendEvents()` of one waits until that of another one is cancelled.
    ///
    /// - Parameter editorKey: the key of a person who edits places, which this session alone has; an empty one is none.
    /// - Throws: `AppConfigurationError` for a launch argument or a variable that can't be used.
    public func session(editorKey: String = "") throws(AppConfigurationError) -> PlacesSession {
        let key = editorKey.trimmingCharacters(in: .whitespacesAndNewlines)
        let configuration = try AppConfiguration(
            defaultBaseURL: settings.baseURL,
            headers: { $0 == .editing && !key.isEmpty ? ["Authorization": "Bearer \(key)"] : [:] },
            arguments: arguments, environment: variables)
        let editor = key.isEmpty ? nil : makeEditor(configuration)
        let environment = AppEnvironment(
            configuration: configuration, urlSession: urlSession, responseStore: responseStore,
            placeFinder: editor?.showingOwnEdits(), locationFetcher: makeLocationFetcher(),
            eventQueue: eventQueue)
        return PlacesSession(
            environment: environment, editor: editor,
            favoriteIDs: FavoriteIDs(defaults: settings.defaults, baseURL: configuration.baseURL),
            backgroundTime: backgroundTime)
    }

    /// Its service has the session's responses, so that what is kept of an edited place is dropped.
    private func makeEditor(_ configuration: AppConfiguration) -> PlaceEditor {
        PlaceEditor(
            service: PointsOfInterestService(
                baseURL: configuration.baseURL, urlSession: urlSession, responseStore: responseStore,
                headers: configuration.headers))
    }

    /// A folder of the app's own.
    public nonisolated static func folder(_ name: String, in directory: FileManager.SearchPathDirectory)
        -> URL
    {
        let files = FileManager.default
        let parent = files.urls(for: directory, in: .userDomainMask).first ?? files.temporaryDirectory
        return parent.appendingPathComponent("Places").appendingPathComponent(name)
    }
}
