import PointsOfInterestAPI
import Foundation
import PointsOfInterestServerAPI
import Testing

@testable import EventGenerator

/// `ExampleEvent` is `EarlierEvent` after each of its events got another optional parameter.
@Suite("A new optional parameter")
struct CompatibleChangeTests {
    @Test("Code from before a new optional parameter compiles, and sends the same bytes")
    func keepsSourceAndBytes() throws {
        // Both files compile, or this wouldn't run.
        let earlier = try code(in: "EarlierUse.swift")
        #expect(try code(in: "ExampleUse.swift") == earlier.replacing("Earlier", with: "Example"))
        #expect(earlier.contains(".class"))

        #expect(EarlierUse.events.map { json(of: $0) } == ExampleUse.events.map { json(of: $0) })
        #expect(
            EarlierUse.events.map(EarlierUse.summary(of:)) == [
                "class", "class", "quoted", "quoted", "quoted said", "3 URL scheme ", "1 self for Ada",
                "2 soon",
                "4 URL scheme ", "closed", "class", "class",
            ])
        #expect(
            EarlierUse.events.map(EarlierUse.summary(of:)) == ExampleUse.events.map(ExampleUse.summary(of:)))
        #expect(
            EarlierUse.events.map(EarlierUse.facts(about:)) == ExampleUse.events.map(ExampleUse.facts(about:))
        )
    }

    @Test("An older app's events are what they were to a newer service and a newer app")
    func readsEarlierEvents() throws {
        for event in EarlierUse.events where event != .other(EventContent(name: "closed")) {
            #expect(try accepted(event, by: EventCatalog.exampleEvents))
            #expect(ExampleEvent(event.content).content == event.content)
            #expect(ExampleEvent(event.content) != .other(event.content))
        }
    }

    @Test(
        "A newer app's events are stored by an older service, with the new value",
        arguments: [
            .class(source: .link), .quoted(on: true, self: "said"),
            .orderPlaced(
                kind: .`self`, itemCount: 1, value: "v", isGift: false, default: .case, level: -1,
                note: "soon",
                price: 2.5, score: 0.5),
        ] as [ExampleEvent])
    func storesLaterEvents(event: ExampleEvent) throws {
        #expect(
            try accepted(event, by: EventDefinition.read(folder: ExampleFiles.path("Definitions/Earlier"))))
        // And read back by an older app, they are kept as they are.
        #expect(EarlierEvent(event.content) == .other(event.content))
    }

    @Test("Events that the package defines may have parameters that an older service doesn't know")
    func isPossible() {
        #expect(EventCatalog.builtIn.definitions.filter { !$0.allowsOthers }.isEmpty)
    }

    @Test(
        "The package's own events are sent as they always were",
        arguments: [
            (.background, #"{"name":"background"}"#), (.featuredShown, #"{"name":"featured-shown"}"#),
            (
                .eventsDropped(count: 2, reason: .full),
                #"{"name":"events-dropped","value":{"count":2,"reason":"full"}}"#
            ),
            (.launch, #"{"name":"launch"}"#), (.locationCheck, #"{"name":"location-check"}"#),
            (.notification(identifier: "n"), #"{"name":"notification","value":{"identifier":"n"}}"#),
            (.pageView(page: .featured), #"{"name":"page-view","value":{"page":"featured"}}"#),
            (.search(query: "q", page: 1), #"{"name":"search","value":{"page":1,"query":"q"}}"#),
        ] as [(TrackingEvent, String)])
    func keepsOwnEvents(event: TrackingEvent, json: String) throws {
        #expect(self.json(of: event).contains(#""event":"# + json + "}"))
        #expect(try accepted(event, by: []))
    }

    /// The code of a file: what follows its comments.
    private func code(in file: String) throws -> String {
        let text = try String(contentsOfFile: ExampleFiles.path(file), encoding: .utf8)
        return String(text[try #require(text.range(of: "\nenum ")).lowerBound...])
    }

    private func json(of event: some TrackableEvent) -> String {
        String(decoding: tracked(event).json, as: UTF8.self)
    }

    private func tracked(_ event: some TrackableEvent) -> TrackedEvent {
        TrackedEvent(id: nil, userID: "u", time: 1, event: TrackingEvent(event.content))
    }

    /// Whether a service with these definitions knows the event, and stores all of its values.
    private func accepted(_ event: some TrackableEvent, by definitions: [EventDefinition]) throws -> Bool {
        let received = try EventsRequest.decode(
            body: EventsRequest(events: [tracked(event)]).encode(),
            catalog: try EventCatalog.builtIn.merging(definitions))
        guard let stored = received.first, stored.isKnown else { return false }
        // An event without values is stored with none.
        let json = stored.value.isEmpty ? Data("{}".utf8) : Data(stored.value)
        let value = try JSONDecoder().decode([String: JSONValue].self, from: json)
        return stored.name == event.content.name && value == event.content.value
    }
}
