import PointsOfInterestServerAPI
import BruteForce
import Foundation
import HTTPServer
import MockService
import Places
import SpatialIndex
@testable import Program
import Testing

@testable import POIService
@testable import PointsOfInterestAPI

/// The service's description of itself, read back as a program would.
@Suite("The OpenAPI document", .timeLimit(.minutes(1)))
struct OpenAPITests {
    private static let vocabulary = FilterVocabulary(
        categories: ["caf\"é\\", "park", "zoo"], datasets: ["\"é\\", "poi-seed-world"],
        properties: FilterableProperties([("open", .boolean), ("a \"b=c", .text)]))

    private func document(
        requiresKey: Bool = false, eventsRequireKey: Bool = false, limitsRate: Bool = false,
        hasEditors: Bool = false, takesReports: Bool = false, hasDigest: Bool = true
    ) throws -> [String: Any] {
        let json = OpenAPIDocument(
            vocabulary: Self.vocabulary, requiresKey: requiresKey, catalog: .builtIn,
            eventsRequireKey: eventsRequireKey, limitsRate: limitsRate, hasEditors: hasEditors,
            takesReports: takesReports, hasDigest: hasDigest
        ).json
        return try #require(try JSONSerialization.jsonObject(with: Data(json)) as? [String: Any])
    }

    /// What a chain of member names leads to.
    private func members(_ document: [String: Any], _ names: String...) throws -> [String: Any] {
        try names.reduce(document) { try #require($0[$1] as? [String: Any], "\($1)") }
    }

    private func parameters(_ path: String) throws -> [[String: Any]] {
        try #require(try members(document(), "paths", path, "get")["parameters"] as? [[String: Any]])
    }

    private func router(_ log: LogFile, hasEditors: Bool, hasDigest: Bool) throws -> HTTPRouter {
        var reader = SettingsReader(
            flags: [:], environment: ["POI_DIGEST_MAX_PLACES": hasDigest ? "1" : "0"])
        var configuration = try ServiceConfiguration(from: &reader, processorCount: 1)
        if hasEditors { configuration.editing.allow(AccessKey(), named: "Ada") }
        return Routes.router(
            store: FixtureStore([]), events: MemoryEventStore(),
            edits: MemoryEditStore(.seed, servedBy: Fixtures.seed.index),
            health: Health(requiresDatabase: false),
            configuration: configuration, limits: EditingLimits(configuration),
            observability: log.observability)
    }

    @Test(
        "The document has exactly the router's routes, but for the start page's files",
        arguments: [false, true], [false, true])
    func routes(hasEditors: Bool, hasDigest: Bool) throws {
        let paths = try members(document(hasEditors: hasEditors, hasDigest: hasDigest), "paths")
        let described = try paths.flatMap { path, item in
            try #require(item as? [String: Any]).keys.map { "\($0.uppercased()) \(path)" }
        }
        let log = try LogFile()
        defer { log.observability.finish() }
        let contract = try router(log, hasEditors: hasEditors, hasDigest: hasDigest).routes
            .filter { $0.template != StartPageFiles.path }
        let routes = contract.flatMap { method, template in
            (method == .get ? ["GET", "HEAD"] : [method.rawValue]).map { "\($0) \(template)" }
        }
        #expect(described.sorted() == routes.sorted())
        #expect(described.contains("PATCH /locations/{id}") == hasEditors)
        #expect(described.contains("GET /locations/digest") == hasDigest)
    }

    @Test("Where no sums are told, the document has no schema of them")
    func digestSchemas() throws {
        for hasDigest in [false, true] {
            let schemas = try members(document(hasDigest: hasDigest), "components", "schemas")
            #expect(schemas.keys.contains { $0.hasPrefix("Digest") } == hasDigest)
        }
    }

    @Test("The document's pattern of buckets is that of the decoder")
    func buckets() throws {
        let described = try #require(
            try parameters("/locations/digest").first { $0["name"] as? String == "bucket" })
        let items = try members(described, "schema", "items")
        let pattern = try Regex(try #require(items["pattern"] as? String))
        for name in [
            "0.0", "63.63", "9.10", "64.0", "0.64", "00.1", "1.01", "1", "1.2.3", "-1.2", "1.", ".1",
        ] {
            #expect((try pattern.wholeMatch(in: name) != nil) == (PlaceDigest.bucket(named: name) != nil))
        }
    }

    @Test("Where people may report, the document has the routes of that, and otherwise nothing of it")
    func reportRoutes() throws {
        func methods(takesReports: Bool, hasEditors: Bool) throws -> [String] {
            try members(document(hasEditors: hasEditors, takesReports: takesReports), "paths").filter {
                $0.key.hasPrefix("/reports")
            }
            .flatMap { path, item in
                try #require(item as? [String: Any]).keys.map { "\($0) \(path)" }
            }.sorted()
        }
        #expect(try methods(takesReports: false, hasEditors: true) == [])
        #expect(try methods(takesReports: true, hasEditors: false) == ["post /reports"])
        #expect(
            try methods(takesReports: true, hasEditors: true) == [
                "delete /reports/{id}", "get /reports", "head /reports", "patch /reports/{id}",
                "post /reports",
            ])
        let report = try members(document(takesReports: true), "components", "schemas", "PlaceReport")
        #expect(report["required"] as? [String] == ["id", "reason"])
        #expect(try members(document(), "components", "schemas")["PlaceReport"] == nil)
    }

    @Test("The document has exactly the query parameters that the requests decode")
    func queryParameters() throws {
        func names(_ path: String) throws -> [String] {
            try parameters(path).filter { $0["in"] as? String == "query" }
                .compactMap { $0["name"] as? String }
        }
        let properties = ["property.a \"b=c", "property.open"]
        #expect(
            try names("/locations")
                == NearbyPlacesRequest.Parameter.allCases.map { $0.name.description } + properties)
        #expect(
            try names("/locations/{id}") == PlaceRequest.Parameter.allCases.map { $0.name.description })
        #expect(
            try names("/locations/clusters")
                == ClustersRequest.Parameter.allCases.map { $0.name.description } + properties)
        // A digest decodes `q` to say that it searches no text.
        #expect(
            try names("/locations/digest")
                == DigestRequest.Parameter.allCases.map { $0.name.description }.filter { $0 != "q" }
                + properties)
        #expect(
            try names("/categories") == CategoriesRequest.Parameter.allCases.map { $0.name.description })
        #expect(try names("/attributions") == [])
    }

    @Test("The document has exactly the members of a place that are written, in JSON and in GeoJSON")
    func placeMembers() throws {
        let place = PointOfInterest(
            id: 1, name: "a", category: "b", latitude: 1, longitude: 2, featured: true, distance: 3,
            address: "c", website: "https://d.example",
            source: .init(dataset: "e", id: "f", license: "g"), importance: 1, properties: ["h": 1],
            language: "en", matchedName: "i", leftOut: "k", categoryLabel: "l",
            mergedFrom: [4],
            operatingStatus: .temporarilyClosed,
            version: 5,
            updatedAt: Date(timeIntervalSince1970: 6))
        var record: [UInt8] = []
        let stored = StoredPlace(place, names: ["en": "j"], otherNames: ["i"])
        #expect(PlaceRecord.encode(stored.fields, into: &record))
        for field in Mirror(reflecting: place).children {
            let optional = Mirror(reflecting: field.value)
            #expect(
                optional.displayStyle != .optional || optional.children.count == 1, "\(field.label ?? "")")
        }
        func written(_ form: PlacesForm) throws -> [[String: Any]] {
            // No response has all members: what is found by a name isn't asked for by an id.
            try [true, false].map { isFound in
                var writer = JSONWriter()
                let style = PlaceStyle(ofDetails: form, languages: ["en"])
                record.withRecord { record in
                    var additions = PlaceAdditions(categoryLabel: Array("l".utf8))
                    if isFound {
                        (additions.matchedNames, additions.leftOut) = ([2], Array("k".utf8))
                    } else {
                        additions.mergedFrom = [4]
                    }
                    style.write(record, distance: 3, additions, to: &writer)
                }
                return try #require(
                    try JSONSerialization.jsonObject(with: Data(writer.bytes)) as? [String: Any])
            }
        }
        func names(_ objects: [[String: Any]]) -> [String] { Set(objects.flatMap(\.keys)).sorted() }
        let (json, features) = (try written(.json), try written(.geoJSON))
        let schemas = try members(document(), "components", "schemas")
        #expect(
            try members(schemas, "PointOfInterest", "properties").keys.sorted() == names(json))
        #expect(
            try members(schemas, "Feature", "properties", "properties", "properties").keys.sorted()
                == names(features.map { try members($0, "properties") }))
    }

    @Test("The document has the code of every problem, in its schema and under its status")
    func problemCodes() throws {
        let codes = ProblemCode.definitions.keys.map(\.rawValue).sorted()
        let schema = try members(document(), "components", "schemas", "ProblemCode")
        #expect(schema["enum"] as? [String] == codes)
        let responses = try members(document(), "components", "responses")
        for (code, definition) in ProblemCode.definitions {
            let content = try members(
                responses, "Problem\(definition.status)", "content", "application/problem+json", "schema")
            let parts = try #require(content["allOf"] as? [[String: Any]])
            let own = try members(try #require(parts.last), "properties", "code")
            #expect((own["enum"] as? [String])?.contains(code.rawValue) == true, "\(code.rawValue)")
        }
    }

    @Test("The document's bounds of filters by properties are those of the decoder")
    func propertyBounds() throws {
        for (name, encodedName) in [("a \"b=c", "a%20%22b%3Dc"), ("open", "open")] {
            let described = try #require(
                try parameters("/locations").first { $0["name"] as? String == "property.\(name)" })
            let schema = try members(described, "schema")
            let items = try Example.all(of: members(schema, "items"))
            #expect(items.contains { $0.isValid } && items.contains { !$0.isValid })
            let maximum = try #require(schema["maxItems"] as? Int)
            let valid = try #require(items.first { $0.isValid })
            let lists = [maximum, maximum + 1].map { count in
                Example(
                    value: Array(repeating: valid.value, count: count).joined(separator: ","),
                    isValid: count == maximum)
            }
            for example in items + lists {
                let query = "lat=0&long=0&property.\(encodedName)=\(example.value)"
                let isAccepted =
                    (try? NearbyPlacesRequest.decode(query: query.utf8, vocabulary: Self.vocabulary)) != nil
                #expect(isAccepted == example.isValid, "\(query)")
            }
        }
    }

    @Test("The document's bounds are those of the decoder", arguments: NearbyPlacesRequest.Parameter.allCases)
    func bounds(parameter: NearbyPlacesRequest.Parameter) throws {
        let described = try #require(
            try parameters("/locations").first { $0["name"] as? String == parameter.name.description })
        let examples = try Example.all(of: members(described, "schema"))
        #expect(examples.contains { $0.isValid })
        for example in examples {
            #expect(
                isAccepted(example.value, as: parameter) == example.isValid,
                "\(parameter.name)=\(example.value)")
        }
    }

    private func isAccepted(_ value: String, as parameter: NearbyPlacesRequest.Parameter) -> Bool {
        var values: [NearbyPlacesRequest.Parameter: String] =
            parameter == .bbox ? [:] : [.lat: "0", .long: "0"]
        if [.sort, .near].contains(parameter) { (values[.filter(.q)], values[.sort]) = ("a", "relevance") }
        values[parameter] = value
        var query = QueryWriter()
        // No value has a comma of its own.
        for (parameter, value) in values { query.add(parameter.name, value.components(separatedBy: ",")) }
        return (try? NearbyPlacesRequest.decode(query: query.text.utf8, vocabulary: Self.vocabulary)) != nil
    }

    @Test("A cursor matches the document's pattern")
    func cursor() throws {
        let center = try Coordinate(latitude: 1, longitude: 2)
        let request = NearbyPlacesRequest(center: center)
        let cursor = PageCursor(PagePosition(distanceMeters: 1, id: .max, count: 20), in: request)
        let described = try #require(try parameters("/locations").first { $0["name"] as? String == "cursor" })
        let pattern = try #require(members(described, "schema")["pattern"] as? String)
        #expect(try Regex(pattern).wholeMatch(in: cursor.rawValue) != nil)
        #expect(try Regex(pattern).wholeMatch(in: cursor.rawValue + "A") == nil)
        let byRelevance = NearbyPlacesRequest(searchText: "a")
        let rank = RelevanceRank(.error, importance: 0)
        let longer = PageCursor(
            PagePosition(rank: rank, distanceMeters: 1, id: .max, count: 20), in: byRelevance)
        #expect(try Regex(pattern).wholeMatch(in: longer.rawValue) != nil)
        #expect(try Regex(pattern).wholeMatch(in: longer.rawValue + "A") == nil)
    }

    @Test(
        "The document has keys and rate limits only if they are configured",
        arguments: [false, true])
    func settings(isSet: Bool) throws {
        let document = try document(requiresKey: isSet, limitsRate: isSet)
        let schemes = try members(document, "components")["securitySchemes"]
        #expect((schemes != nil) == isSet)
        let get = try members(document, "paths", "/locations", "get")
        #expect((get["security"] != nil) == isSet)
        let statuses = Set(try members(get, "responses").keys)
        for status in ["401", "429"] { #expect(statuses.contains(status) == isSet) }
        #expect(try members(document, "paths", "/livez", "get")["security"] == nil)
        // Events have keys of their own.
        let post = try members(document, "paths", "/events", "post")
        #expect(post["security"] == nil)
        let closed = try self.document(eventsRequireKey: isSet)
        let security = try members(closed, "paths", "/events", "post")["security"] as? [[String: [String]]]
        #expect(security == (isSet ? [["eventsKey": []]] : nil))
        #expect(try members(closed, "paths", "/locations", "get")["security"] == nil)
    }

    @Test("The document describes every defined event with its parameters")
    func events() throws {
        let event = try members(document(), "components", "schemas", "TrackedEvent", "properties", "event")
        let contents = try #require(event["anyOf"] as? [[String: Any]])
        for definition in EventCatalog.builtIn.definitions {
            let described = try #require(
                try contents.first {
                    try members($0, "properties", "name")["const"] as? String == definition.name
                })
            let value = try members(described, "properties", "value", "properties")
            #expect(Set(value.keys) == Set(definition.parameters.map(\.name)))
        }
        // And one more, of names that it doesn't know.
        #expect(contents.count == EventCatalog.builtIn.definitions.count + 1)
    }

    @Test("Every reference in the document resolves", arguments: [false, true])
    func references(hasEditors: Bool) throws {
        let document = try document(hasEditors: hasEditors)
        var references: [String] = []
        func collect(_ value: Any) {
            if let object = value as? [String: Any] {
                if let reference = object["$ref"] as? String { references.append(reference) }
                for member in object.values { collect(member) }
            } else if let array = value as? [Any] {
                for element in array { collect(element) }
            }
        }
        collect(document)
        #expect(references.count > 20)
        for reference in Set(references) {
            let names = reference.split(separator: "/").dropFirst().map(String.init)
            _ = try names.reduce(document) { try #require($0[$1] as? [String: Any], "\(reference)") }
        }
    }

    @Test("The document has the names of now where they can be read, and else those that were read last")
    func freshVocabulary() async throws {
        let store = StubStore()
        store.vocabulary = FilterVocabulary(categories: ["park"])
        store.freshVocabulary = FilterVocabulary(categories: ["park", "zoo"])
        let site = try ServiceSite(store)
        #expect(try await site.ask("/openapi.json").text.contains(#""enum":["park","zoo"]"#))
        store.vocabularyError = .busy
        #expect(try await site.ask("/openapi.json").text.contains(#""enum":["park"]"#))
        store.vocabulary = nil
        #expect(try await site.ask("/openapi.json").status == .serviceUnavailable)
    }

    @Test("The document and its tag follow the store's vocabulary")
    func vocabulary() async throws {
        let store = StubStore()
        store.vocabulary = FilterVocabulary(categories: ["park"])
        let site = try ServiceSite(store)
        let first = try await site.ask("/openapi.json")
        #expect(first.status == .ok)
        #expect(first.headers.first(.contentType) == "application/json")
        #expect(first.text.contains(#""enum":["park"]"#))
        let tag = try #require(first.headers.first(.eTag))
        let again = try await site.ask("/openapi.json", headers: [.ifNoneMatch: tag])
        #expect(again.status == .notModified)
        #expect(again.headers.first(.eTag) == tag)

        store.vocabulary = FilterVocabulary(categories: ["park", "quay"])
        let second = try await site.ask("/openapi.json", headers: [.ifNoneMatch: tag])
        #expect(second.status == .ok)
        #expect(second.text.contains(#""enum":["park","quay"]"#))
        // Any list of values has at least one.
        #expect(!second.text.contains(#""enum":[]"#))

        store.vocabulary = FilterVocabulary(categories: ["park"], datasets: ["Trees, Berlin"])
        #expect(try await site.ask("/openapi.json").text.contains(#""enum":["Trees, Berlin"]"#))

        store.vocabulary = FilterVocabulary(
            categories: ["park"], properties: FilterableProperties([("open", .boolean)]))
        #expect(try await site.ask("/openapi.json").text.contains(#""name":"property.open","in":"query""#))
    }

    @Test("A client that doesn't accept JSON gets a 406 instead of the document")
    func notAcceptable() async throws {
        let problem = try await ServiceSite(StubStore()).problem(
            "/openapi.json", headers: [.accept: "text/html"])
        #expect(problem.code == .notAcceptable)
    }
}

/// A value at a bound of a parameter's schema or just outside.
private struct Example {
    let value: String
    let isValid: Bool

    static func all(of schema: [String: Any]) throws -> [Example] {
        if let names = schema["enum"] as? [String] {
            return valid(names) + invalid(names.map { $0 + "x" } + names.map { $0.uppercased() })
        }
        return switch schema["type"] as? String {
        case "number", "integer": try numbers(schema)
        case "boolean": valid(["true", "false"]) + invalid(["1", "TRUE", "null"])
        case "array" where schema["prefixItems"] != nil: try boxes(schema)
        case "array": try lists(schema)
        default: try texts(schema)
        }
    }

    private static func valid(_ values: [String]) -> [Example] {
        values.map { Example(value: $0, isValid: true) }
    }

    private static func invalid(_ values: [String]) -> [Example] {
        values.map { Example(value: $0, isValid: false) }
    }

    private static func numbers(_ schema: [String: Any]) throws -> [Example] {
        let step = schema["type"] as? String == "integer" ? 1 : 0.001
        let greatest = try #require(schema["maximum"] as? Double)
        let upper = valid([shown(greatest)]) + invalid([shown(greatest + step)])
        if let least = schema["minimum"] as? Double {
            return upper + valid([shown(least)]) + invalid([shown(least - step)])
        }
        let bound = try #require(schema["exclusiveMinimum"] as? Double)
        return upper + valid([shown(bound + step)]) + invalid([shown(bound)])
    }

    private static func boxes(_ schema: [String: Any]) throws -> [Example] {
        let edges = try #require(schema["prefixItems"] as? [[String: Any]])
        let whole = ["-180", "-90", "180", "90"]
        let examples = try edges.enumerated().flatMap { index, edge in
            try numbers(edge).map { example in
                var box = whole
                box[index] = example.value
                return Example(value: box.joined(separator: ","), isValid: example.isValid)
            }
        }
        let count = try #require(schema["minItems"] as? Int)
        #expect(count == schema["maxItems"] as? Int)
        let edge = whole[0]
        return examples
            + invalid(
                [count - 1, count + 1].map { [String](repeating: edge, count: $0).joined(separator: ",") })
    }

    private static func lists(_ schema: [String: Any]) throws -> [Example] {
        let items = try #require(schema["items"] as? [String: Any])
        // What isn't a name is an id.
        let areIDs = items["format"] as? String == "int64" && items["minimum"] as? Int == 1
        // Any text may be the name of a property.
        let areFree = items["minLength"] as? Int == 1
        let areTags = items["maxLength"] as? Int == 35
        let names =
            try areIDs
            ? ["1", "9223372036854775807"]
            : areFree
                ? ["a", "b c"] : areTags ? ["en", "zh-Hant-TW"] : #require(items["enum"] as? [String])
        let greatest = try #require(schema["maxItems"] as? Int)
        func list(_ count: Int) -> String {
            [String](repeating: names[0], count: count).joined(separator: ",")
        }
        return valid(names + [list(greatest)]) + invalid(["", "a,", list(greatest + 1)])
            + (areFree || areTags ? [] : invalid([names[0] + "x"]))
            + invalid(areTags ? ["en_US", "*", "en" + String(repeating: "-a", count: 17)] : [])
            + invalid(areIDs ? ["0", "9223372036854775808"] : [])
    }

    private static func texts(_ schema: [String: Any]) throws -> [Example] {
        guard let least = schema["minLength"] as? Int, let greatest = schema["maxLength"] as? Int else {
            // A cursor: one that looks right, but isn't the query's, has a test of its own.
            return invalid(["", "A", "*"]) + validCursor()
        }
        func text(_ count: Int) -> String { String(repeating: "é", count: count) }
        return valid([text(least), text(greatest)]) + invalid([text(least - 1), text(greatest + 1), "\0"])
    }

    private static func validCursor() -> [Example] {
        guard let center = try? Coordinate(latitude: 0, longitude: 0) else { return [] }
        let end = PagePosition(distanceMeters: 1, id: 1, count: 1)
        return valid([PageCursor(end, in: NearbyPlacesRequest(center: center)).rawValue])
    }

    private static func shown(_ number: Double) -> String {
        number == number.rounded() ? "\(Int(number))" : "\(number)"
    }
}
