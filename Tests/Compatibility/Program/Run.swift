import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What to do with the scenarios.
enum Mode: String {
    /// Runs them against a server and keeps what was said.
    case record
    /// Runs them against a server, and looks for the places that were there when they were recorded.
    case check
    /// Runs them against the recorded responses. The app must get the same from them.
    case replay
}

/// One run of all scenarios.
struct Run {
    let mode: Mode
    let folder: URL
    /// One for all that goes to a server, as an app has: on Linux, a session whose connection is new keeps a processor busy
    /// while it waits for the first response.
    private let session = URLSession(configuration: .withoutCache)
    private let editorKey = ProcessInfo.processInfo.environment["POI_EDITOR_KEY"] ?? ""

    /// 0 where all went well; prints what didn't.
    func exitCode() async -> Int32 {
        let scenarios: [Scenario]
        do {
            scenarios = try self.scenarios()
        } catch {
            print("\(mode): \(error)")
            return 1
        }
        var failures = 0
        for scenario in scenarios {
            do {
                try await run(scenario)
            } catch {
                print("\(mode) \(scenario.name): \(error)")
                failures += 1
            }
        }
        print("\(mode): \(scenarios.count) scenarios, \(failures) failures")
        return failures == 0 ? 0 : 1
    }

    /// All that the folder has where it is read: those that came with a later release have no file there.
    private func scenarios() throws -> [Scenario] {
        guard mode != .record else { return Scenario.all }
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        let names = Set(files.map { $0.deletingPathExtension().lastPathComponent })
        let scenarios = Scenario.all.filter { names.contains($0.name) }
        let unknown = names.subtracting(scenarios.map(\.name))
        guard unknown.isEmpty else {
            throw Scenario.Unsound(description: "no scenario for \(unknown.sorted())")
        }
        return scenarios
    }

    private func run(_ scenario: Scenario) async throws {
        let file = folder.appending(path: "\(scenario.name).json")
        switch mode {
        case .record:
            let conversation = ExchangeProtocol.conversation
            conversation.startRecording()
            let outcome = try await scenario.run(intercepted(try server()))
            let recorded = RecordedScenario(
                exchanges: conversation.rest, outcome: String(decoding: outcome, as: UTF8.self))
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try (encoder.encode(recorded) + Data("\n".utf8)).write(to: file)
        case .check:
            _ = try await scenario.run(try site())
            try await checkPlaces(of: RecordedScenario(file))
        case .replay:
            try await replay(scenario, RecordedScenario(file))
        }
    }

    /// An id is never given to another place, and none of a seed's places goes.
    private func checkPlaces(of recorded: RecordedScenario) async throws {
        let site = try site()
        for place in recorded.places {
            let now = try await site.service.place(id: place.id)
            guard now.source == place.source else {
                throw Scenario.Unsound(description: "place \(place.id) was \(place.name), is \(now.name)")
            }
        }
    }

    private func replay(_ scenario: Scenario, _ recorded: RecordedScenario) async throws {
        let conversation = ExchangeProtocol.conversation
        conversation.startReplaying(recorded.exchanges)
        guard let nowhere = URL(string: "http://recorded.invalid") else { throw URLError(.badURL) }
        let outcome = String(decoding: try await scenario.run(intercepted(nowhere)), as: UTF8.self)
        guard outcome == recorded.outcome else {
            throw Scenario.Unsound(description: "the app gets \(outcome) instead of \(recorded.outcome)")
        }
        guard conversation.rest.isEmpty else {
            throw Scenario.Unsound(description: "\(conversation.rest.count) requests were not made")
        }
    }

    private func site() throws -> Scenario.Site {
        Scenario.Site(baseURL: try server(), session: session, editorKey: editorKey)
    }

    private func server() throws -> URL {
        guard let url = ProcessInfo.processInfo.environment["POI_BASE_URL"].flatMap({ URL(string: $0) })
        else {
            throw URLError(.badURL)
        }
        return url
    }

    private func intercepted(_ baseURL: URL) -> Scenario.Site {
        let configuration = URLSessionConfiguration.withoutCache
        configuration.protocolClasses = [ExchangeProtocol.self]
        return Scenario.Site(
            baseURL: baseURL, session: URLSession(configuration: configuration), editorKey: editorKey)
    }
}
