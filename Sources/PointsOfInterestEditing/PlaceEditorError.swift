import EditingAPI
import Foundation
import PointsOfInterestHTTP

/// Why a `PlaceEditor` hasn't done what it was to do. Newer versions may add cases.
public enum PlaceEditorError: Error, Hashable, Sendable {
    /// The place has changed since the person saw it, and nothing was done.
    case conflict(PlaceConflict)
    /// The place was merged into the one with this id, and nothing was done.
    case merged(into: Int)
    /// The place was removed, and nothing was done.
    case gone
    /// The service doesn't take the content, and nothing was done. These are all its faults.
    case invalid([Problem.MemberFault])
    /// The edit may be done, or not: no response says so, for the reason of the error. `PlaceEditor.retry(_:)` finds out.
    case unknownOutcome(PlaceEdit, RequestError)
    /// The edit, whose outcome isn't known, makes a place and is more than a day old: the service doesn't know it by its key any
    /// more, and would make the place once more. A person has to look whether it is there.
    case expired(PlaceEdit)
    /// The request failed, and nothing was done: the problem's code is `.unauthorized` without a key that is accepted, and
    /// `.notAnEditor` with a key for reading only.
    case request(RequestError)

    /// Converts the error of a request that has changed nothing.
    init(_ error: RequestError) {
        switch (error.problem?.code, error.problem?.mergedInto) {
        case (.merged, let id?): self = .merged(into: id)
        case (.gone, _): self = .gone
        case (.invalidContent, _): self = .invalid(error.problem?.memberErrors ?? [])
        default: self = .request(error)
        }
    }
}

/// What the errors of this module say to people beside `ErrorText`, each text with a key to translate it by.
///
/// They are translated in the same catalogue, `PointsOfInterest.xcstrings` in the app's main bundle.
public enum EditingErrorText: String, CaseIterable, Sendable {
    /// Somebody else has changed the place.
    case conflict = "error.edit-conflict"
    /// The place was merged into another one.
    case merged = "error.place-merged"
    /// The service doesn't take what was entered.
    case invalid = "error.edit-invalid"
    /// It isn't known whether the edit is done.
    case unknownOutcome = "error.edit-unknown"
    /// It isn't known any more whether the place was made.
    case expired = "error.edit-expired"
    /// The person may read places, and not change them.
    case notAnEditor = "error.not-an-editor"

    /// The text in English.
    public var english: String {
        switch self {
        case .conflict: "Somebody else has changed this place in the meantime."
        case .merged: "This place is the same as another one now."
        case .invalid: "Some of what was entered is not right."
        case .unknownOutcome: "It is not known whether this was saved. Try again."
        case .expired: "It is not known whether this place was added. Look whether it is there."
        case .notAnEditor: "You may not change places."
        }
    }

    /// The text in the language of a bundle, which is the main one in an app.
    public func localized(in bundle: Bundle = .main) -> String {
        bundle.localizedString(forKey: rawValue, value: english, table: "PointsOfInterest")
    }
}

extension PlaceEditorError: LocalizedError {
    /// A sentence for people, in their language where the app translates `EditingErrorText` and `ErrorText`.
    public var errorDescription: String? {
        switch self {
        case .conflict: EditingErrorText.conflict.localized()
        case .merged: EditingErrorText.merged.localized()
        case .gone: ErrorText.placeGone.localized()
        case .invalid: EditingErrorText.invalid.localized()
        case .unknownOutcome: EditingErrorText.unknownOutcome.localized()
        case .expired: EditingErrorText.expired.localized()
        case .request(let error) where error.problem?.code == .notAnEditor:
            EditingErrorText.notAnEditor.localized()
        case .request(let error): error.errorDescription
        }
    }
}

/// Two changes of one place, of which the second was made without knowing the first: what both began with, what the person
/// wanted, and what the place is now.
///
/// Members have the names that they have in `EditablePlace.sourceValues`, such as `address`, `names.de` and
/// `properties.phone`. A position is two members, `latitude` and `longitude`, which count as changed together.
public struct PlaceConflict: Hashable, Sendable {
    /// What wasn't done.
    public let edit: PlaceEdit
    /// The place as the person saw it.
    public let base: EditablePlace
    /// What the person wanted the place to be; as in `base` where the edit isn't a correction.
    public let draft: PlaceDraft
    /// The place as it is now.
    public let current: EditablePlace

    init(edit: PlaceEdit, base: EditablePlace, current: EditablePlace) {
        self.edit = edit
        self.base = base
        self.current = current
        if case .correct(_, let draft) = edit.action { self.draft = draft } else { draft = base.draft }
    }

    /// The members that the person has changed.
    public var ownMembers: Set<String> { draft.members(differingFrom: base.draft).withWholePosition }

    /// The members that have changed since.
    public var otherMembers: Set<String> {
        current.draft.members(differingFrom: base.draft).withWholePosition
    }

    /// The members that both have changed, each to another value: the ones to ask the person about.
    public var conflictingMembers: Set<String> {
        ownMembers.intersection(otherMembers).intersection(
            draft.members(differingFrom: current.draft).withWholePosition)
    }

    /// Returns the current content with the person's changes made to it, for `PlaceEditor.correct(_:to:)` of `current`.
    ///
    /// - Parameter members: those of `conflictingMembers` that stay as they are now; by default the person's count.
    public func rebased(keepingCurrent members: Set<String> = []) -> PlaceDraft {
        var rebased = current.draft
        for member in ownMembers.subtracting(members.withWholePosition) { rebased.take(member, from: draft) }
        return rebased
    }
}

extension Set<String> {
    /// These members, with both coordinates where one is among them: half a position is another place.
    fileprivate var withWholePosition: Set<String> {
        isDisjoint(with: ["latitude", "longitude"]) ? self : union(["latitude", "longitude"])
    }
}
