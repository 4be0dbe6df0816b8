import HTTPServer
import PointsOfInterestAPI

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
