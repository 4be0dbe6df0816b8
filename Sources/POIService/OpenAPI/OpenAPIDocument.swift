import HTTPServer
import PointsOfInterestAPI

/// The OpenAPI 3.1 description of the service, made of the contract's own constants.
///
/// Names, ranges, codes and paths come from the types that decode requests and encode answers: what they
/// don't know isn't in the document, and the compiler asks for a description of each parameter they have.
struct OpenAPIDocument {
    /// The contract's version: additions raise the second number.
    static let version = "0.1.0"

    /// The categories that a request may name.
    let vocabulary: CategoryVocabulary
    /// Whether places are for holders of a key only.
    let requiresKey: Bool
    /// Which events there are.
    let catalog: EventCatalog
    /// Whether events are taken of holders of a key only.
    let eventsRequireKey: Bool
    /// Whether a client may ask only so often.
    let limitsRate: Bool

    /// The document in bytes.
    var json: [UInt8] { value.json }

    private var value: JSONValue {
        .object([
            ("openapi", "3.1.0"),
            ("info", info),
            ("servers", [["url": "/", "description": "This service, below any prefix of a proxy."]]),
            ("tags", Self.tags),
            ("paths", .object(paths.map { ($0.template, $0.item) })),
            ("components", components),
        ])
    }

    private var info: JSONValue {
        [
            "title": "Points of Interest",
            "version": .string(Self.version),
            "license": ["name": "Apache-2.0", "identifier": "Apache-2.0"],
            "description": .string(
                """
                Places around a position, nearest first by the geodesic on the WGS 84 ellipsoid.

                Degrees are WGS 84, lengths metres. A parameter that is unknown, repeated, empty or out of range \
                is refused with 400 and every fault named; nothing is clamped or ignored in silence. Every \
                error is a problem document (RFC 9457). The contract grows by additions only: expect new members \
                and new categories.

                Every path that has `GET` answers `HEAD` likewise, without the body, and `OPTIONS` with `Allow`.
                """),
        ]
    }

    private static let tags: JSONValue = [
        ["name": "places", "description": "Points of interest and their categories."],
        ["name": "events", "description": "What apps tell of their use."],
        ["name": "health", "description": "What a load balancer asks."],
        ["name": "documentation", "description": "The service, described by itself."],
    ]

    private var components: JSONValue {
        var members: [(String, JSONValue)] = [
            ("schemas", Self.schemas.with(eventSchemas)),
            ("headers", Self.headers),
            ("responses", Self.problemResponses),
        ]
        let schemes = Key.allCases.filter(requires).map { key in (key.rawValue, Self.securityScheme(key)) }
        if !schemes.isEmpty { members.append(("securitySchemes", .object(schemes))) }
        return .object(members)
    }

    /// Whose keys open an operation.
    enum Key: String, CaseIterable {
        case data = "key"
        case events = "eventsKey"
    }

    /// Whether the service is set to ask for such a key.
    func requires(_ key: Key) -> Bool {
        switch key {
        case .data: requiresKey
        case .events: eventsRequireKey
        }
    }

    private static func securityScheme(_ key: Key) -> JSONValue {
        let purpose = key == .data ? "reading places" : "sending events"
        return [
            "type": "http", "scheme": "bearer",
            "description": .string("A key of the service's operator for \(purpose) (RFC 6750)."),
        ]
    }
}

/// `GET /openapi.json`: what the service does, for programs; written anew when the vocabulary has grown.
final class OpenAPIHandler: HTTPHandler {
    private let store: any PlaceStore
    private let cachePolicy: CachePolicy
    private let describe: (CategoryVocabulary) -> OpenAPIDocument
    private var written: (vocabulary: CategoryVocabulary, document: StaticDocument)?

    /// - Parameter describe: makes the document for the categories that there are.
    init(
        store: any PlaceStore, cachePolicy: CachePolicy,
        describe: @escaping (CategoryVocabulary) -> OpenAPIDocument
    ) {
        self.store = store
        self.cachePolicy = cachePolicy
        self.describe = describe
    }

    func respond(to request: HTTPRequest, context: RequestContext) async throws -> HTTPResponse {
        try await document(for: vocabulary()).respond(to: request, context: context)
    }

    private func vocabulary() async throws(PlaceStoreError) -> CategoryVocabulary {
        if let vocabulary = store.vocabulary { return vocabulary }
        return try await store.currentVocabulary()
    }

    private func document(for vocabulary: CategoryVocabulary) -> StaticDocument {
        if let written, written.vocabulary == vocabulary { return written.document }
        let document = StaticDocument([.json(describe(vocabulary).json)], cachePolicy: cachePolicy)
        written = (vocabulary, document)
        return document
    }
}
