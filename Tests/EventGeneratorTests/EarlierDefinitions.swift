// Made by generate-events from the definitions in Tests/EventGeneratorTests/Definitions/Earlier. Changes belong there.
// swift-format-ignore-file

import PointsOfInterestServerAPI

extension EventCatalog {
    /// The definitions that `EarlierEvent` is made from.
    static let earlierEvents: [EventDefinition] = [
        EventDefinition(
            name: "left",
            description: "The shop was left.",
            parameters: [
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
                    name: "note",
                    description: "What the customer wrote.",
                    kind: .text(length: 0...100),
                    isRequired: false),
            ],
            allowsOthers: true),
    ]
}
