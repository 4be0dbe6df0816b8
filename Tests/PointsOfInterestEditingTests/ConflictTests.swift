import EditingAPI
import Foundation
@testable import PointsOfInterestEditing
import PointsOfInterestTesting
import Testing

@Suite("Conflicts between editors", .timeLimit(.minutes(1)))
struct ConflictTests {
    private let standIn = StandInService()
    private var editor: PlaceEditor { PlaceEditor(service: standIn.service()) }

    /// What an editor throws who corrects a place that somebody else has changed meanwhile.
    private func conflict(
        theirs: (inout PlaceDraft) -> Void, ours: (inout PlaceDraft) -> Void
    ) async throws -> PlaceConflict {
        standIn.change(12, theirs)
        do throws(PlaceEditorError) {
            _ = try await editor.correct(.test(), ours)
        } catch {
            if case .conflict(let conflict) = error { return conflict }
            throw error
        }
        throw PlaceEditorError.gone
    }

    @Test("A conflict has what the person saw, what they wanted, and what the place is now")
    func hasBothRecords() async throws {
        let conflict = try await conflict(
            theirs: { $0.address = "Platz 2" }, ours: { $0.name = "Café" })
        #expect(conflict.base == .test())
        #expect(conflict.draft.name == "Café")
        #expect(conflict.current == standIn.record(12))
        #expect(conflict.current.draft.address == "Platz 2")
        #expect(conflict.ownMembers == ["name"])
        #expect(conflict.otherMembers == ["address"])
        #expect(conflict.conflictingMembers.isEmpty)
    }

    @Test("What the person wanted can be made of what the place is now")
    func rebases() async throws {
        let conflict = try await conflict {
            $0.address = "Platz 2"
            $0.names["de"] = "Deren"
        } ours: {
            $0.name = "Café"
            $0.names["de"] = "Unser"
            $0.properties["phone"] = nil
        }
        #expect(conflict.conflictingMembers == ["names.de"])
        var rebased = conflict.current.draft
        rebased.name = "Café"
        rebased.names["de"] = "Unser"
        rebased.properties["phone"] = nil
        #expect(conflict.rebased() == rebased)
        rebased.names["de"] = "Deren"
        #expect(conflict.rebased(keepingCurrent: ["names.de"]) == rebased)
        let resolved = try await editor.correct(conflict.current, to: conflict.rebased())
        #expect(resolved.draft.address == "Platz 2")
        #expect(resolved.draft.names["de"] == "Unser")
    }

    @Test("The same change is no conflict, and leaves nothing to send")
    func isSettled() async throws {
        let conflict = try await conflict(
            theirs: { $0.name = "Café" }, ours: { $0.name = "Café" })
        #expect(conflict.conflictingMembers.isEmpty)
        let sent = standIn.writes.count
        #expect(try await editor.correct(conflict.current, to: conflict.rebased()) == conflict.current)
        #expect(standIn.writes.count == sent)
    }

    @Test("A position counts as one: half of one would be another place")
    func keepsPositionsWhole() async throws {
        let conflict = try await conflict(theirs: { $0.latitude = 1 }, ours: { $0.longitude = 2 })
        #expect(conflict.conflictingMembers == ["latitude", "longitude"])
        let ours = conflict.rebased()
        #expect([ours.latitude, ours.longitude] == [52.5, 2])
        let theirs = conflict.rebased(keepingCurrent: ["latitude"])
        #expect([theirs.latitude, theirs.longitude] == [1, 13.4])
    }

    @Test("Every edit of a place that has changed is a conflict")
    func concernsEveryEdit() async throws {
        standIn.change(12) { $0.name = "Café" }
        let version = PlaceVersion(version: 3, changedAt: "", who: "", isRemoval: false, changes: [:])
        let edits: [@Sendable (PlaceEditor) async throws -> Void] = [
            { try await $0.remove(.test()) },
            { _ = try await $0.merge(.test(), into: 84) },
            { _ = try await $0.reset(.test(), members: ["*"]) },
            { _ = try await $0.restore(.test(), to: version) },
        ]
        for edit in edits {
            let error = await #expect(throws: PlaceEditorError.self) { try await edit(editor) }
            guard case .conflict(let conflict) = error else {
                Issue.record("\(error as Any)")
                continue
            }
            #expect(conflict.ownMembers.isEmpty)
            #expect(conflict.current.draft.name == "Café")
        }
    }

    @Test("Where what the place is now can't be loaded, the refusal is the error")
    func throwsRefusal() async throws {
        standIn.fail(.refused(.problem(Problem(.preconditionFailed))))
        await #expect(throws: PlaceEditorError.request(.problem(Problem(.preconditionFailed)))) {
            try await editor.close(.test(id: 99))
        }
        standIn.fail(.refused(.problem(Problem(.preconditionFailed))))
        standIn.remove(12)
        await #expect(throws: PlaceEditorError.gone) { try await editor.close(.test()) }
    }
}
