import PointsOfInterestServerAPI
import EventLoop
import HTTPServer
import Places
import PointsOfInterestAPI
import Program

/// The OpenAPI 3.1 description of the service, made from the constants of the contract. Names, ranges, codes and paths come
/// from the types that decode requests and encode responses, so they can't differ from the document. The compiler demands a
/// description of each parameter.
struct OpenAPIDocument {
    let vocabulary: FilterVocabulary
    let requiresKey: Bool
    let catalog: EventCatalog
    let eventsRequireKey: Bool
    let limitsRate: Bool
    /// Whether there is anybody who may edit places.
    let hasEditors: Bool
    var takesReports = false
    /// Whether it tells the sums of places.
    var hasDigest = false

    var json: [UInt8] { value.json }

    private var value: JSONValue {
        .object([
            ("openapi", "3.1.0"), ("info", info),
            ("servers", [["url": "/", "description": "This service, below any prefix of a proxy."]]),
            ("tags", .array(tags)), ("paths", .object(paths.map { ($0.template, $0.item) })),
            ("components", components),
        ])
    }

    private var info: JSONValue {
        [
            "title": "Points of Interest", "version": .string(BuildInformation.version),
            "license": ["name": "Apache-2.0", "identifier": "Apache-2.0"],
            "description": .string(
                """
                Places near a coordinate, nearest first by their distance on the WGS 84 ellipsoid.

                Coordinates are in degrees (WGS 84), lengths in metres. A request with a parameter that is unknown, \
                repeated, empty or out of range gets 400, with all faults; no value is changed or ignored in silence. \
                Every error is a problem document (RFC 9457). The contract only grows: expect new members and new \
                categories.

                Every path with `GET` also has `HEAD`, and every path has `OPTIONS`, whose response has `Allow`.
                """),
        ]
    }

    private var tags: [JSONValue] {
        [["name": "places", "description": "Points of interest and their categories."]]
            + (hasEditors ? [["name": "editing", "description": "What editors do to places."]] : [])
            + (takesReports
                ? [["name": "reports", "description": "What people say is wrong with places, or missing."]]
                : [])
            + [
                ["name": "events", "description": "Tracking events, which apps send about their use."],
                ["name": "health", "description": "The state of the server, for load balancers."],
                ["name": "documentation", "description": "Descriptions of the service."],
            ]
    }

    private var components: JSONValue {
        var members: [(String, JSONValue)] = [
            (
                "schemas",
                Self.schemas.with(
                    digestSchemas + eventSchemas + (hasEditors ? editingSchemas : []) + reportSchemas)
            ),
            ("headers", Self.headers.with(hasEditors ? Self.editingHeaders : [])),
            ("responses", Self.problemResponses),
        ]
        let schemes = Key.allCases.filter(requires).map { key in (key.rawValue, Self.securityScheme(key)) }
        if !schemes.isEmpty { members.append(("securitySchemes", .object(schemes))) }
        return .object(members)
    }

    /// The keys that an operation may need.
    enum Key: String, CaseIterable {
        case data = "key"
        case events = "eventsKey"
        case editing = "editorKey"
    }

    func requires(_ key: Key) -> Bool {
        switch key {
        case .data: requiresKey
        case .events: eventsRequireKey
        case .editing: hasEditors
        }
    }

    /// The keys of which an operation needs one: an editor's is good for reading, too.
    func keys(for operation: Operation) -> [Key] {
        guard let key = operation.key, requires(key) else { return [] }
        return key == .data && hasEditors ? [.data, .editing] : [key]
    }

    private static func securityScheme(_ key: Key) -> JSONValue {
        let purpose =
            switch key {
            case .data: "reading places"
            case .events: "sending events"
            case .editing: "editing places"
            }
        return [
            "type": "http", "scheme": "bearer",
            "description": .string("A key for \(purpose), from the service's operator (RFC 6750)."),
        ]
    }
}

/// `GET /openapi.json`: the service's description. It is made again when the vocabulary has changed.
final class OpenAPIHandler: HTTPHandler {
    private let store: any PlaceStore
    private let cachePolicy: CachePolicy
    private let describe: (FilterVocabulary) -> OpenAPIDocument
    /// The latest document, and the vocabulary that it was made for.
    private var latest: (vocabulary: FilterVocabulary, document: StaticDocument)?

    init(
        store: any PlaceStore, cachePolicy: CachePolicy,
        describe: @escaping (FilterVocabulary) -> OpenAPIDocument
    ) {
        self.store = store
        self.cachePolicy = cachePolicy
        self.describe = describe
    }

    func respond(to request: HTTPRequest, context: RequestContext) throws -> NowOrLaterResponse {
        switch try store.currentVocabulary() {
        case .now(let vocabulary):
            return .now(try document(for: vocabulary).response(to: request, context: context))
        case .later(let read):
            // Each loop keeps the names that it has read last, which differ: one tag would be two documents.
            return .later { [self] in
                let vocabulary: FilterVocabulary
                do {
                    vocabulary = try await read()
                } catch {
                    guard let known = store.vocabulary else { throw error }
                    vocabulary = known
                }
                return try document(for: vocabulary).response(to: request, context: context)
            }
        }
    }

    private func document(for vocabulary: FilterVocabulary) -> StaticDocument {
        if let latest, latest.vocabulary == vocabulary { return latest.document }
        let document = StaticDocument([.json(describe(vocabulary).json)], cacheControl: cachePolicy.documents)
        latest = (vocabulary, document)
        return document
    }
}

/// Functions that put documents together from parts. Responses with data are written by `JSONWriter` alone.
extension JSONValue {
    var json: [UInt8] {
        var writer = JSONWriter(capacity: 64 * 1024)
        writer.value(self)
        return writer.bytes
    }

    /// The object with more members behind its own; where two have one name, the later one counts.
    func with(_ members: [(String, JSONValue)]) -> JSONValue {
        guard case .object(var object) = self else { return self }
        object.append(members)
        return .object(object)
    }

    static func object(_ members: [(String, JSONValue)]) -> JSONValue { .object(Object(members)) }

    static func strings(_ strings: some Sequence<String>) -> JSONValue {
        .array(strings.map { .string($0) })
    }
}
