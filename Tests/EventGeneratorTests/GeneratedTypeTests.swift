import Foundation
import PointsOfInterestAPI
import Testing

@testable import EventGenerator

/// `ExampleEvent` is generated, checked in and compiled here: it has every kind of parameter and every awkward name.
@Suite("A generated enum")
struct GeneratedTypeTests {
    @Test("is what its definitions make, to the byte")
    func isCurrent() throws {
        let options = try #require(
            try GeneratorOptions([
                "--definitions", ExampleFiles.definitions, "--swift", ExampleFiles.source, "--type",
                "ExampleEvent",
                "--import", "PointsOfInterestAPI",
            ]))
        let definitions = try EventDefinition.read(folder: ExampleFiles.definitions)
        let source = try SwiftSource(definitions, options: options).text
        // The first line has the folder's path.
        #expect(
            source.split(separator: "\n").dropFirst(4)
                == (try String(contentsOfFile: ExampleFiles.source, encoding: .utf8)).split(separator: "\n")
                .dropFirst(4))
        #expect(ExampleEvent.definitions == definitions)
    }

    static let events: [ExampleEvent] = [
        .class, .quoted(on: true),
        .orderPlaced(
            kind: .urlScheme, itemCount: 3, value: "v", default: .case, isGift: false, level: -1, note: "n",
            price: 1.5, score: -0.5),
        .orderPlaced(kind: .`self`, itemCount: 1, value: ""), .other(EventContent(name: "launch")),
    ]

    @Test("reads what it writes", arguments: events)
    func roundTrips(event: ExampleEvent) throws {
        #expect(ExampleEvent(event.content) == event)
        #expect(try JSONDecoder().decode(ExampleEvent.self, from: JSONEncoder().encode(event)) == event)
        #expect(ExampleEvent(TrackingEvent(event.content).content) == event)
    }

    @Test("is accepted by the service that has its definitions", arguments: events)
    func isAccepted(event: ExampleEvent) throws {
        let catalog = try EventCatalog.builtIn.merging(ExampleEvent.definitions)
        let tracked = TrackedEvent(userID: "u", time: 1, event: TrackingEvent(event.content))
        let received = try EventsRequest.decode(
            body: EventsRequest(events: [tracked]).encode(), catalog: catalog)
        #expect(received.map(\.isKnown) == [true])
        #expect(received.map(\.name) == [event.content.name])
    }

    @Test("keeps as it is what no case holds")
    func keepsOthers() {
        for value in [
            ["kind": "in-store", "item_count": 1, "value": "v", "colour": "red"],
            ["kind": "by-mail", "item_count": 1, "value": "v"], ["kind": "in-store", "value": "v"],
        ] as [[String: EventValue]] {
            let content = EventContent(name: "order-placed", value: value)
            #expect(ExampleEvent(content) == .other(content))
        }
    }
}
