import EditingAPI
import Foundation
import Locking
import PointsOfInterestHTTP

/// The edits of an editor, for responses that don't show them yet: another server's, or one that is kept.
final class OwnEdits: Sendable {
    /// More than a person makes while responses are kept.
    private static let maximumCount = 1_000

    /// For how many seconds after an edit a response without the place's version may be one of before.
    private let period: TimeInterval
    let now: @Sendable () -> Date
    private let edits = Lock<[OwnEdit]>([])

    init(period: TimeInterval, now: @escaping @Sendable () -> Date) {
        self.period = period
        self.now = now
    }

    /// Notes an edit that is done, with the record after it.
    func note(_ edit: PlaceEdit, _ record: EditablePlace?) {
        var new: [OwnEdit] = []
        if case .merge(let place, let id) = edit.action {
            new.append(OwnEdit(id: place.id, before: place, after: nil, mergedInto: id, doneAt: now()))
            if let record {
                // What it was before isn't known, but only what it lacked is new.
                new.append(OwnEdit(id: id, before: record.bare, after: record, doneAt: now()))
            }
        } else if let id = edit.placeID ?? record?.id {
            new.append(OwnEdit(id: id, before: edit.base, after: record, doneAt: now()))
        }
        edits.withLock { $0 = ($0 + new).suffix(Self.maximumCount) }
    }

    /// Returns the edits of places, in their order.
    func edits(of ids: some Sequence<Int>) -> [Int: [OwnEdit]] {
        let ids = Set(ids)
        return Dictionary(grouping: edits.withLock { $0.filter { ids.contains($0.id) } }, by: \.id)
    }

    /// Returns a place as it is after some edits of it. A place that the service doesn't know is made by them, where they have
    /// made it or brought it back.
    func outcome(
        of edits: [OwnEdit], on place: PointOfInterest?, in response: ResponseContext
    ) -> EditedPlace {
        edits.reduce(into: place.map(EditedPlace.place) ?? .gone) { edited, edit in
            guard concerns(edit, edited, response.receivedAt) else { return }
            switch (edited, edit.before, edit.after) {
            case (_, _, nil): edited = edit.mergedInto.map(EditedPlace.merged) ?? .gone
            case (.place(let place), let before?, let after?):
                edited = .place(place.edited(before, after, in: response))
            case (.gone, nil, let after?), (.merged, nil, let after?):
                edited = .place(PointOfInterest(after, in: response))
            default: break
            }
        }
    }

    /// Whether what a response shows of a place is of before an edit. A version says so exactly, and never comes back. Without
    /// one, all that is known is when the response came.
    private func concerns(_ edit: OwnEdit, _ edited: EditedPlace, _ receivedAt: Date) -> Bool {
        if case .place(let place) = edited, let version = place.version, let before = edit.before,
            before.version != edit.after?.version
        {
            return version == before.version
        }
        return receivedAt < edit.doneAt.addingTimeInterval(period)
    }
}

/// An edit of one place that is done.
struct OwnEdit: Sendable {
    let id: Int
    /// The place before; nil where there was none.
    let before: EditablePlace?
    /// The place after it; nil where it was removed.
    let after: EditablePlace?
    var mergedInto: Int?
    let doneAt: Date
}

/// What became of a place by a person's own edits.
enum EditedPlace: Hashable {
    case place(PointOfInterest)
    case gone
    case merged(into: Int)
}

/// What a response shows of places, and when it came.
struct ResponseContext {
    /// The names of the properties that it shows; nil is all of them.
    var properties: [String]?
    /// The languages that it was asked for in.
    var languages: [String] = []
    let receivedAt: Date
    /// Whether it shows a place's version.
    var isOfOnePlace = false
}

extension EditablePlace {
    /// This record without what a merge may have added to it.
    fileprivate var bare: EditablePlace {
        var draft = draft
        (draft.address, draft.website, draft.names, draft.properties) = (nil, nil, [:], [:])
        return EditablePlace(id: id, version: version, updatedAt: updatedAt, draft: draft)
    }

    /// The name to show, in the first of some languages that the place has a name in (RFC 4647, section 3.4).
    fileprivate func shownName(in languages: [String]) -> (name: String, language: String?) {
        for language in languages {
            var subtags = language.lowercased().split(separator: "-")
            while !subtags.isEmpty {
                let tag = subtags.joined(separator: "-")
                if let found = draft.names.first(where: { $0.key.lowercased() == tag }) {
                    return (found.value, found.key)
                }
                subtags.removeLast()
                if subtags.last?.count == 1 { subtags.removeLast() }
            }
        }
        return (draft.name, nil)
    }
}

extension PointOfInterest {
    /// The difference of degrees that is none: about a decimetre.
    private static let positionTolerance = 1e-6

    /// Makes what a response shows of a record.
    fileprivate init(_ record: EditablePlace, in response: ResponseContext) {
        let draft = record.draft
        let (name, language) = record.shownName(in: response.languages)
        let properties = draft.properties.filter { response.properties?.contains($0.key) ?? true }
        self.init(
            id: record.id, name: name, category: draft.category, latitude: draft.latitude,
            longitude: draft.longitude, featured: draft.featured, address: draft.address,
            website: draft.website, source: record.source, importance: draft.importance,
            properties: properties.isEmpty ? nil : JSONValue.Object(properties), language: language,
            operatingStatus: draft.operatingStatus, version: response.isOfOnePlace ? record.version : nil,
            updatedAt: response.isOfOnePlace ? record.updatedAt : nil)
    }

    /// The place with those members of an edit that are shown as they were before it. What is neither old nor new is somebody
    /// else's, and stays.
    fileprivate func edited(
        _ before: EditablePlace, _ after: EditablePlace, in response: ResponseContext
    ) -> PointOfInterest {
        let (old, new) = (before.draft, after.draft)
        func newer<Member: Equatable>(_ shown: Member, _ member: KeyPath<PlaceDraft, Member>) -> Member {
            shown == old[keyPath: member] ? new[keyPath: member] : shown
        }
        var shown = (name: name, language: language)
        if name == language.flatMap({ old.names[$0] }) ?? old.name {
            let languages = response.languages.isEmpty ? [language].compactMap(\.self) : response.languages
            shown = after.shownName(in: languages)
        }
        let hasMoved =
            (old.latitude, old.longitude) != (new.latitude, new.longitude)
            && (latitude, longitude) != (new.latitude, new.longitude)
            && abs(latitude - old.latitude) < Self.positionTolerance
            && abs(longitude - old.longitude) < Self.positionTolerance
        return PointOfInterest(
            id: id, name: shown.name, category: newer(category, \.category),
            latitude: hasMoved ? new.latitude : latitude, longitude: hasMoved ? new.longitude : longitude,
            featured: newer(featured, \.featured), distance: hasMoved ? nil : distance,
            address: newer(address, \.address), website: newer(website, \.website), source: source,
            importance: newer(importance, \.importance), properties: properties(old, new, in: response),
            language: shown.language, matchedName: matchedName, leftOut: leftOut,
            // What another category is called isn't known here.
            categoryLabel: newer(category, \.category) == category ? categoryLabel : nil,
            mergedFrom: mergedFrom,
            operatingStatus: newer(operatingStatus, \.operatingStatus),
            version: version == nil ? nil : after.version,
            updatedAt: updatedAt == nil ? nil : after.updatedAt)
    }

    /// The properties with those of an edit that are shown as they were before it.
    private func properties(
        _ old: PlaceDraft, _ new: PlaceDraft, in response: ResponseContext
    ) -> JSONValue.Object? {
        let shown = properties?.valuesByName ?? [:]
        var properties = shown
        // A place with its version comes with all of them.
        for name in Set(old.properties.keys).union(new.properties.keys)
        where shown[name] == old.properties[name]
            && (shown[name] != nil || version != nil || response.properties?.contains(name) ?? true)
        {
            properties[name] = new.properties[name]
        }
        guard properties != shown else { return self.properties }
        return properties.isEmpty ? nil : JSONValue.Object(properties)
    }
}
