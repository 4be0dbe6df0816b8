import Foundation
import HTTPServer
import PointsOfInterestAPI
import Testing

@testable import POIService
@testable import PointsOfInterestServerAPI

@Suite("The OpenAPI document of a service with editors")
struct OpenAPIEditingTests {
    private func members(_ object: [String: Any], _ names: String...) throws -> [String: Any] {
        try names.reduce(object) { try #require($0[$1] as? [String: Any], "\($1)") }
    }

    /// What the service itself sends.
    private func document(_ environment: [String: String] = [:]) async throws -> [String: Any] {
        let response = try await EditingSite(environment).ask("/openapi.json", key: nil)
        return try #require(try JSONSerialization.jsonObject(with: Data(response.body)) as? [String: Any])
    }

    private func schema(_ name: String) async throws -> [String: Any] {
        try members(await document(), "components", "schemas", name)
    }

    private func names(_ schema: [String: Any]) throws -> [String] {
        try members(schema, "properties").keys.sorted()
    }

    private static let operations: [(path: String, method: String)] = [
        ("/locations", "post"), ("/locations/{id}", "patch"), ("/locations/{id}", "delete"),
        ("/locations/{id}/restore", "post"), ("/locations/{id}/merge", "post"),
        ("/locations/{id}/record", "get"), ("/locations/{id}/versions", "get"), ("/changes", "get"),
    ]

    @Test("A body has exactly the members that are read, and a record those that are written")
    func bodies() async throws {
        let all = PlaceMember.allCases.map(\.rawValue).sorted()
        let readOnly = ["id", "import", "source", "sourceValues", "updatedAt", "version"]
        #expect(try names(await schema("PlacePatch")) == all.filter { $0 != "dataset" })
        #expect(
            try names(await schema("PlaceDraft")) == all.filter { !readOnly.contains($0) && $0 != "reset" })
        #expect(
            try await schema("PlaceDraft")["required"] as? [String] == [
                "name", "category", "latitude", "longitude",
            ])
        for name in ["PlaceDraft", "PlacePatch", "Restoration", "Merger"] {
            #expect(try await schema(name)["additionalProperties"] as? Bool == false)
        }
        let record = try await schema("PlaceRecord")
        let written = try await EditingSite().ask("/locations/5/record").record()
        #expect(try names(record) == written.keys.sorted())
        #expect((record["required"] as? [String])?.sorted() == written.keys.sorted())
        let marked = try members(record, "properties").filter { _, member in
            (member as? [String: Any])?["readOnly"] as? Bool == true
        }
        #expect(marked.keys.sorted() == readOnly)
        let site = try EditingSite()
        _ = try await site.ask("/locations/5", .patch, #"{"name": "A"}"#)
        for (target, name) in [("/locations/5/versions", "PlaceVersion"), ("/changes", "RecentChange")] {
            let items = try JSONDecoder().decode(
                [JSONValue.Object].self, from: Data(try await site.ask(target).body))
            #expect(try names(await schema(name)) == items[0].members.map(\.name).sorted())
        }
    }

    @Test("The examples of bodies are accepted, and those of responses have the schema's members")
    func examples() async throws {
        let paths = try members(await document(), "paths")
        for (path, method) in Self.operations {
            let operation = try members(paths, path, method)
            if let body = operation["requestBody"] as? [String: Any] {
                let content = try members(body, "content")
                let type = method == "patch" ? EditingSite.mergePatch : MediaType.json
                #expect(Array(content.keys) == [type])
                let example = try members(content, type, "example")
                let json = Array(try JSONSerialization.data(withJSONObject: example))
                switch path {
                case "/locations/{id}/restore": _ = try NumberBody.decode(json, member: "version")
                case "/locations/{id}/merge": _ = try NumberBody.decode(json, member: "into")
                default: _ = try PlaceChanges.decode(body: json, isNew: method == "post")
                }
            }
            let status = method == "delete" ? "204" : path == "/locations" ? "201" : "200"
            let success = try members(operation, "responses", status)
            guard method != "delete" else {
                #expect(success["content"] == nil)
                continue
            }
            let example = try members(success, "content", MediaType.json)["example"]
            let record = (example as? [[String: Any]])?.first ?? example as? [String: Any]
            let name =
                switch path {
                case "/locations/{id}/versions": "PlaceVersion"
                case "/changes": "RecentChange"
                default: "PlaceRecord"
                }
            #expect(try record?.keys.sorted() == names(await schema(name)))
        }
    }

    @Test("Each operation has the key, the parameters and the problems that it may have")
    func operations() async throws {
        let document = try await document()
        for (path, method) in Self.operations {
            let operation = try members(document, "paths", path, method)
            #expect(operation["security"] as? [[String: [String]]] == [["editorKey": []]])
            let parameters = try #require(operation["parameters"] as? [[String: Any]])
            func isRequired(_ name: String) -> Bool? {
                parameters.first { $0["name"] as? String == name }?["required"] as? Bool
            }
            let isWrite = method != "get"
            let hasPlace = path.contains("{id}")
            #expect(isRequired("id") == (hasPlace ? true : nil))
            #expect((isRequired("If-Match") == true) == (isWrite && hasPlace))
            #expect((isRequired("Idempotency-Key") != nil) == isWrite)
            #expect(isRequired("If-None-Match") == nil)
            let statuses = Set(try members(operation, "responses").keys.compactMap { Int($0) })
            #expect(statuses.isSuperset(of: [400, 401, 403, 406, 412, 413, 429, 503]))
            #expect(statuses.contains(404) == hasPlace && statuses.contains(304) == false)
            #expect(statuses.isSuperset(of: [415, 422]) == isWrite)
            #expect(statuses.contains(428) == (isWrite && hasPlace))
            #expect(statuses.isSuperset(of: [409, 410]) == (hasPlace && !path.hasSuffix("versions")))
        }
        for (path, names) in [
            ("/locations/{id}/versions", ["limit", "before"]), ("/changes", ["bbox", "limit", "before"]),
        ] {
            let parameters = try members(document, "paths", path, "get")["parameters"]
            #expect(
                (parameters as? [[String: Any]])?.filter { $0["in"] as? String == "query" }.compactMap {
                    $0["name"] as? String
                } == names)
        }
    }

    @Test("The tags and addresses of responses match the document's patterns")
    func headers() async throws {
        let document = try await document()
        func check(_ response: HTTPResponse, _ path: String, _ method: String, _ status: Int) throws {
            #expect(response.status.code == status)
            let described = try members(
                document, "paths", path, method, "responses", "\(status)", "headers")
            for (name, reference) in described {
                let key = try #require((reference as? [String: Any])?["$ref"] as? String)
                    .replacing("#/components/headers/", with: "")
                let header = try members(document, "components", "headers", key)
                let field = HTTPHeaderName(name).flatMap { response.headers.first($0) }
                // The server adds these, and the dispatcher's fields aren't here.
                if ["Date", "X-Request-Id", "Vary"].contains(name) { continue }
                #expect(field != nil || header["required"] as? Bool == false, "\(name)")
                guard let field, let pattern = try members(header, "schema")["pattern"] as? String else {
                    continue
                }
                #expect(try Regex(pattern).wholeMatch(in: field) != nil, "\(name): \(field)")
            }
        }
        let site = try EditingSite()
        let body = #"{"name": "A", "category": "zoo", "latitude": 1, "longitude": 2}"#
        try check(await site.ask("/locations", .post, body), "/locations", "post", 201)
        site.places.servesEdits = false
        for _ in 0..<2 {
            let patch = try await site.ask("/locations/5", .patch, #"{"name": "\#(UUID())"}"#)
            try check(patch, "/locations/{id}", "patch", 200)
        }
        try check(await site.ask("/locations/5/record"), "/locations/{id}/record", "get", 200)
        let page = try await site.ask("/locations/5/versions?limit=1")
        #expect(page.headers.contains(.link))
        try check(page, "/locations/{id}/versions", "get", 200)
        let changes = try await site.ask("/changes?limit=1")
        #expect(changes.headers.contains(.link))
        try check(changes, "/changes", "get", 200)
        try check(await site.ask("/locations/5", .delete), "/locations/{id}", "delete", 204)
    }

    @Test("An editor's key is one of those that reading needs")
    func keys() async throws {
        let document = try await document(["POI_API_KEYS": "a-key-for-reading"])
        let read = try members(document, "paths", "/categories", "get")["security"]
        #expect(read as? [[String: [String]]] == [["key": []], ["editorKey": []]])
        #expect(
            try members(document, "components", "securitySchemes").keys.sorted() == ["editorKey", "key"])
        let open = try await self.document()
        #expect(try members(open, "paths", "/categories", "get")["security"] == nil)
        let tags = try #require(open["tags"] as? [[String: String]])
        #expect(tags.contains { $0["name"] == "editing" })
    }
}
