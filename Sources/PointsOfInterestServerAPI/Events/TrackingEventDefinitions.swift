// Made by generate-events from the definitions in Events. Changes belong there.
// swift-format-ignore-file

nonisolated extension EventCatalog {
    /// The definitions that `TrackingEvent` is made from.
    static let trackingEvents: [EventDefinition] = [
        EventDefinition(
            name: "background",
            description: "The app went to the background.",
            allowsOthers: true),
        EventDefinition(
            name: "events-dropped",
            description: "Events that the app had tracked are lost; the app's queue counts them.",
            parameters: [
                EventParameter(
                    name: "count",
                    description: "How many.",
                    kind: .integer(1...Int.max),
                    isRequired: true),
                EventParameter(
                    name: "reason",
                    description: "Why: the queue was full, the service refused them, or the queue's file was damaged.",
                    kind: .openChoice(["full", "refused", "damaged"], length: 1...100),
                    isRequired: true),
            ],
            allowsOthers: true),
        EventDefinition(
            name: "featured-shown",
            description: "A featured place was shown to the user.",
            parameters: [
                EventParameter(
                    name: "place",
                    description: "The place's id.",
                    kind: .integer(Int.min...Int.max),
                    isRequired: false),
            ],
            allowsOthers: true),
        EventDefinition(
            name: "launch",
            description: "The app was started, or came back from the background.",
            allowsOthers: true),
        EventDefinition(
            name: "location-check",
            description: "The app asked where it is.",
            allowsOthers: true),
        EventDefinition(
            name: "notification",
            description: "A notification was opened.",
            parameters: [
                EventParameter(
                    name: "identifier",
                    description: "The notification's identifier.",
                    kind: .text(length: 1...200),
                    isRequired: true),
            ],
            allowsOthers: true),
        EventDefinition(
            name: "page-view",
            description: "A page of the app came into view.",
            parameters: [
                EventParameter(
                    name: "page",
                    description: "Which page.",
                    kind: .openChoice(["locations-list", "locations-map", "location-detail", "featured", "search", "settings"], length: 1...100),
                    isRequired: true),
                EventParameter(
                    name: "additional",
                    description: "What the page shows where that differs, a place's id for instance.",
                    kind: .text(length: 0...1000),
                    isRequired: false),
            ],
            allowsOthers: true),
        EventDefinition(
            name: "search",
            description: "Places were searched for by a text; asking for a further page of results is a search of its own.",
            parameters: [
                EventParameter(
                    name: "query",
                    description: "The text as it was typed.",
                    kind: .text(length: 0...1000),
                    isRequired: true),
                EventParameter(
                    name: "page",
                    description: "Which page of the results, from 1.",
                    kind: .integer(1...Int.max),
                    isRequired: true),
                EventParameter(
                    name: "results",
                    description: "How many places the page has.",
                    kind: .integer(0...Int.max),
                    isRequired: false),
            ],
            allowsOthers: true),
    ]
}
