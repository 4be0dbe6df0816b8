import HTTPServer
import PointsOfInterestAPI

/// `GET /openapi.json`: what the service does, for programs; written anew when the vocabulary has grown.
final class OpenAPIHandler: HTTPHandler {
    private let store: any LocationStore
    private let requiresKey: Bool
    private let limitsRate: Bool
    private var written: (vocabulary: CategoryVocabulary, body: [UInt8])?

    init(store: any LocationStore, requiresKey: Bool, limitsRate: Bool) {
        self.store = store
        self.requiresKey = requiresKey
        self.limitsRate = limitsRate
    }

    func respond(to request: HTTPRequest, context: RequestContext) async throws -> HTTPResponse {
        HTTPResponse(.ok, headers: Self.headers, body: body(for: try await vocabulary()))
    }

    private static let headers: HTTPHeaders = [.contentType: MediaType.json]

    private func vocabulary() async throws(LocationStoreError) -> CategoryVocabulary {
        if let vocabulary = store.vocabulary { return vocabulary }
        return try await store.currentVocabulary()
    }

    private func body(for vocabulary: CategoryVocabulary) -> [UInt8] {
        if let written, written.vocabulary == vocabulary { return written.body }
        let document = OpenAPIDocument(
            vocabulary: vocabulary, requiresKey: requiresKey, limitsRate: limitsRate)
        let body = document.json
        written = (vocabulary, body)
        return body
    }
}
