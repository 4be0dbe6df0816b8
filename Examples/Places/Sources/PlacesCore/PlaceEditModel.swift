import Foundation
import PointsOfInterestClient
import PointsOfInterestEditing

/// The edit of a place by a person with an editor's key: what is entered, and what became of it.
///
/// It is a value, which a screen keeps in `@State`: `@Observable` needs iOS 17.
public struct PlaceEditModel: Sendable {
    /// What a person does on the screen.
    public enum Action: Hashable, Sendable {
        /// The place is loaded as it is now.
        case load
        /// What was entered is saved.
        case save
        /// The place is removed.
        case remove
        /// An edit is sent again whose outcome isn't known.
        case tryAgain
        /// What this person did counts, made to what the place is now.
        case keepMine
        /// What another person has changed counts. What only this one has changed stays to be saved.
        case takeTheirs
    }

    /// What the screen shows.
    public enum Phase: Hashable, Sendable {
        /// That the place is being loaded.
        case loading
        /// That there is nothing to edit: the place couldn't be loaded, or is gone.
        case failed
        /// The fields.
        case editing
        /// What another person has changed in the meantime.
        case conflict(PlaceConflict)
        /// That the edit may be done.
        case unknownOutcome(PlaceEdit)
        /// Nothing more: the edit is done.
        case done
    }

    /// A member that can be edited, by its name in conflicts.
    public enum Field: String, Hashable, Sendable, CaseIterable, Identifiable {
        case name, category, address, website
        case phone = "properties.phone"
        case operatingStatus

        /// The field itself.
        public var id: Self { self }
    }

    /// What the screen shows.
    public private(set) var phase = Phase.loading
    /// Why what the person wanted isn't done; nil where nothing is wrong.
    public private(set) var message: String?
    /// What is wrong with the fields, for people.
    public private(set) var faults: [Field: String] = [:]

    private let id: Int
    private let editor: PlaceEditor
    /// The place as the person saw it.
    private var record: EditablePlace?
    private var draft: PlaceDraft?

    /// Makes the edit of a place.
    public init(id: Int, editor: PlaceEditor) {
        self.id = id
        self.editor = editor
    }

    /// What is entered in a field; empty for nothing.
    public subscript(field: Field) -> String {
        get { draft?[field] ?? "" }
        set { draft?[field] = newValue }
    }

    /// What another person has changed in the meantime, a line for each member.
    public var otherChanges: [String] {
        guard case .conflict(let conflict) = phase else { return [] }
        return conflict.otherMembers.sorted().map { member in
            guard let field = Field(rawValue: member) else { return member }
            let value = conflict.current.draft[field]
            return "\(Wording.title(of: field)): \(Wording.value(value, of: field))"
        }
    }

    /// Does what an action says, and returns the edit after it.
    public func after(_ action: Action) async -> PlaceEditModel {
        var next = self
        (next.message, next.faults) = (nil, [:])
        do throws(PlaceEditorError) {
            try await next.perform(action)
        } catch {
            next.show(error)
        }
        return next
    }

    private mutating func perform(_ action: Action) async throws(PlaceEditorError) {
        switch (action, phase) {
        case (.load, _):
            let record = try await editor.record(of: id)
            begin(with: record, record.draft)
        case (.save, .editing):
            if let record, let draft { try await editor.correct(record, to: draft) }
            phase = .done
        case (.remove, .editing):
            if let record { try await editor.remove(record) }
            phase = .done
        case (.tryAgain, .unknownOutcome(let edit)):
            try await editor.retry(edit)
            phase = .done
        case (.keepMine, .conflict(let conflict)):
            begin(with: conflict.current, conflict.rebased())
            if case .remove = conflict.edit.action {
                try await perform(.remove)
            } else {
                try await perform(.save)
            }
        case (.takeTheirs, .conflict(let conflict)):
            begin(with: conflict.current, conflict.rebased(keepingCurrent: conflict.conflictingMembers))
        default: break
        }
    }

    private mutating func begin(with record: EditablePlace, _ draft: PlaceDraft) {
        (self.record, self.draft, phase) = (record, draft, .editing)
    }

    private mutating func show(_ error: PlaceEditorError) {
        var message = error.localizedDescription
        switch error {
        case .conflict(let conflict): phase = .conflict(conflict)
        case .unknownOutcome(let edit, _): phase = .unknownOutcome(edit)
        case .gone, .merged: phase = .failed
        case .invalid(let faults):
            for fault in faults {
                // A JSON Pointer (RFC 6901), `/properties/phone` for instance.
                let member = fault.pointer.dropFirst().replacingOccurrences(of: "/", with: ".")
                let field = Field(rawValue: member)
                let sentence = "\(field.map(Wording.title) ?? member) \(fault.detail)."
                if let field { self.faults[field] = sentence } else { message += " " + sentence }
            }
            phase = .editing
        case .request, .expired: phase = record == nil ? .failed : .editing
        }
        self.message = message
    }
}

extension PlaceDraft {
    /// The text of a field; empty where the member has no value.
    fileprivate subscript(field: PlaceEditModel.Field) -> String {
        get {
            switch field {
            case .name: name
            case .category: category
            case .address: address ?? ""
            case .website: website ?? ""
            case .phone: if case .string(let phone)? = properties["phone"] { phone } else { "" }
            case .operatingStatus: operatingStatus?.rawValue ?? ""
            }
        }
        set {
            // A text field also writes what it shows already, which isn't all that a phone may be.
            guard newValue != self[field] else { return }
            let value = newValue.isEmpty ? nil : newValue
            switch field {
            case .name: name = newValue
            case .category: category = newValue
            case .address: address = value
            case .website: website = value
            case .phone: properties["phone"] = value.map(JSONValue.string)
            case .operatingStatus: operatingStatus = value.map(OperatingStatus.init(rawValue:))
            }
        }
    }
}
