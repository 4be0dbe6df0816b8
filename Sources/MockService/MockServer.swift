import EventLoop
import Foundation
import HTTPServer
import Locking
import MockServerAPI
import POIService
import Places
import PointsOfInterestAPI
import Program
import Telemetry

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The service over fixtures, on one loop: what `poi-mock` runs.
package struct MockServer: Sendable {
    private let configuration: MockConfiguration
    private let observability: Observability
    private let endsWithStandardInput: Bool

    /// - Parameter endsWithStandardInput: whether it also ends when its standard input does, so that it never outlives
    ///   the process that started it.
    package init(
        configuration: MockConfiguration, observability: Observability, endsWithStandardInput: Bool
    ) {
        self.configuration = configuration
        self.observability = observability
        self.endsWithStandardInput = endsWithStandardInput
    }

    /// Serves until SIGTERM or SIGINT, and finishes what is in flight. Call it once, from the main thread, on which the loop runs.
    package func run(onListening: @escaping @Sendable (MockAddress) -> Void) throws {
        let socket = try BoundSocket.listening(
            host: configuration.service.host, port: configuration.service.port,
            permissions: configuration.service.socketPermissions)[0]
        try EventLoop.runToCompletion { loop in
            let signals = try StopSignals(loop: loop)
            defer { signals.close() }
            let health = Health(requiresDatabase: false)
            _ = health.update(.reachable(missingMigrations: []))
            let handler = makeHandler(on: loop, health)
            let server = makeServer(on: loop, handler)
            try server.start(on: socket)
            let address = MockAddress(host: configuration.service.host, port: socket.port)
            observability.record(.listening(url: address.url))
            onListening(address)
            if endsWithStandardInput {
                StandardInput.whenClosed(on: loop) { signals.ask("standard input has ended") }
            }
            observability.record(.stopping(signal: await signals.first(), drainDelay: .zero))
            health.drain()
            handler.drain()
            await server.shutdown(timeout: configuration.service.lifecycle.shutdownTimeout)
        }
        observability.record(.stopped)
    }

    private var errorResponder: MockErrorResponder {
        MockErrorResponder(service: ProblemResponder(observability: observability))
    }

    /// Responds to requests for the service and for sessions; without a socket.
    func makeHandler(on loop: EventLoop, _ health: Health) -> MockDispatcher {
        let (service, observability) = (configuration.service, observability)
        return MockDispatcher(
            loop: loop, fixtures: configuration.fixtures, scenario: configuration.scenario,
            maximumSessionCount: configuration.maximumSessionCount, errorResponder: errorResponder
        ) { fixtures, reports in
            let (places, edits) = fixtures.makeStores(on: loop)
            return ServiceDispatcher(
                store: places, events: MemoryEventStore(), edits: edits, reports: reports, health: health,
                configuration: service, errorResponder: ProblemResponder(observability: observability),
                observability: observability, limits: SharedLimits(service))
        }
    }

    private func makeServer(on loop: EventLoop, _ handler: MockDispatcher) -> HTTPServer {
        let (observability, client) = (observability, configuration.service.logClient)
        return HTTPServer(
            loop: loop,
            configuration: HTTPServerConfiguration(
                configuration.service, limits: SharedLimits(configuration.service)),
            dispatcher: handler,
            errorResponder: errorResponder,
            observe: observability.observesRequests ? { observability.record($0, client: client) } : nil)
    }
}

package struct MockAddress: Hashable, Sendable {
    let host: String
    let port: Int

    package var url: String { Service.url(host: host, port: port) }

    /// One line of JSON for the program that started the mock: `{"port":49152,"url":"http://127.0.0.1:49152"}`.
    package var json: String {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("port", port)
        writer.member("url", url)
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

private enum StandardInput {
    /// Reads standard input to its end on a thread of its own, then runs `body` on the loop.
    ///
    /// It takes a thread, because standard input may be a file, which no loop can watch (epoll_ctl(2), `EPERM`).
    static func whenClosed(on loop: EventLoop, _ body: @escaping () -> Void) {
        let work = LoopBound(body, loop: loop)
        let thread = BlockingThread(name: "mock-stdin", capacity: 1)
        Task(executorPreference: loop) {
            // If the system refuses a thread, the mock ends now: one that never ends would be worse.
            try? await thread.run { readToEnd() }
            work.value()
        }
    }

    private static func readToEnd() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            if count == 0 || (count < 0 && errno != EINTR) { return }
        }
    }
}

package struct MockConfiguration: Sendable {
    /// In common with `poi serve`.
    package let service: ServiceConfiguration
    package let fixtures: Fixtures
    /// The situation that every session begins with, and that the service without a prefix is in.
    package let scenario: MockScenario
    package let maximumSessionCount: Int
    /// One a line, with where each came from.
    package let summary: String

    private static let settings: Set<SettingName> = [
        .fixtures, .maxSessions, .scenario,
        .host, .port, .maxConnections, .maxInFlight, .shutdownTimeout,
        .ignoredParameters, .cachePrivateMaxAge, .cachePublicMaxAge, .corsOrigins,
        .apiKeys, .eventsKeys, .eventsDir, .rateLimit, .rateBurst,
        .editorsFile, .editorHeader, .editorOrigins, .editorRateLimit, .editorialLicense,
        .trustedProxies, .accessLog, .reports, .digestMaxPlaces,
        .leafletDirectory, .tilesURL, .tilesDarkURL, .tilesMaxZoom, .tilesAttribution,
        .pageTitle, .pageLogo, .pageColor, .pageStart, .pageImageHosts,
        .logFormat, .logClient,
    ]

    /// Variables of other programs are ignored, since a shell may have them for a server; options of other programs
    /// are refused.
    package init(_ invocation: Invocation) throws(ConfigurationError) {
        var reader = SettingsReader(
            flags: invocation.line.options,
            environment: invocation.environment.filter {
                SettingName(rawValue: $0.key).map(Self.settings.contains) ?? false
            })
        let path = try reader.readIfPresent(
            .text(.fixtures, "file with the places to serve; the seed by default"))
        scenario = try reader.read(
            .choice(.scenario, "situation that sessions begin with", default: .normal))
        maximumSessionCount = try reader.read(
            .integer(.maxSessions, "maximum number of sessions at a time", in: 1...1000, default: 64))
        // An app's tests report without setting anything up.
        var service = try ServiceConfiguration(
            from: &reader, processorCount: 1, isDevelopment: true, takesReports: true)
        if service.editing.access == nil, let key = AccessKey(settingText: MockEditor.key) {
            service.editing.allow(key, named: MockEditor.name, fromAnywhere: true)
        }
        self.service = service
        try reader.refuseUnknownFlags()
        for entry in reader.entries where entry.origin == "flag" {
            guard Self.settings.contains(entry.name) else {
                throw ConfigurationError(
                    "\(entry.name.flag) means nothing to poi-mock, which has no database and one event loop")
            }
        }
        summary = reader.summary { Self.settings.contains($0.name) }
        fixtures = try Self.fixtures(at: path)
    }

    private static func fixtures(at path: String?) throws(ConfigurationError) -> Fixtures {
        do {
            guard let path else { return .seed }
            return try Fixtures(json: Array(Data(contentsOf: URL(filePath: path))))
        } catch let error as FixtureError {
            throw ConfigurationError("--fixtures \(path ?? ""): \(error)")
        } catch {
            throw ConfigurationError("--fixtures \(path ?? ""): can't be read: \(error.localizedDescription)")
        }
    }
}

/// A store of events in memory, for the mock server and for tests. On any thread, so that loops can share one. When it is
/// full, the oldest events are forgotten.
package final class MemoryEventStore: EventStore, Sendable {
    private struct State {
        var keys: Set<StoredEvent.Key> = []
        var events: [StoredEvent] = []
    }

    private let state = Lock(State())
    private let limit: Int

    package init(limit: Int = 100_000) {
        self.limit = max(1, limit)
    }

    package var events: [StoredEvent] { state.withLock { $0.events } }

    /// Keeps the events that aren't there yet.
    package func store(_ events: [StoredEvent]) async throws(EventStoreError) -> EventsResponse {
        state.withLock { state in
            let new = events.filter { state.keys.insert($0.key).inserted }
            state.events += new
            let surplus = state.events.count - limit
            if surplus > 0 {
                for event in state.events.prefix(surplus) { state.keys.remove(event.key) }
                state.events.removeFirst(surplus)
            }
            let duplicates = events.count { !$0.key.isDerived } - new.count { !$0.key.isDerived }
            return EventsResponse(accepted: events.count - duplicates, duplicates: duplicates)
        }
    }

    package func close() async {}
}
