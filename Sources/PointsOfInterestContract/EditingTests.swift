import Foundation
import PointsOfInterestClient
import PointsOfInterestEditing
import Testing

@Suite("Editing places", .timeLimit(.minutes(5)))
struct EditingTests {
    @Test(
        "A place that an editor makes has what was sent, and everybody sees it",
        .contract(
            .invariant, .edits, in: .editing, otherwise: "What an editor enters is lost, or nobody sees it."),
        .needs(.editorKey))
    func create() async throws {
        let draft = try await ContractPlaces.draft()
        try await ContractPlaces.withPlaces(draft) { places, editor in
            let place = places[0]
            #expect(place.draft == draft)
            #expect(place.source?.dataset.hasPrefix("editorial-") == true)
            #expect(place.source?.license.isEmpty == false)
            #expect(place.sourceValues == [:])
            #expect(place.importNumber == nil)
            #expect(abs(place.updatedAt.timeIntervalSinceNow) < 24 * 60 * 60 || !Service.isForeign)
            #expect(try await editor.record(of: place.id) == place)
            let shown = try await details(of: place.id) { $0?.version == place.version }
            #expect(shown?.name == draft.name)
            #expect(shown?.category == draft.category)
            #expect(shown?.latitude == draft.latitude)
            #expect(shown?.longitude == draft.longitude)
            #expect(shown?.address == draft.address)
            #expect(shown?.website == draft.website)
            #expect(shown?.operatingStatus == draft.operatingStatus)
            #expect(shown?.featured == draft.featured)
            #expect(shown?.importance == draft.importance)
            #expect(shown?.properties?.valuesByName == draft.properties)
            #expect(shown?.source == place.source)
            #expect(shown?.updatedAt == place.updatedAt)
        }
    }

    @Test(
        "A new place's response is 201 with the relative address of its details, and a strong tag, its version",
        .contract(
            .invariant, .edits, in: .editing,
            otherwise: "A script doesn't find the place that it has made, or can't say which version it saw."),
        .needs(.editorKey))
    func created() async throws {
        let draft = try await ContractPlaces.draft()
        try await ContractPlaces.withPlaces { _, _ in
            let response = try await Self.post(draft)
            #expect(response.status == 201)
            let record = try JSON(response.body)
            let id = try #require(record["id"]?.number.map { Int($0) })
            let version = try #require(record["version"]?.number.map { Int($0) })
            #expect(response.header("Location") == "locations/\(id)")
            #expect(response.header("ETag") == "\"\(version)\"")
            let again = try await ContractPlaces.response(to: "/locations/\(id)/record")
            #expect(again.status == 200)
            #expect(again.header("ETag") == "\"\(version)\"")
            #expect(again.header("Accept-Patch") == "application/merge-patch+json")
            #expect(again.body == response.body)
        }
    }

    @Test(
        "A correction changes what it names and nothing else, keeps what the source said, and can be taken back",
        .contract(
            .invariant, .edits, in: .editing,
            otherwise: "An editor who corrects a name loses the phone number, or can't undo a mistake."),
        .needs(.editorKey))
    func correct() async throws {
        let draft = try await ContractPlaces.draft()
        try await ContractPlaces.withPlaces(draft) { places, editor in
            var wanted = draft
            wanted.name = "Corrected \(draft.name)"
            wanted.address = nil
            (wanted.latitude, wanted.names["de"]) = (draft.latitude + 0.001, "Vertrag")
            (wanted.properties["phone"], wanted.properties["seats"]) = (.string("+1 408 555 0101"), nil)
            let corrected = try await editor.correct(places[0], to: wanted)
            #expect(corrected.id == places[0].id)
            #expect(corrected.version != places[0].version)
            #expect(corrected.draft == wanted)
            #expect(corrected.sourceValues["name"] == .string(draft.name))
            #expect(corrected.sourceValues["address"] == draft.address.map(JSONValue.string))
            #expect(corrected.sourceValues["properties.seats"] == draft.properties["seats"])
            #expect(corrected.sourceValues["names.de"] == .null)
            let shown = try await details(of: corrected.id) { $0?.version == corrected.version }
            #expect(shown?.name == wanted.name)
            #expect(shown?.address == nil)
            let reset = try await editor.reset(corrected, members: ["name", "properties"])
            #expect(reset.draft.name == draft.name)
            #expect(reset.draft.properties == draft.properties)
            #expect(reset.draft.address == nil)
            #expect(Set(reset.sourceValues.keys).isDisjoint(with: ["name", "properties.seats"]))
            #expect(reset.sourceValues["address"] == draft.address.map(JSONValue.string))
        }
    }

    @Test(
        "An edit of a version that isn't the place's any more is refused, with the place's tag",
        .contract(
            .invariant, .edits, in: .editing,
            otherwise: "Of two people who edit at the same time, one overwrites the other unseen."),
        .needs(.editorKey))
    func conflict() async throws {
        try await ContractPlaces.withPlaces(try await ContractPlaces.draft()) { places, editor in
            let current = try await editor.correct(places[0]) { $0.importance = 8 }
            let patch = #"{"importance": 9}"#
            let stale = try await Self.patch(current.id, patch, version: places[0].version)
            #expect(stale.status == 412)
            #expect(try stale.problem.code == .preconditionFailed)
            #expect(stale.header("ETag") == "\"\(current.version)\"")
            let read = try await ContractPlaces.response(
                to: "/locations/\(current.id)/record", headers: ["If-Match": "\"\(places[0].version)\""])
            #expect(read.status == 412)
            let unseen = try await Self.patch(current.id, patch, version: nil)
            #expect(unseen.status == 428)
            #expect(try unseen.problem.code == .preconditionRequired)
            #expect(try await editor.record(of: current.id) == current)
            await #expect {
                try await editor.remove(places[0])
            } throws: { error in
                guard case PlaceEditorError.conflict(let conflict) = error else { return false }
                return conflict.current == current && conflict.otherMembers == ["importance"]
            }
        }
    }

    @Test(
        "An edit that is sent again with its Idempotency-Key is done once, and the key is of no other edit",
        .contract(
            .invariant, .edits, in: .editing,
            otherwise: "After a lost response an app makes the place twice, or doesn't dare to send again."),
        .needs(.editorKey))
    func idempotency() async throws {
        let draft = try await ContractPlaces.draft()
        try await ContractPlaces.withPlaces(try await ContractPlaces.draft()) { places, _ in
            let body = draft.content(in: ContractPlaces.dataset)
            let made = try await Self.twice("POST", "/locations", body)
            #expect(made.status == 201)
            let place = try EditablePlace.decode(body: made.body)
            let path = "/locations/\(place.id)"
            let patched = try await Self.twice("PATCH", path, ["importance": 8], version: place.version)
            let version = try EditablePlace.decode(body: patched.body).version
            #expect(try await Self.twice("DELETE", path, nil, version: version).status == 204)
            let restored = try await Self.twice(
                "POST", path + "/restore", ["version": .integer(version)], version: version)
            let merged = try await Self.twice(
                "POST", path + "/merge", ["into": .integer(places[0].id)],
                version: try EditablePlace.decode(body: restored.body).version)
            #expect(try EditablePlace.decode(body: merged.body).id == places[0].id)
        }
    }

    /// The response to an edit that is sent twice with one key, and then with another body.
    private static func twice(
        _ method: String, _ target: String, _ body: JSONValue.Object?, version: Int? = nil
    ) async throws -> Exchange {
        let headers = [
            "Idempotency-Key": UUID().uuidString, "If-Match": version.map { "\"\($0)\"" },
            "Content-Type": method == "PATCH" ? "application/merge-patch+json" : "application/json",
        ]
        let json = body.map { String(decoding: $0.json, as: UTF8.self) }
        func send(_ json: String?) async throws -> Exchange {
            try await ContractPlaces.response(to: target, method: method, headers: headers, json: json)
        }
        let responses = [try await send(json), try await send(json)]
        #expect((200..<300).contains(responses[0].status), "\(method) \(target)")
        #expect(responses[1].status == responses[0].status, "\(method) \(target)")
        #expect(responses[1].body == responses[0].body, "\(method) \(target)")
        #expect(responses[1].header("Location") == responses[0].header("Location"))
        if let json {
            // The same to a reader of JSON, but not the body that was sent.
            let refused = try await send(json + " ")
            #expect(refused.status == 422)
            #expect(try refused.problem.code == .idempotencyKeyReused)
        }
        return responses[0]
    }

    @Test(
        "Content with faults is refused with all of them, each by its pointer, and changes nothing",
        .contract(
            .invariant, .edits, in: .editing,
            otherwise: "The form shows one fault after the other, or marks the wrong field."),
        .needs(.editorKey))
    func faults() async throws {
        try await ContractPlaces.withPlaces(try await ContractPlaces.draft()) { places, editor in
            let place = places[0]
            let body = """
                {"name": "", "latitude": 91, "colour": "red", "properties": {"a": {"b": {"c": {"d": 1}}}}, \
                "version": 1, "importance": "7"}
                """
            let refused = try await Self.patch(place.id, body, version: place.version)
            #expect(refused.status == 422)
            let problem = try refused.problem
            #expect(problem.code == .invalidContent)
            let found = Dictionary(
                problem.memberErrors.map { ($0.pointer, $0.code) }, uniquingKeysWith: { one, _ in one })
            #expect(
                found.filter { $0.key != "/properties/a" } == [
                    "/name": .malformed, "/latitude": .outOfRange, "/colour": .unknown,
                    "/importance": .wrongType,
                ])
            #expect(problem.memberErrors.allSatisfy { !$0.detail.isEmpty })
            let others = #"{"id": 1, "version": \#(place.version + 1)}"#
            let readOnly = try await Self.patch(place.id, others, version: place.version)
            #expect(try readOnly.problem.memberErrors.map(\.code) == [.readOnlyMember, .readOnlyMember])
            #expect(try Set(readOnly.problem.memberErrors.map(\.pointer)) == ["/id", "/version"])
            let asItIs = #"{"id": \#(place.id), "name": "Another name"}"#
            #expect(try await Self.patch(place.id, asItIs, version: place.version).status == 200)
            #expect(try await editor.record(of: place.id).draft.name == "Another name")
        }
    }

    @Test(
        "A patch that isn't JSON is refused with 400, one of another type with 415 and what is taken",
        .contract(.invariant, .edits, in: .editing, otherwise: "A script doesn't learn what it does wrong."),
        .needs(.editorKey))
    func malformed() async throws {
        try await ContractPlaces.withPlaces(try await ContractPlaces.draft()) { places, editor in
            let place = places[0]
            for body in ["{", "", #"{"name": "A"} "# + "x"] {
                let response = try await Self.patch(place.id, body, version: place.version)
                #expect(response.status == 400)
                #expect(try response.problem.code == .malformedBody)
            }
            let other = try await ContractPlaces.response(
                to: "/locations/\(place.id)", method: "PATCH", headers: ["If-Match": "*"], json: "{}")
            #expect(other.status == 415)
            #expect(try other.problem.code == .unsupportedMediaType)
            #expect(other.header("Accept-Patch") == "application/merge-patch+json")
            let unreadable = try await ContractPlaces.response(
                to: "/locations/\(place.id)/record", headers: ["Accept": "text/csv"])
            #expect(unreadable.status == 406)
            #expect(try await editor.record(of: place.id) == place)
        }
    }

    @Test(
        "A removed place is gone, its history says so, and it comes back with its id",
        .contract(
            .invariant, .edits, in: .editing,
            otherwise: "A place that was removed by mistake is lost, with what was known of it."),
        .needs(.editorKey))
    func remove() async throws {
        try await ContractPlaces.withPlaces(try await ContractPlaces.draft()) { places, editor in
            let id = places[0].id
            let corrected = try await editor.correct(places[0]) { $0.importance = 8 }
            let removal = try await ContractPlaces.response(
                to: "/locations/\(id)", method: "DELETE", headers: ["If-Match": "\"\(corrected.version)\""])
            #expect(removal.status == 204)
            let gone = try await ContractPlaces.eventually {
                try await Service.response(to: "/locations/\(id)")
            } is: {
                $0.status == 410
            }
            #expect(gone.status == 410)
            #expect(try gone.problem.code == .gone)
            await #expect { try await editor.record(of: id) } throws: { error in
                guard case PlaceEditorError.gone = error else { return false }
                return true
            }
            let versions = try await editor.versions(of: id, limit: 100).versions
            #expect(versions.map(\.version) == [corrected.version, places[0].version])
            #expect(versions.map(\.isRemoval) == [true, false])
            #expect(versions.allSatisfy { !$0.who.isEmpty })
            #expect(versions.last?.changes["importance"] == .init(before: 7, after: 8))
            #expect(
                try versions.map { try Date($0.changedAt, strategy: .iso8601) }.allSatisfy {
                    abs($0.timeIntervalSince(corrected.updatedAt)) < 60
                })
            let first = try #require(versions.first)
            let back = try await editor.restore(id: id, removedBy: first)
            #expect(back.id == id)
            #expect(back.draft == corrected.draft)
            #expect(try await editor.record(of: id) == back)
            let before = try await editor.restore(back, to: try #require(versions.last))
            #expect(before.draft == places[0].draft)
        }
    }

    @Test(
        "An edit changes the sum of its place's bucket and no other, and what is taken back has the sums of before",
        .contract(
            .invariant, .edits, in: .digest,
            otherwise:
                "An app doesn't see that a place was corrected, or downloads places that are as they were."),
        .needs(.editorKey), .needsDigest)
    func digest() async throws {
        try await ContractPlaces.withPlaces(
            try await ContractPlaces.draft(), try await ContractPlaces.draft()
        ) { places, editor in
            let (place, draft) = (places[0], places[0].draft)
            let box = try #require(
                BoundingBox(
                    west: draft.longitude - 0.001, south: draft.latitude - 0.001,
                    east: draft.longitude + 0.001, north: draft.latitude + 0.001))
            func digest(where isShown: (Digest) -> Bool) async throws -> Digest {
                let digest = try await ContractPlaces.eventually {
                    try await Digest(NearbyPlacesRequest(box: box), hasAllNames: true)
                } is: {
                    $0.faults.isEmpty && isShown($0)
                }
                try #require(digest.faults.isEmpty && isShown(digest))
                return digest
            }
            func shown(_ edited: EditablePlace) async throws -> Digest {
                try await digest {
                    $0.places.contains { $0.id == edited.id && $0.place.version == edited.version }
                }
            }
            func difference(_ one: Digest, _ other: Digest) -> [Int] {
                one.buckets.indices.filter { one.buckets[$0] != other.buckets[$0] }
            }
            let first = try await digest { Set($0.places.map(\.id)).isSuperset(of: places.map(\.id)) }
            let kept = try #require(first.places.first { $0.id == place.id })
            let details = try await Service.response(to: "/locations/\(place.id)")
            #expect(try kept.details == JSON(details.body))
            #expect(kept.document["names"] == .object(["ja": .string("契約")]))
            #expect(kept.document["otherNames"] == .array([.string("The other name")]))
            let corrected = try await editor.correct(place) { $0.otherNames = ["Yet another name"] }
            let second = try await shown(corrected)
            #expect(difference(first, second) == [PlaceSums.bucket(ofID: place.id)])
            #expect(first.sums != second.sums)
            let third = try await shown(
                try await editor.correct(corrected) { $0.otherNames = draft.otherNames })
            #expect(third.buckets == first.buckets)
            #expect(third.sums == first.sums)
            try await editor.remove(places[1])
            let last = try await digest { !$0.places.map(\.id).contains(places[1].id) }
            #expect(difference(third, last) == [PlaceSums.bucket(ofID: places[1].id)])
        }
    }

    @Test(
        "The versions of a place are in pages, which a link leads through",
        .contract(
            .invariant, .edits, in: .editing, otherwise: "Who looks for an old change never comes to it."),
        .needs(.editorKey))
    func versionPages() async throws {
        try await ContractPlaces.withPlaces(try await ContractPlaces.draft()) { places, editor in
            var place = places[0]
            var expected: [Int] = []
            for importance in [1, 2, 3] {
                expected.insert(place.version, at: 0)
                place = try await editor.correct(place) { $0.importance = importance }
            }
            let first = try await editor.versions(of: place.id, limit: 2)
            let second = try #require(await editor.versions(after: first))
            #expect(second.next == nil)
            #expect((first.versions + second.versions).map(\.version) == expected)
        }
    }

    @Test(
        "The newest changes in a box are people's, of places that were there before or are there now",
        .contract(
            .invariant, .edits, in: .editing,
            otherwise: "Who looks after a town doesn't see what others change there."),
        .needs(.editorKey))
    func changes() async throws {
        try await ContractPlaces.withPlaces(try await ContractPlaces.draft()) { places, editor in
            let (place, old) = (places[0], places[0].draft)
            let moved = try await editor.correct(place) { $0.latitude += 0.001 }
            let renamed = try await editor.correct(moved) { $0.name = "Renamed \(old.name)" }
            func box(south: Double, north: Double) throws -> BoundingBox {
                try #require(
                    BoundingBox(
                        west: old.longitude - 0.0001, south: old.latitude + south,
                        east: old.longitude + 0.0001, north: old.latitude + north))
            }
            let here = try box(south: 0.0009, north: 0.0011)
            let first = try await editor.changes(in: here, limit: 1)
            let second = try #require(await editor.changes(after: first))
            let changes = first.changes + second.changes
            #expect(changes.map(\.version) == (try await editor.versions(of: place.id)).versions)
            #expect(changes.map(\.version.version) == [moved.version, place.version])
            for change in changes {
                #expect(change.id == place.id)
                #expect(change.name == renamed.draft.name)
                #expect(change.latitude == moved.draft.latitude)
                #expect(change.longitude == old.longitude)
            }
            let before = try await editor.changes(in: try box(south: -0.0001, north: 0.0001), limit: 1)
            #expect(before.changes.first == changes.last)
            try await editor.remove(renamed)
            let removal = try await editor.changes(in: here, limit: 1).changes.first
            #expect(removal?.id == place.id)
            #expect(removal?.version.isRemoval == true)
            #expect(removal?.name == renamed.draft.name)
            let everywhere = try await editor.changes(limit: 100).changes
            #expect(everywhere.contains { $0 == removal })
        }
    }

    @Test(
        "A merged place leads to the one that it is the same as, which gets what it lacked",
        .contract(
            .invariant, .edits, in: .editing,
            otherwise: "A favourite is lost when somebody finds that two places are the same."),
        .needs(.editorKey))
    func merge() async throws {
        var other = try await ContractPlaces.draft()
        (other.address, other.properties) = (nil, ["phone": "+1 408 555 0199"])
        try await ContractPlaces.withPlaces(try await ContractPlaces.draft(), other) { places, editor in
            let (merged, kept) = (places[0], places[1])
            let survivor = try await editor.merge(merged, into: kept.id)
            #expect(survivor.id == kept.id)
            #expect(survivor.version != kept.version)
            #expect(survivor.draft.name == kept.draft.name)
            #expect(survivor.draft.address == merged.draft.address)
            #expect(survivor.draft.properties == ["phone": "+1 408 555 0199", "seats": 24])
            #expect(try await editor.record(of: kept.id) == survivor)
            let response = try await ContractPlaces.eventually {
                try await Service.response(to: "/locations/\(merged.id)?lat=1&long=2")
            } is: {
                $0.status == 308
            }
            #expect(response.status == 308)
            #expect(response.header("Location") == "\(kept.id)?lat=1&long=2")
            let service = try await Service.client()
            #expect(try await service.place(id: merged.id).id == kept.id)
            let found = try await service.nearbyPlaces(NearbyPlacesRequest(ids: [merged.id])).places
            #expect(found.map(\.id) == [kept.id])
            #expect(found.first?.mergedFrom == [merged.id])
            let refused = try await Self.patch(merged.id, #"{"importance": 9}"#, version: merged.version)
            #expect(refused.status == 409)
            #expect(try refused.problem.code == .merged)
            #expect(try refused.problem.mergedInto == kept.id)
        }
    }

    @Test(
        "Only who has an editor's key sees records and edits",
        .contract(
            .invariant, .edits, in: .editing,
            otherwise: "Everybody who has the app's key can change the places of all others."),
        .needs(.editorKey),
        arguments: [
            ("GET", "/record"), ("GET", "/versions"), ("PATCH", ""), ("DELETE", ""), ("POST", "/restore"),
            ("POST", "/merge"), ("GET", "/changes"),
        ])
    func keys(method: String, path: String) async throws {
        try await ContractPlaces.withPlaces(try await ContractPlaces.draft()) { places, editor in
            let target = path == "/changes" ? path : "/locations/\(places[0].id)\(path)"
            let headers: [String: String?] = ["If-Match": "*"]
            let none = try await ContractPlaces.response(
                to: target, method: method, headers: headers.merging(["Authorization": nil]) { $1 })
            #expect(none.status == 401)
            #expect(try none.problem.code == .unauthorized)
            #expect(none.header("WWW-Authenticate")?.lowercased().hasPrefix("bearer") == true)
            if let data = ContractConfiguration.current.keys?.data {
                let refused = try await ContractPlaces.response(
                    to: target, method: method,
                    headers: headers.merging(["Authorization": "Bearer \(data)"]) { $1 })
                #expect(refused.status == 403)
                #expect(try refused.problem.code == .notAnEditor)
            }
            #expect(try await editor.record(of: places[0].id) == places[0])
        }
    }
}

extension EditingTests {
    private static func patch(_ id: Int, _ body: String, version: Int?) async throws -> Exchange {
        try await ContractPlaces.response(
            to: "/locations/\(id)", method: "PATCH",
            headers: [
                "Content-Type": "application/merge-patch+json", "If-Match": version.map { "\"\($0)\"" },
            ], json: body)
    }

    private static func post(_ draft: PlaceDraft) async throws -> Exchange {
        try await ContractPlaces.response(
            to: "/locations", method: "POST",
            json: String(decoding: draft.content(in: ContractPlaces.dataset).json, as: UTF8.self))
    }

    /// A place's details, once they are as awaited; nil where there are none.
    private func details(
        of id: Int, is isAwaited: (PointOfInterest?) -> Bool
    ) async throws -> PointOfInterest? {
        let service = try await Service.client()
        return try await ContractPlaces.eventually {
            do {
                return try await service.place(id: id)
            } catch let error as RequestError where error.isGone {
                return nil
            }
        } is: {
            isAwaited($0)
        }
    }
}
