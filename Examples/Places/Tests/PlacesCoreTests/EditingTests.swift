import Foundation
import PlacesCore
import PointsOfInterestEditing
import PointsOfInterestTesting
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Reports and edits, of place 1 or place 7 of the mock server.
extension MockServerTests {
    /// Runs a test with the app of an editor, and an edit of place 7 that is loaded.
    private func withEditor(
        _ body: (MockServerSession, PlacesWindow, PlaceEditor, PlaceEditModel) async throws -> Void
    ) async throws {
        try await withApp(editorKey: " \(MockEditor.key)\n") { mock, app in
            let editor = try #require(app.session.editor)
            let edit = await PlaceEditModel(id: 7, editor: editor).after(.load)
            #expect(edit.phase == .editing)
            try await body(mock, app, editor, edit)
        }
    }

    @Test("The app shows an edit at once, in details and in the list, and sends the key with edits alone")
    func edits() async throws {
        try await withEditor { mock, app, editor, edit in
            await app.perform(.loadList)
            var edit = edit
            edit[.name] = "Café"
            edit[.phone] = "1"
            edit[.operatingStatus] = OperatingStatus.temporarilyClosed.rawValue
            edit = await edit.after(.save)
            #expect(edit.phase == .done && edit.message == nil)
            let draft = try await editor.record(of: 7).draft
            #expect(draft.name == "Café" && draft.properties == ["phone": "1"])
            #expect(draft.operatingStatus == .temporarilyClosed)
            let details = app.makeDetails(id: 7)
            await details.load()
            #expect(details.value?.name == "Café")
            await app.perform(.showEdits)
            #expect(app.list.places.first { $0.id == 7 }?.name == "Café")
            for request in try await mock.journal().requests {
                let isOfEditor = request.method == "PATCH" || request.target.hasSuffix("/record")
                #expect((request.header("Authorization") != nil) == isOfEditor)
            }
        }
    }

    @Test(
        "An editor decides what counts where somebody else has changed the place", arguments: [true, false])
    func resolvesConflicts(keepsMine: Bool) async throws {
        try await withEditor { _, _, editor, edit in
            try await editor.correct(editor.record(of: 7)) { draft in
                (draft.name, draft.address, draft.names) = ("Theirs", "1 Main St", ["de": "Ihres"])
            }
            var edit = edit
            edit[.name] = "Mine"
            edit[.website] = "https://mine.example"
            edit = await edit.after(.save)
            #expect(edit.message == EditingErrorText.conflict.english)
            #expect(edit.otherChanges == ["Address: 1 Main St", "Name: Theirs", "names.de"])
            edit = await edit.after(keepsMine ? .keepMine : .takeTheirs)
            #expect(edit.phase == (keepsMine ? .done : .editing))
            #expect(edit[.name] == (keepsMine ? "Mine" : "Theirs"))
            _ = await edit.after(.save)
            let draft = try await editor.record(of: 7).draft
            #expect(draft.name == edit[.name] && draft.address == "1 Main St")
            #expect(draft.website == "https://mine.example")
        }
    }

    @Test("An editor removes a place that somebody else has changed, and its details say that it is gone")
    func removes() async throws {
        try await withEditor { _, app, editor, edit in
            try await editor.correct(editor.record(of: 7)) { $0.name = "Theirs" }
            let conflict = await edit.after(.remove)
            #expect(conflict.otherChanges == ["Name: Theirs"])
            #expect(await conflict.after(.takeTheirs)[.name] == "Theirs")
            #expect(await conflict.after(.keepMine).phase == .done)
            let details = app.makeDetails(id: 7)
            await details.load()
            #expect(Display(details.state).content == .nothing("This place is gone."))
            #expect(await edit.after(.load).phase == .failed)
        }
    }

    @Test("An editor sees beside its field what the service doesn't take, and corrects it")
    func saysWhatIsWrong() async throws {
        try await withEditor { _, _, _, edit in
            var edit = edit
            (edit[.name], edit[.website]) = ("", "nowhere")
            edit = await edit.after(.save)
            #expect(edit.phase == .editing && edit.message == EditingErrorText.invalid.english)
            #expect(Set(edit.faults.keys) == [.name, .website])
            #expect(edit.faults[.website]?.hasPrefix("Website ") == true)
            (edit[.name], edit[.website]) = ("Café", "")
            edit = await edit.after(.save)
            #expect(edit.phase == .done && edit.faults.isEmpty)
        }
    }

    @Test("An editor tries again where it isn't known whether the edit is done, and it is done once")
    func triesAgain() async throws {
        try await withEditor { mock, _, editor, edit in
            try await mock.setFaults([MockFaultRule(method: "PATCH", fault: .lostResponse)])
            var edit = edit
            edit[.name] = "Café"
            edit = await edit.after(.save)
            #expect(edit.message == EditingErrorText.unknownOutcome.english)
            try await mock.removeFaults()
            edit = await edit.after(.tryAgain)
            #expect(edit.phase == .done && edit.message == nil)
            #expect(try await editor.versions(of: 7).versions.count == 1)
        }
    }

    @Test("The app has no editor without a key, and says so where the service doesn't accept it")
    func needsAKey() async throws {
        try await withApp(editorKey: " ") { _, app in #expect(app.session.editor == nil) }
        try await withApp(editorKey: "wrong") { _, app in
            let edit = PlaceEditModel(id: 7, editor: try #require(app.session.editor))
            let refused = await edit.after(.load)
            #expect(refused.phase == .failed && refused.message == ErrorText.unauthorized.english)
        }
    }

    @Test("A phone that isn't text stays where nothing else is entered")
    func keepsOtherPhones() async throws {
        try await withEditor { mock, _, editor, _ in
            try await mock.setFixtures([.fixture(properties: ["phone": 1])])
            var edit = await PlaceEditModel(id: 1, editor: editor).after(.load)
            edit[.phone] = edit[.phone]
            #expect(await edit.after(.save).phase == .done)
            #expect(try await editor.record(of: 1).draft.properties == ["phone": 1])
        }
    }

    @Test("The app keeps a report, and sends it with its events")
    func reports() async throws {
        try await withApp { mock, app in
            var report = ReportModel(place: .fixture(id: 7))
            report.reason = .closed
            report.text = "since Monday"
            report = await report.sent(by: app.session.environment)
            #expect(report.isSent && !report.canBeSent)
            #expect(try await mock.reports().isEmpty)
            await app.session.perform(.enterBackground)
            let reports = try await mock.reports()
            #expect(reports.map(\.place) == [7] && reports.map(\.reason) == [.closed])
            #expect(reports.map(\.text) == ["since Monday"])
        }
    }
}

@Suite("A report")
@MainActor
struct ReportModelTests {
    @Test("A report's text has at most 500 characters, as the service counts them")
    func isBounded() {
        var report = ReportModel(place: .fixture())
        #expect(report.remainingCharacters == 500 && report.canBeSent)
        report.text = String(repeating: "e\u{301}", count: 250)
        #expect(report.remainingCharacters == 0 && report.canBeSent)
        report.text += "!"
        #expect(report.remainingCharacters == -1 && !report.canBeSent)
    }

    @Test("A report that can't be sent says why, and counts once when the person tries again")
    func triesAgain() async throws {
        let bodies = Locked<[PlaceReport]>([])
        let environment = AppEnvironment.mock { request in
            let report = try JSONDecoder().decode(PlaceReport.self, from: request.httpBody ?? Data())
            bodies.update { $0.append(report) }
            throw URLError(.notConnectedToInternet)
        }
        var report = ReportModel(place: .fixture(id: 7))
        report.reason = .missing
        for _ in 0..<2 { report = await report.sent(by: environment) }
        #expect(report.message == ErrorText.offline.english && report.canBeSent)
        #expect(Set(bodies.value).count == 1 && bodies.value.count == 2)
        // It is about another place, near this one.
        #expect(bodies.value.first?.place == nil && bodies.value.first?.position != nil)
    }
}
