import Foundation
import Locking
import PointsOfInterestTesting
import Testing

@Suite("A search while somebody types", .timeLimit(.minutes(1)))
@MainActor
struct PlaceSearchTests {
    private let clock = HeldClock()
    private let location = FixedLocation()

    private func search(_ finder: MockPlaceFinder, scope: PlaceSearch.Scope = .nearby) -> PlaceSearch {
        PlaceSearch(placeFinder: finder, locationSource: location, scope: scope, clock: clock)
    }

    private func request(_ text: String, scope: PlaceSearch.Scope = .nearby) throws -> NearbyPlacesRequest {
        var request = NearbyPlacesRequest(
            searchText: text, center: try Coordinate(latitude: 37.3293, longitude: -121.8893))
        request.radiusMeters = scope == .nearby ? 50_000 : nil
        return request
    }

    @Test("What was typed last is searched for, after a pause, by relevance and nearby")
    func waitsForThePause() async throws {
        let finder = MockPlaceFinder([.fixture(id: 1, name: "Museum of Art")])
        let search = search(finder)
        let updates = search.updates()
        for text in ["m", "mu", "mus"] {
            search.text = text
            await clock.pause()
        }
        #expect(finder.requests.isEmpty)
        clock.endPauses()
        for await state in updates where state.phase == .loaded { break }
        #expect(finder.requests == [try request("mus")])
        #expect(search.results.map(\.id) == [1])
        search.text = "mus"
        #expect(search.phase == .loaded, "the same text again is no change")
        #expect(clock.durations == [.milliseconds(250), .milliseconds(250), .milliseconds(250)])
        search.text = " "
        #expect(search.results.isEmpty)
        #expect(search.phase == .idle)
        await search.load()
        #expect(finder.requests.count == 1)
    }

    @Test("A late response for other words isn't shown, and results that have the words stay")
    func showsNothingUnderOtherWords() async throws {
        let gate = Gate()
        let finder = MockPlaceFinder { request in
            switch request.searchText {
            case "mus": return [.fixture(id: 1, name: "Musée d'Orsay"), .fixture(id: 2, name: "Music Hall")]
            case "caf":
                await gate.pass()
                return [.fixture(id: 3, name: "Café")]
            case "musee": throw RequestError.transport(code: -1009, reason: "")
            default: return []
            }
        }
        let search = search(finder)
        search.text = "mus"
        await search.load()
        #expect(search.results.map(\.id) == [1, 2])
        search.text = "musee"
        #expect(search.results.map(\.id) == [1], "all of the words are in the name")
        #expect(search.isKept)
        await search.load()
        #expect(search.results.map(\.id) == [1])
        #expect(search.phase == .failed(.request(.transport(code: -1009, reason: ""))))
        var updates = search.updates().makeAsyncIterator()
        _ = await updates.next()
        search.text = "caf"
        #expect(search.results.isEmpty)
        let changed = await updates.next()
        #expect(changed == search.state, "text and results change at once")
        let late = Task { await search.load() }
        await gate.arrival()
        search.text = "bar"
        gate.open()
        await late.value
        #expect(search.results.isEmpty)
        await search.load()
        #expect(search.results.isEmpty)
        #expect(search.phase == .loaded)
        #expect(finder.requests.map(\.searchText) == ["mus", "musee", "caf", "bar"])
    }

    @Test("A search everywhere has the last location if there is one, and asks for none")
    func everywhere() async throws {
        let finder = MockPlaceFinder([.fixture(id: 1, name: "Tokyo")])
        let search = search(finder)
        location.outcome = .failure(.notAuthorized)
        search.text = "tokyo"
        await search.load()
        #expect(search.phase == .failed(.location(.notAuthorized)))
        let updates = search.updates()
        search.scope = .everywhere
        for await state in updates where state.phase == .loaded { break }
        location.lastLocation = nil
        await search.load()
        var unlocated = try request("tokyo", scope: .everywhere)
        unlocated.center = nil
        #expect(finder.requests == [try request("tokyo", scope: .everywhere), unlocated])
        #expect(search.results.map(\.id) == [1])
    }

    @Test(
        "A service that can't order by relevance is asked for the nearest places",
        arguments: PlaceSearch.Scope.allCases)
    func withoutAnIndex(scope: PlaceSearch.Scope) async throws {
        let finder = MockPlaceFinder { request in
            guard request.sort == nil else { throw RequestError.problem(Problem(.indexRequired)) }
            return [.fixture(id: 1, name: "Tokyo")]
        }
        let search = search(finder, scope: scope)
        search.text = "tok"
        await search.load()
        #expect(search.results.map(\.id) == [1])
        var byDistance = try request("tok", scope: scope)
        byDistance.sort = nil
        #expect(finder.requests == [try request("tok", scope: scope), byDistance])
        search.text = "toky"
        await search.load()
        #expect(finder.requests.map(\.sort) == [.relevance, nil, .relevance, nil])
    }

    @Test("Further pages are appended")
    func loadsMore() async {
        let search = search(MockPlaceFinder(pages: [.fixtures(2), [.fixture(id: 3)]]))
        search.text = "p"
        await search.load()
        #expect(search.hasMore)
        await search.loadMore()
        #expect(search.results.map(\.id) == [1, 2, 3])
        #expect(!search.hasMore)
    }

    @Test(
        "What the words are in a name is found without regard to case and diacritics",
        arguments: [
            ("mus", "Music Museum", ["Mus", "Mus"]), ("cafe", "Das Café", ["Café"]),
            ("art mu", "Museum of Art", ["Mu", "Art"]), ("a", "Café Aal", ["A"]), ("rk", "Park", ["rk"]),
            ("京都", "東京都庁", ["京都"]), ("x", "Park", []), ("aa a", "Aachen", ["Aa"]),
            ("st. ste", "St. Stephan", ["St.", "Ste"]), ("ＴＯＫＹＯ", "Tokyo", ["Tokyo"]),
        ])
    func matches(text: String, name: String, parts: [String]) async {
        let search = search(MockPlaceFinder([.fixture(id: 1, name: name)]))
        search.text = text
        await search.load()
        let result = search.results.first
        #expect(result?.matches.map { String(name[$0]) } == parts)
    }

    @Test("The name that was found is the one that the words are marked in")
    func matchesAnotherName() async {
        let place = PointOfInterest(
            id: 1, name: "Vienna", category: "city", latitude: 48, longitude: 16, matchedName: "Wien")
        let search = search(MockPlaceFinder([place]))
        search.text = "wie"
        await search.load()
        #expect(search.results.map(\.matchedName) == ["Wien"])
        #expect(search.results.first?.matches.map { String("Wien"[$0]) } == ["Wie"])
    }

    @Test("A search is released, also while it waits")
    func isReleased() async {
        weak var released: PlaceSearch?
        do {
            let search = search(MockPlaceFinder([]))
            search.text = "a"
            await clock.pause()
            released = search
        }
        #expect(released == nil)
        clock.endPauses()
    }
}

/// A clock whose pauses end when the test says so, or when their tasks are cancelled.
final class HeldClock: Clock, Sendable {
    struct Instant: InstantProtocol {
        var offset: Duration = .zero

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private let held = Lock<[AsyncStream<Never>.Continuation]>([])
    private let asked = Lock<[Duration]>([])
    private let begun = AsyncStream.makeStream(of: Void.self)

    let now = Instant()
    let minimumResolution = Duration.nanoseconds(1)
    /// How long each pause was to be.
    var durations: [Duration] { asked.withLock { $0 } }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
        held.withLock { $0.append(continuation) }
        asked.withLock { $0.append(deadline.offset) }
        begun.continuation.yield()
        for await _ in stream {}
        try Task.checkCancellation()
    }

    /// Waits until another pause has begun.
    func pause() async {
        for await _ in begun.stream { return }
    }

    /// Ends all pauses that have begun.
    func endPauses() {
        for continuation in held.withLock({ $0 }) { continuation.finish() }
    }
}
