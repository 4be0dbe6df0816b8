// Made by generate-events from the definitions in Tests/EventGeneratorTests/Definitions. Changes belong there.
// swift-format-ignore-file

import PointsOfInterestServerAPI

nonisolated extension EventCatalog {
    /// The definitions that `ExampleEvent` is made from.
    static let exampleEvents: [EventDefinition] = [
        EventDefinition(
            name: "class",
            description: "What class is.",
            parameters: [
                EventParameter(
                    name: "source",
                    description: "From where.",
                    kind: .openChoice(["link", "icon"], length: 0...100),
                    isRequired: false),
            ],
            allowsOthers: true),
        EventDefinition(
            name: "order-placed",
            description: "What order-placed is.",
            parameters: [
                EventParameter(
                    name: "kind",
                    description: "A string.",
                    kind: .choice(["in-store", "self", "URL scheme"]),
                    isRequired: true),
                EventParameter(
                    name: "item_count",
                    description: "A integer.",
                    kind: .integer(1...99),
                    isRequired: true),
                EventParameter(
                    name: "value",
                    description: "A string.",
                    kind: .text(length: 0...8192),
                    isRequired: true),
                EventParameter(
                    name: "is-gift",
                    description: "A boolean.",
                    kind: .boolean,
                    isRequired: true),
                EventParameter(
                    name: "default",
                    description: "A string.",
                    kind: .openChoice(["a", "case"], length: 0...10),
                    isRequired: false),
                EventParameter(
                    name: "level",
                    description: "A integer.",
                    kind: .integer(Int.min...0),
                    isRequired: false),
                EventParameter(
                    name: "note",
                    description: "A string.",
                    kind: .text(length: 1...8192),
                    isRequired: false),
                EventParameter(
                    name: "price",
                    description: "A number.",
                    kind: .number(0.0...Double.greatestFiniteMagnitude),
                    isRequired: false),
                EventParameter(
                    name: "score",
                    description: "A number.",
                    kind: .number(-1.5...1.5),
                    isRequired: false),
            ],
            allowsOthers: true),
        EventDefinition(
            name: "quoted",
            description: "A \"quoted\" | text with a \\ and <b>é</b>, and with so many words that the comment of its case has to be broken into lines.",
            parameters: [
                EventParameter(
                    name: "on",
                    description: "A boolean.",
                    kind: .boolean,
                    isRequired: false),
                EventParameter(
                    name: "self",
                    description: "A string.",
                    kind: .text(length: 0...8192),
                    isRequired: false),
            ],
            allowsOthers: true),
    ]
}
