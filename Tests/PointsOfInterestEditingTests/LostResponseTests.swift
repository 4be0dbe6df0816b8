import EditingAPI
import Foundation
@testable import PointsOfInterestEditing
@testable import PointsOfInterestHTTP
import PointsOfInterestTesting
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Edits whose responses are lost", .timeLimit(.minutes(1)))
struct LostResponseTests {
    private let standIn = StandInService()
    private var editor: PlaceEditor { PlaceEditor(service: standIn.service()) }
    private static let overloaded = ServiceResponse.problem(Problem(.overloaded))

    /// The edit whose outcome isn't known, by an error.
    private func edit(_ error: PlaceEditorError?) throws -> PlaceEdit {
        guard case .unknownOutcome(let edit, _)? = error else { throw error ?? .gone }
        return edit
    }

    /// What an editor throws who makes a place.
    private static func error(of editor: PlaceEditor) async -> PlaceEditorError? {
        do throws(PlaceEditorError) {
            _ = try await editor.create(.test())
            return nil
        } catch {
            return error
        }
    }

    private func keys() -> Set<String?> {
        Set(standIn.writes.map { $0.value(forHTTPHeaderField: "Idempotency-Key") })
    }

    @Test(
        "An edit whose response is lost is sent again with its key, and done once",
        arguments: [
            StandInService.Fault.responseLost, .failed(.timedOut), .failed(.networkConnectionLost),
            .replaced(status: 502, contentType: "text/html", body: "<html>"),
            .replaced(status: 504, contentType: "application/json", body: ""),
            .replaced(status: 200, contentType: "application/json", body: #"{"id":12,"ver"#),
            .refused(overloaded),
        ])
    func asksAgain(fault: StandInService.Fault) async throws {
        standIn.fail(fault)
        let record = try await editor.create(.test())
        #expect(standIn.recordCount == 2)
        #expect(record == standIn.record(13))
        #expect(standIn.writes.count == 2)
        #expect(keys().count == 1)
        #expect(Set(standIn.writes.map(\.httpBody)).count == 1)
    }

    @Test("A removal whose response is lost is asked about, too")
    func asksAboutRemovals() async throws {
        standIn.fail(.responseLost)
        try await editor.remove(.test())
        #expect(standIn.writes.count == 2)
        #expect(standIn.record(12) == nil)
    }

    @Test("An edit without any response may be done, and is retried later with its key, over a restart, too")
    func retriesLater() async throws {
        standIn.fail(.responseLost, .responseLost, .responseLost)
        let error = await #expect(throws: PlaceEditorError.self) {
            try await editor.correct(.test()) { $0.properties["number"] = 3.0 }
        }
        #expect(standIn.writes.count == 3)
        let kept = try JSONEncoder().encode(try edit(error))
        #expect(error?.localizedDescription == EditingErrorText.unknownOutcome.english)

        let restarted = PlaceEditor(service: standIn.service())
        let record = try await restarted.retry(JSONDecoder().decode(PlaceEdit.self, from: kept))
        #expect(record == standIn.record(12))
        #expect(keys().count == 1)
        #expect(Set(standIn.writes.map(\.httpBody)).count == 1)
        #expect(record?.version == 1_001)
    }

    @Test("A retry that comes too late for the service is a conflict with what was wanted already there")
    func retriesLate() async throws {
        standIn.fail(.responseLost, .responseLost, .responseLost)
        let error = await #expect(throws: PlaceEditorError.self) {
            try await editor.correct(.test()) { $0.name = "Café" }
        }
        let edit = try edit(error)
        standIn.fail(.refused(.problem(Problem(.preconditionFailed))))
        let late = await #expect(throws: PlaceEditorError.self) { try await editor.retry(edit) }
        guard case .conflict(let conflict)? = late else { throw late ?? .gone }
        #expect(conflict.conflictingMembers.isEmpty)
        #expect(conflict.rebased() == conflict.current.draft)
    }

    @Test("A place isn't made a second time when the service may have forgotten the first")
    func expires() async throws {
        standIn.fail(.responseLost, .responseLost, .responseLost)
        let error = await #expect(throws: PlaceEditorError.self) { try await editor.create(.test()) }
        let edit = try edit(error)
        let almost = PlaceEditor(service: standIn.service(), now: { edit.madeAt.addingTimeInterval(86_399) })
        #expect(try await almost.retry(edit)?.id == 13)
        let late = PlaceEditor(service: standIn.service(), now: { edit.madeAt.addingTimeInterval(86_400) })
        await #expect(throws: PlaceEditorError.expired(edit)) { try await late.retry(edit) }
        #expect(standIn.recordCount == 2)
    }

    @Test(
        "An edit that may be done stays so, whatever refuses the attempts after it",
        arguments: [
            StandInService.Fault.failed(.cannotConnectToHost), .failed(.notConnectedToInternet),
            .refused(.problem(Problem(.unauthorized))), .refused(.problem(Problem(.tooManyRequests))),
            .refused(.test(403, "<html>", contentType: "text/html")),
            .refused(.problem(Problem(.internalError))),
            .replaced(status: 200, contentType: "text/html", body: "<html>"),
        ])
    func staysUnknown(fault: StandInService.Fault) async throws {
        standIn.fail(.responseLost, fault, fault, fault, fault, fault)
        let error = await #expect(throws: PlaceEditorError.self) { try await editor.create(.test()) }
        let again = await #expect(throws: PlaceEditorError.self) { try await editor.retry(try edit(error)) }
        standIn.recover()
        #expect(try await editor.retry(try edit(again)) != nil)
        #expect(standIn.recordCount == 2)
    }

    @Test(
        "An edit that hasn't reached the service isn't done",
        arguments: [
            StandInService.Fault.failed(.cannotConnectToHost), .failed(.notConnectedToInternet),
            .failed(.cannotFindHost), .failed(.serverCertificateUntrusted), .refused(overloaded),
            .refused(.problem(Problem(.tooManyRequests))),
            .refused(.test(403, "<html>", contentType: "text/html")),
        ])
    func isNotDone(fault: StandInService.Fault) async throws {
        standIn.fail(fault, fault, fault)
        let error = await #expect(throws: PlaceEditorError.self) { try await editor.create(.test()) }
        guard case .request? = error else { throw error ?? .gone }
    }

    @Test(
        "A response that doesn't say that the edit is done leaves it open",
        arguments: [
            StandInService.Fault.replaced(status: 200, contentType: "text/html", body: "<html>"),
            .replaced(status: 200, contentType: "application/json", body: "{}"),
            .refused(.record(.test(id: 99))), .refused(.problem(Problem(.internalError))),
            .refused(.test(500, "")),
        ])
    func isUnknown(fault: StandInService.Fault) async throws {
        standIn.fail(fault, fault, fault)
        let error = await #expect(throws: PlaceEditorError.self) { try await editor.close(.test()) }
        _ = try edit(error)
        standIn.fail(.refused(.test(200, "")))
        let removal = await #expect(throws: PlaceEditorError.self) { try await editor.remove(.test()) }
        _ = try edit(removal)
    }

    @Test("A call that is cancelled while the edit is sent may have done it; one that was before hasn't")
    func cancels() async throws {
        standIn.fail(.silent)
        let (events, continuation) = AsyncStream<MockURLProtocol.Event>.makeStream()
        let editor = PlaceEditor(service: standIn.service(events: continuation))
        let call = Task { await Self.error(of: editor) }
        for await case .started in events { break }
        call.cancel()
        guard case .unknownOutcome(let edit, .cancelled)? = await call.value else {
            Issue.record("\(await call.value as Any)")
            return
        }
        #expect(try await editor.retry(edit)?.id == 13)
        #expect(standIn.recordCount == 2)

        let sent = standIn.writes.count
        let early = Task { () -> PlaceEditorError? in
            withUnsafeCurrentTask { $0?.cancel() }
            return await Self.error(of: editor)
        }
        #expect(await early.value == .request(.cancelled))
        #expect(standIn.writes.count == sent)
    }

    @Test("An edit whose time is over may be done")
    func timesOut() async throws {
        standIn.fail(.silent)
        let clock = HeldClock()
        let (events, continuation) = AsyncStream<MockURLProtocol.Event>.makeStream()
        let editor = PlaceEditor(service: standIn.service(clock: clock, events: continuation))
        let call = Task { await Self.error(of: editor) }
        for await case .started in events { break }
        clock.end()
        guard case .unknownOutcome(_, .timedOut)? = await call.value else {
            Issue.record("\(await call.value as Any)")
            return
        }
    }
}
