import Foundation
import Locking
import PointsOfInterestTesting
import Testing

@testable import PointsOfInterestClient
@testable import PointsOfInterestHTTP

@Suite("A value that is loaded", .timeLimit(.minutes(1)))
@MainActor
struct LoadableTests {
    private nonisolated static let yesterday = Date(timeIntervalSinceReferenceDate: 700_000_000)

    private func loadable(
        _ value: Int? = nil, policy: LoadPolicy = .cacheAndNetwork, kept: Int? = nil,
        _ outcomes: [Result<Int, RequestError>]
    ) -> Loadable<Int> {
        let rest = Lock(outcomes)
        return Loadable(value, policy: policy) {
            kept.map { ($0, Self.yesterday) }
        } fetch: {
            try rest.withLock { $0.removeFirst() }.get()
        }
    }

    @Test("What is kept is shown until the service has responded, and stays where that fails")
    func showsWhatIsKept() async {
        let loadable = loadable(kept: 1, [.failure(.notHTTP), .success(2), .failure(.notHTTP)])
        await loadable.load()
        #expect(loadable.value == 1)
        #expect(loadable.isKept)
        #expect(loadable.receivedAt == Self.yesterday)
        #expect(loadable.phase == .failed(.request(.notHTTP)))
        let before = Date()
        await loadable.load()
        #expect(loadable.value == 2)
        #expect(!loadable.isKept)
        #expect((loadable.receivedAt ?? .distantPast) >= before)
        #expect(loadable.phase == .loaded)
        await loadable.load()
        #expect(loadable.value == 2)
        #expect(!loadable.isKept)
        #expect(loadable.phase == .failed(.request(.notHTTP)))
    }

    @Test("A value is idle, then loading, then loaded")
    func tellsItsPhases() async {
        var value: Loadable<Int>? = loadable(kept: nil, [.success(2)])
        let updates = value?.updates()
        await value?.load()
        value = nil
        var phases: [LoadPhase] = []
        if let updates { for await state in updates { phases.append(state.phase) } }
        #expect(phases == [.idle, .loading, .loaded])
    }

    @Test("The last of several loads counts, whichever ends first")
    func dropsLateValues() async {
        let gate = Gate()
        let count = Lock(0)
        let loadable = Loadable(policy: .networkOnly) {
            nil
        } fetch: {
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number == 1 { await gate.pass() }
            return number
        }
        let late = Task { await loadable.load() }
        await gate.arrival()
        await loadable.load()
        gate.open()
        await late.value
        #expect(loadable.value == 2)
        #expect(loadable.phase == .loaded)
    }

    @Test("The service is asked at once, and what is kept isn't shown after its response")
    func asksAtOnce() async {
        let gate = Gate()
        let (found, finding) = AsyncStream<Void>.makeStream()
        let loadable = Loadable(policy: .cacheAndNetwork) {
            await gate.pass()
            finding.yield()
            return (1, nil)
        } fetch: {
            await gate.arrival()
            return 2
        }
        await loadable.load()
        #expect(loadable.value == 2)
        gate.open()
        for await _ in found { break }
        // Whatever the lookup does after that, it has done before this, which was enqueued later.
        await Task { @MainActor in }.value
        #expect(loadable.value == 2)
        #expect(!loadable.isKept)
    }

    @Test("Categories and credits come once each")
    func comeOnce() async {
        let session = MockURLProtocol.session { request in
            let isCategories = request.url?.lastPathComponent == "categories"
            let item =
                isCategories
                ? #"{"name":"cafe","count":1}"# : #"{"dataset":"d","license":"MIT","places":1}"#
            let headers = ["Content-Type": "application/json"]
            return (try .fixture(for: request, headers: headers), Data("[\(item),\(item)]".utf8))
        }
        let environment = AppEnvironment(
            configuration: .mock, urlSession: session, locationFetcher: MockLocationFetcher())
        let (categories, credits) = (environment.makeCategories(), environment.makeAttributions())
        await categories.load()
        await credits.load()
        #expect(categories.value?.count == 1)
        #expect(credits.value?.count == 1)
    }

    @Test("What another screen knows is shown at once, and what is kept in its place, since it may be more")
    func beginsWithAValue() async {
        let known = loadable(5, [.failure(.notHTTP)])
        #expect(known.value == 5)
        #expect(known.isKept)
        await known.load()
        #expect(known.value == 5)
        let more = loadable(5, kept: 1, [.failure(.notHTTP)])
        await more.load()
        #expect(more.value == 1)
    }

    @Test("Nothing that is kept is shown if only the network is to be asked")
    func asksTheNetworkOnly() async {
        let loadable = loadable(policy: .networkOnly, kept: 1, [.failure(.notHTTP), .success(2)])
        await loadable.load()
        #expect(loadable.value == nil)
        await loadable.load()
        #expect(loadable.value == 2)
    }

    @Test(
        "A value that is gone isn't shown any more; a cancelled load changes nothing",
        arguments: [.gone, .notFound] as [ProblemCode])
    func isGone(code: ProblemCode) async {
        let gone = RequestError.problem(Problem(code))
        let loadable = loadable(kept: 1, [.success(2), .failure(.cancelled), .failure(gone)])
        await loadable.load()
        let state = loadable.state
        await loadable.load()
        #expect(loadable.state == state)
        await loadable.load()
        #expect(loadable.value == nil)
        #expect(loadable.phase == .failed(.request(gone)))
        #expect(loadable.receivedAt == nil)
    }

    @Test("The environment's details, categories and credits ask the service, and show what it keeps offline")
    func isMade() async throws {
        let isOffline = Lock(false)
        let store = ResponseStore()
        func environment() -> AppEnvironment {
            let session = MockURLProtocol.session { request in
                if isOffline.withLock({ $0 }) { throw URLError(.notConnectedToInternet) }
                let headers = ["Content-Type": "application/json", "ETag": "\"1\""]
                let body = try RecordedResponse.response(to: request).1
                return (try .fixture(for: request, headers: headers), body)
            }
            return AppEnvironment(
                configuration: .mock, urlSession: session, responseStore: store, retryPolicy: .never,
                locationFetcher: MockLocationFetcher())
        }
        let online = environment()
        let list = online.makeList()
        await list.load()
        let place = try #require(list.places.first)
        let (categories, credits) = (online.makeCategories(), online.makeAttributions())
        await categories.load()
        await credits.load()
        #expect(categories.value?.isEmpty == false)
        #expect(credits.value?.isEmpty == false)
        isOffline.withLock { $0 = true }
        let offline = environment()
        let (keptCategories, keptCredits) = (offline.makeCategories(), offline.makeAttributions())
        await keptCategories.load()
        await keptCredits.load()
        #expect(keptCategories.value == categories.value)
        #expect(keptCredits.value == credits.value)
        let details = offline.makeDetails(id: place.id)
        await details.load()
        #expect(details.value == place.withoutDistance, "a list has had it")
        #expect(details.isKept)
        #expect(details.receivedAt == list.receivedAt)
        let opened = offline.makeDetails(id: place.id, place: place)
        await opened.load()
        #expect(opened.value == place, "the distance that the list has shown")
    }
}
