import PointsOfInterestAPI
import Foundation
import PointsOfInterestServerAPI
import Testing

@testable import EventGenerator

/// `ExampleEvent` is generated, checked in and compiled here: it has every kind of parameter and every awkward name.
@Suite("A generated enum")
struct GeneratedTypeTests {
    @Test(
        "The generated enum and catalog in the repository are those of their definitions, to the byte",
        arguments: [
            ("Example", "Definitions", EventCatalog.exampleEvents), ("Earlier", "Definitions/Earlier", nil),
        ] as [(String, String, [EventDefinition]?)])
    func isCurrent(name: String, folder: String, catalog: [EventDefinition]?) throws {
        let source = ExampleFiles.path("\(name)Event.swift")
        // The folder as the files name it, wherever the package is.
        let options = try #require(
            try GeneratorOptions([
                "--definitions", "Tests/EventGeneratorTests/\(folder)", "--swift", source, "--type",
                "\(name)Event", "--import",
                "PointsOfInterestAPI",
            ]))
        let definitions = try EventDefinition.read(folder: ExampleFiles.path(folder))
        try expect(try SwiftSource(definitions, options: options).text, in: source)
        guard let catalog else { return }
        try expect(
            CatalogSource(definitions, options: options).text,
            in: ExampleFiles.path("\(name)Definitions.swift"))
        #expect(catalog == definitions)
    }

    private func expect(_ source: String, in file: String) throws {
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
        #expect(source.split(separator: "\n") == lines)
    }

    nonisolated static let events: [ExampleEvent] = [
        .class, .class(source: "elsewhere"), .quoted(on: true), .quoted(on: false, self: "s"),
        .orderPlaced(
            kind: .urlScheme, itemCount: 3, value: "v", isGift: false, default: .case, level: -1, note: "n",
            price: 1.5, score: -0.5),
        .orderPlaced(kind: .`self`, itemCount: 1, value: "", isGift: true),
        .other(EventContent(name: "launch")),
    ]

    @Test("A generated enum reads the events that it writes", arguments: events)
    func roundTrips(event: ExampleEvent) throws {
        #expect(ExampleEvent(event.content) == event)
        #expect(ExampleEvent(TrackingEvent(event.content).content) == event)
    }

    @Test("A generated enum's events are accepted by a service with the same definitions", arguments: events)
    func isAccepted(event: ExampleEvent) throws {
        let catalog = try EventCatalog.builtIn.merging(EventCatalog.exampleEvents)
        let tracked = TrackedEvent(userID: "u", time: 1, event: TrackingEvent(event.content))
        let received = try EventsRequest.decode(
            body: EventsRequest(events: [tracked]).encode(), catalog: catalog)
        #expect(received.map(\.isKnown) == [true])
        #expect(received.map(\.name) == [event.content.name])
    }

    @Test("A generated enum keeps an event that fits none of its cases")
    func keepsOthers() {
        for value in [
            ["kind": "in-store", "item_count": 1, "value": "v", "is-gift": true, "colour": "red"],
            ["kind": "by-mail", "item_count": 1, "value": "v", "is-gift": true],
            ["kind": "in-store", "value": "v", "is-gift": true],
        ] as [[String: JSONValue]] {
            let content = EventContent(name: "order-placed", value: value)
            #expect(ExampleEvent(content) == .other(content))
        }
    }
}

@Suite("A name")
struct SwiftNameTests {
    @Test(
        "A name becomes a name of a Swift member and type",
        arguments: [
            ("page-view", "pageView", "PageView"), ("user_id", "userId", "UserId"),
            ("URL scheme", "urlScheme", "URLScheme"),
            ("alreadyCamel", "alreadyCamel", "AlreadyCamel"), ("3d-map", "_3dMap", "3dMap"),
            ("URL", "url", "URL"), ("!", "", ""),
        ])
    func converts(name: String, member: String, type: String) {
        #expect(SwiftName.member(name) == member)
        #expect(SwiftName.type(name) == type)
    }

    @Test("A name that is a Swift keyword is escaped")
    func escapes() {
        #expect(SwiftName.escaped("class") == "`class`")
        #expect(SwiftName.escaped("page") == "page")
        #expect(!SwiftName.isTypeName("Self"))
    }
}
