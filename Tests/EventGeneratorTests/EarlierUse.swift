import PointsOfInterestAPI

/// Code of an app that was written against `EarlierEvent`. `ExampleUse.swift` has the same code with `ExampleEvent`,
/// whose events each have another optional parameter: both compile, and mean the same.
enum EarlierUse {
    /// Events of each kind, in each way that there is to make one.
    static var events: [EarlierEvent] {
        var changed = EarlierEvent.OrderPlacedParameters(
            kind: .inStore, itemCount: 1, value: "a", isGift: false)
        changed.itemCount += 1
        changed.note = "soon"
        let left: EarlierEvent = .class
        let optional: EarlierEvent? = .quoted
        return [
            left, EarlierEvent.class, optional ?? .class, .quoted(), .quoted(self: "said"),
            .orderPlaced(kind: .urlScheme, itemCount: 3, value: "b", isGift: true),
            .orderPlaced(kind: .`self`, itemCount: 1, value: "c", isGift: false, note: "for Ada"),
            .orderPlaced(changed),
            .orderPlaced(
                EarlierEvent.OrderPlacedParameters(
                    kind: .urlScheme, itemCount: 4, value: "", isGift: true, note: nil)),
            .other(EventContent(name: "closed")),
        ] + Array(repeating: .class, count: 2)
    }

    /// What a `switch` without a default makes of an event.
    static func summary(of event: EarlierEvent) -> String {
        switch event {
        case .class: "class"
        case .quoted(let quoted) where quoted.`self` == nil: "quoted"
        case .quoted(let quoted): "quoted \(quoted.`self` ?? "")"
        case .orderPlaced(let order) where order.note == "soon": "\(order.itemCount) soon"
        case .orderPlaced(let order): "\(order.itemCount) \(order.kind.rawValue) \(order.note ?? "")"
        case .other(let content): content.name
        }
    }

    /// What other patterns and comparisons make of an event.
    static func facts(about event: EarlierEvent) -> [Bool] {
        let isClass = if case .class = event { true } else { false }
        let isLarge = if case .orderPlaced(let order) = event { order.itemCount > 1 } else { false }
        return [
            isClass, isLarge, event == .class, event == .quoted,
            event == .orderPlaced(kind: .urlScheme, itemCount: 3, value: "b", isGift: true),
            [EarlierEvent.class, .quoted].contains(event),
        ]
    }
}
