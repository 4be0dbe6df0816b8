import HTTPServer
import PointsOfInterestAPI

/// `GET /openapi.json`: what the service does, for programs; written anew when the vocabulary has grown.
final class OpenAPIHandler: HTTPHandler {
    private struct Written {
        let vocabulary: CategoryVocabulary
        let body: [UInt8]
        let tag: EntityTag
    }

    private let store: any LocationStore
    private let cacheControl: String
    private let requiresKey: Bool
    private let limitsRate: Bool
    private var written: Written?

    init(store: any LocationStore, cachePolicy: CachePolicy, requiresKey: Bool, limitsRate: Bool) {
        self.store = store
        cacheControl = cachePolicy.documents
        self.requiresKey = requiresKey
        self.limitsRate = limitsRate
    }

    private static let offer = MediaTypeOffer([MediaType.json])

    func respond(to request: HTTPRequest, context: RequestContext) async throws -> HTTPResponse {
        guard Self.offer.choice(for: request.headers) != nil else {
            throw HTTPError.notAcceptable("The description comes as \(MediaType.json).")
        }
        let document = document(for: try await vocabulary())
        var headers: HTTPHeaders = [.cacheControl: cacheControl, .eTag: document.tag.fieldValue]
        if request.headers.ifNoneMatchNames(document.tag) {
            return HTTPResponse(.notModified, headers: headers)
        }
        headers.add(.contentType, MediaType.json)
        return HTTPResponse(.ok, headers: headers, body: document.body)
    }

    private func vocabulary() async throws(LocationStoreError) -> CategoryVocabulary {
        if let vocabulary = store.vocabulary { return vocabulary }
        return try await store.currentVocabulary()
    }

    private func document(for vocabulary: CategoryVocabulary) -> Written {
        if let written, written.vocabulary == vocabulary { return written }
        let body = OpenAPIDocument(
            vocabulary: vocabulary, requiresKey: requiresKey, limitsRate: limitsRate
        ).json
        let written = Written(
            vocabulary: vocabulary, body: body, tag: EntityTag(hash: StableHash.hash(body)))
        self.written = written
        return written
    }
}
