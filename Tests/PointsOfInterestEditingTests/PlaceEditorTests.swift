import EditingAPI
import Foundation
@testable import PointsOfInterestEditing
import PointsOfInterestTesting
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Editing places", .timeLimit(.minutes(1)))
struct PlaceEditorTests {
    private let standIn = StandInService([.test(), .test(id: 84)])
    private var editor: PlaceEditor { PlaceEditor(service: standIn.service()) }

    @Test("A record is loaded as it is now")
    func loadsRecord() async throws {
        #expect(try await editor.record(of: 12) == .test())
        standIn.remove(12)
        await #expect(throws: PlaceEditorError.gone) { try await editor.record(of: 12) }
        standIn.remove(84, mergedInto: 3)
        await #expect(throws: PlaceEditorError.merged(into: 3)) { try await editor.record(of: 84) }
        let error = await #expect(throws: PlaceEditorError.self) { try await editor.record(of: 99) }
        #expect(error == .request(.problem(Problem(.notFound))))
        #expect(standIn.requests.map(\.url?.path).first == "/locations/12/record")
    }

    @Test("A correction sends what was changed, the version that the person saw, and a key of its own")
    func corrects() async throws {
        let place = try await editor.record(of: 12)
        let corrected = try await editor.correct(place) { draft in
            draft.name = "Café Ä"
            draft.properties["phone"] = nil
        }
        #expect(corrected.draft.name == "Café Ä")
        #expect(corrected == standIn.record(12))
        let request = try #require(standIn.writes.first)
        #expect(request.httpMethod == "PATCH")
        #expect(request.url?.path == "/locations/12")
        #expect(request.value(forHTTPHeaderField: "Content-Type") == "application/merge-patch+json")
        #expect(request.value(forHTTPHeaderField: "If-Match") == "\"7\"")
        #expect(request.json == ["name": "Café Ä", "properties": ["phone": .null]])
        try await editor.correct(corrected) { $0.name = "Cafe" }
        let keys = standIn.writes.map { $0.value(forHTTPHeaderField: "Idempotency-Key") ?? "" }
        #expect(Set(keys).count == 2)
        #expect(keys.allSatisfy { UUID(uuidString: $0) != nil })
    }

    @Test("A correction that changes nothing sends nothing")
    func sendsNothing() async throws {
        #expect(try await editor.correct(.test()) { $0.name = "Cafe" } == .test())
        #expect(try await editor.correct(.test()) { $0.properties["new"] = .null } == .test())
        #expect(try await editor.reset(.test(), members: []) == .test())
        #expect(standIn.requests.isEmpty)
    }

    @Test("A draft that is nowhere on Earth isn't sent")
    func checksPosition() async throws {
        let error = await #expect(throws: PlaceEditorError.self) {
            try await editor.correct(.test()) { $0.latitude = 91 }
        }
        #expect(error == .request(.invalidCoordinate))
        #expect(standIn.requests.isEmpty)
    }

    @Test("The record of another place than the one that was asked for is an error")
    @MainActor
    func refusesOthers() async throws {
        let environment = AppEnvironment.mock { request in
            (try .fixture(for: request), try JSONEncoder().encode(EditablePlace.test(id: 13)))
        }
        let editor = PlaceEditor(service: environment.service)
        let error = await #expect(throws: PlaceEditorError.self) { try await editor.record(of: 12) }
        guard case .request(let error)? = error else { throw RequestError.notHTTP }
        #expect(error.reason == .undecodableBody(reason: "the record is that of another place, 13"))
    }

    @Test("A new place is sent without a version")
    func creates() async throws {
        let record = try await editor.create(.test())
        #expect(record.id == 85)
        #expect(record == standIn.record(85))
        let request = try #require(standIn.writes.first)
        #expect(request.httpMethod == "POST")
        #expect(request.url?.path == "/locations")
        #expect(request.value(forHTTPHeaderField: "If-Match") == nil)
        #expect(request.value(forHTTPHeaderField: "Content-Type") == "application/json")
        #expect(request.json == .object(PlaceDraft.test().content(in: nil)))
    }

    @Test("Every other edit has its own request")
    func sendsOthers() async throws {
        let version = PlaceVersion(version: 3, changedAt: "", who: "anna", isRemoval: false, changes: [:])
        var place = try await editor.reset(.test(), members: ["name", "properties.phone"])
        place = try await editor.close(place, temporarily: true)
        #expect(place.draft.operatingStatus == .temporarilyClosed)
        place = try await editor.close(place)
        #expect(place.draft.operatingStatus == .permanentlyClosed)
        place = try await editor.restore(place, to: version)
        let survivor = try await editor.merge(place, into: 84)
        #expect(survivor.id == 84)
        let removal = PlaceVersion(
            version: place.version, changedAt: "", who: "anna", isRemoval: true, changes: [:])
        let back = try await editor.restore(id: 12, removedBy: removal)
        #expect(back.id == 12)
        try await editor.remove(back)
        #expect(standIn.record(12) == nil)
        let paths = ["", "", "", "/restore", "/merge", "/restore", ""].map { "/locations/12" + $0 }
        #expect(standIn.writes.map(\.url?.path) == paths)
        #expect(
            standIn.writes.map(\.httpMethod) == ["PATCH", "PATCH", "PATCH", "POST", "POST", "POST", "DELETE"])
        #expect(
            standIn.writes.map(\.json) == [
                ["reset": ["name", "properties.phone"]], ["operatingStatus": "temporarilyClosed"],
                ["operatingStatus": "permanentlyClosed"], ["version": 3], ["into": 84],
                ["version": .integer(removal.version)], nil,
            ])
    }

    @Test("Versions come page by page, from the service's host only")
    func loadsVersions() async throws {
        let version = PlaceVersion(
            version: 3, changedAt: "2026-11-30T23:45:12Z", who: "anna", isRemoval: false,
            changes: ["name": .init(before: "A", after: "B")])
        let body = String(decoding: try JSONEncoder().encode([version]), as: UTF8.self)
        standIn.read { request in
            switch request.url?.query {
            case "limit=1": .test(200, body, ["Link": "</locations/12/versions?before=x>; rel=\"next\""])
            case "before=x": .test(200, "[]", ["Link": "<https://elsewhere.test/>; rel=\"next\""])
            default: .problem(Problem(.notFound))
            }
        }
        let page = try await editor.versions(of: 12, limit: 1)
        #expect(page.versions == [version])
        let last = try #require(try await editor.versions(after: page))
        #expect(last.versions.isEmpty)
        await #expect(throws: PlaceEditorError.self) { try await editor.versions(after: last) }
        #expect(standIn.requests.count == 2)
        #expect(try await editor.versions(after: PlaceVersionsPage(versions: [], next: nil)) == nil)
    }

    @Test("The changes in a box come page by page, from the service's host only")
    func loadsChanges() async throws {
        let change = RecentChange(
            id: 12, name: "B", latitude: 52.5, longitude: 13.4,
            version: PlaceVersion(
                version: 3, changedAt: "2026-11-30T23:45:12Z", who: "anna", isRemoval: false,
                changes: ["name": .init(before: "A", after: "B")]))
        let body = String(decoding: try JSONEncoder().encode([change]), as: UTF8.self)
        standIn.read { request in
            switch request.url?.query {
            case "bbox=170%2C-1.5%2C-170%2C1&limit=1":
                .test(200, body, ["Link": "<?bbox=170%2C-1.5%2C-170%2C1&before=5>; rel=\"next\""])
            case "bbox=170%2C-1.5%2C-170%2C1&before=5":
                .test(200, "[]", ["Link": "<https://elsewhere.test/>; rel=\"next\""])
            case nil, "": .test(200, "[]")
            default: .problem(Problem(.notFound))
            }
        }
        let box = BoundingBox(west: 170, south: -1.5, east: -170, north: 1)
        let page = try await editor.changes(in: box, limit: 1)
        #expect(page.changes == [change])
        let last = try #require(try await editor.changes(after: page))
        #expect(last.changes.isEmpty)
        await #expect(throws: PlaceEditorError.self) { try await editor.changes(after: last) }
        #expect(try await editor.changes() == RecentChangesPage(changes: [], next: nil))
        #expect(standIn.requests.map(\.url?.path) == ["/changes", "/changes", "/changes"])
    }

    @Test("The editor's key goes with edits alone; without one of its own it is the service's")
    func sendsKeys() async throws {
        let service = standIn.service { ["Authorization": "Bearer \($0)"] }
        let own = PlaceEditor(service: service) { endpoint in
            ["Authorization": "Bearer own \(endpoint)"]
        }
        _ = try await own.record(of: 12)
        _ = try await PlaceEditor(service: service).record(of: 12)
        _ = try? await service.place(id: 12)
        let keys = standIn.requests.map { $0.value(forHTTPHeaderField: "Authorization") }
        #expect(keys == ["Bearer own editing", "Bearer editing", "Bearer place"])
    }

    @Test("A place that was merged or removed, and content with faults, have errors of their own")
    func throwsErrors() async throws {
        let fault = Problem.MemberFault(pointer: "/name", code: .outOfRange, detail: "too long")
        standIn.fail(.refused(.problem(Problem(.invalidContent, memberErrors: [fault]))))
        await #expect(throws: PlaceEditorError.invalid([fault])) { try await editor.create(.test()) }
        standIn.remove(12)
        await #expect(throws: PlaceEditorError.gone) { try await editor.close(.test()) }
        standIn.remove(84, mergedInto: 3)
        await #expect(throws: PlaceEditorError.merged(into: 3)) { try await editor.remove(.test(id: 84)) }
    }

    @Test(
        "A key that isn't an editor's is the service's problem",
        arguments: [ProblemCode.unauthorized, .notAnEditor])
    func throwsProblems(code: ProblemCode) async throws {
        standIn.fail(.refused(.problem(Problem(code))))
        let error = await #expect(throws: PlaceEditorError.self) { try await editor.create(.test()) }
        #expect(error == .request(.problem(Problem(code))))
        #expect(
            error?.localizedDescription
                == (code == .notAnEditor
                    ? EditingErrorText.notAnEditor.english : ErrorText.unauthorized.english))
    }

    @Test("Texts for people are sentences, and have keys of their own")
    func hasTexts() {
        let texts = EditingErrorText.allCases
        #expect(texts.allSatisfy { $0.english.hasSuffix(".") && $0.localized() == $0.english })
        let keys = texts.map(\.rawValue) + ErrorText.allCases.map(\.rawValue)
        #expect(Set(keys).count == keys.count)
    }
}
