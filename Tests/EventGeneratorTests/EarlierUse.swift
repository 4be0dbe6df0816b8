import PointsOfInterestAPI

/// Code of an app that was written against `EarlierEvent`. `LaterUse.swift` has the same code with `LaterEvent`, whose
/// events each have another optional parameter: both compile, and mean the same.
enum EarlierUse {
    /// Events of each kind, in each way that there is to make one.
    static var events: [EarlierEvent] {
        var changed = EarlierEvent.OrderedParameters(kind: .inStore, items: 1)
        changed.items += 1
        changed.note = "soon"
        let opened: EarlierEvent = .opened
        let optional: EarlierEvent? = .left
        return [
            opened, EarlierEvent.opened, optional ?? .opened, .left(), .left(seconds: 1.5),
            .ordered(kind: .byMail, items: 3), .ordered(kind: .inStore, items: 1, note: "for Ada"),
            .ordered(changed), .ordered(EarlierEvent.OrderedParameters(kind: .byMail, items: 4, note: nil)),
            .other(EventContent(name: "closed")),
        ] + Array(repeating: .opened, count: 2)
    }

    /// What a `switch` without a default makes of an event.
    static func summary(of event: EarlierEvent) -> String {
        switch event {
        case .opened: "opened"
        case .left(let left) where left.seconds == nil: "left"
        case .left(let left): "left after \(left.seconds ?? 0)"
        case .ordered(let ordered) where ordered.note == "soon": "\(ordered.items) soon"
        case .ordered(let ordered): "\(ordered.items) \(ordered.kind.rawValue) \(ordered.note ?? "")"
        case .other(let content): content.name
        }
    }

    /// What other patterns and comparisons make of an event.
    static func facts(about event: EarlierEvent) -> [Bool] {
        let isOpened = if case .opened = event { true } else { false }
        let isOrdered = if case .ordered(let ordered) = event { ordered.items > 1 } else { false }
        return [
            isOpened, isOrdered, event == .opened, event == .left,
            event == .ordered(kind: .byMail, items: 3), [EarlierEvent.opened, .left].contains(event),
        ]
    }
}
