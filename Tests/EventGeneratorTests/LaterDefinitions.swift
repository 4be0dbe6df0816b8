// Made by generate-events from the definitions in Tests/EventGeneratorTests/Definitions/Later. Changes belong there.
// swift-format-ignore-file

import PointsOfInterestServerAPI

extension EventCatalog {
    /// The definitions that `LaterEvent` is made from.
    static let laterEvents: [EventDefinition] = [
        EventDefinition(
            name: "left",
            description: "The shop was left.",
            parameters: [
                EventParameter(
                    name: "empty-handed",
                    description: "Whether nothing was ordered.",
                    kind: .boolean,
                    isRequired: false),
                EventParameter(
                    name: "seconds",
                    description: "After how long.",
                    kind: .number(-Double.greatestFiniteMagnitude...Double.greatestFiniteMagnitude),
                    isRequired: false),
            ],
            allowsOthers: true),
        EventDefinition(
            name: "opened",
            description: "The shop was opened.",
            parameters: [
                EventParameter(
                    name: "source",
                    description: "From where.",
                    kind: .openChoice(["link", "icon"], length: 0...100),
                    isRequired: false),
            ],
            allowsOthers: true),
        EventDefinition(
            name: "ordered",
            description: "Something was ordered.",
            parameters: [
                EventParameter(
                    name: "kind",
                    description: "How it gets there.",
                    kind: .choice(["in-store", "by-mail"]),
                    isRequired: true),
                EventParameter(
                    name: "items",
                    description: "How many items.",
                    kind: .integer(1...Int.max),
                    isRequired: true),
                EventParameter(
                    name: "coupon",
                    description: "The coupon.",
                    kind: .text(length: 0...20),
                    isRequired: false),
                EventParameter(
                    name: "note",
                    description: "What the customer wrote.",
                    kind: .text(length: 0...100),
                    isRequired: false),
                EventParameter(
                    name: "price",
                    description: "What it costs.",
                    kind: .number(0.0...Double.greatestFiniteMagnitude),
                    isRequired: false),
            ],
            allowsOthers: true),
    ]
}
