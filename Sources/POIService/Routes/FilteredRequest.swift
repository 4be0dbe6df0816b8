import HTTPServer
import PointsOfInterestAPI

/// A request with a filter, so that decoding it may need the vocabulary.
protocol FilteredRequest {
    /// Whether its filter has names that the vocabulary has to have.
    var hasNames: Bool { get }

    static func decode(
        query: UnsafeBufferPointer<UInt8>, ignoring: [ParameterPattern],
        vocabulary: @autoclosure () -> FilterVocabulary?
    ) throws(ParameterError) -> Self
}

extension NearbyPlacesRequest: FilteredRequest {
    var hasNames: Bool { filter.hasNames }
}

extension ClustersRequest: FilteredRequest {
    var hasNames: Bool { filter.hasNames }
}

extension PlaceStore {
    /// Whether a request is worth decoding at once: it would be decoded again if it has to wait.
    func mayRespondAtOnce(to request: HTTPRequest) -> Bool {
        respondsAtOnce || currentDatasetID != nil && request.headers.contains(.ifNoneMatch)
    }

    /// Decodes with the names that are known; nil where one that isn't among them may be new, so that they have to be
    /// read again.
    func decodeAtOnce<Query: FilteredRequest>(
        _ request: HTTPRequest, ignoring ignored: [ParameterPattern]
    ) throws -> Query? {
        do {
            let query: Query = try decode(request, ignoring: ignored, vocabulary)
            return query.hasNames && vocabulary == nil ? nil : query
        } catch let error as ParameterError {
            if error.faults.contains(where: \.isUnknownName) { return nil }
            throw error
        }
    }

    func decode<Query: FilteredRequest>(
        _ request: HTTPRequest, ignoring ignored: [ParameterPattern]
    ) async throws -> Query {
        // Where places are in memory, so are the current names.
        if !respondsAtOnce, let query: Query = try decodeAtOnce(request, ignoring: ignored) { return query }
        let vocabulary = try await currentVocabulary()
        return try decode(request, ignoring: ignored, vocabulary)
    }

    private func decode<Query: FilteredRequest>(
        _ request: HTTPRequest, ignoring ignored: [ParameterPattern],
        _ vocabulary: @autoclosure () -> FilterVocabulary?
    ) throws -> Query {
        try request.withQuery { query in
            try Query.decode(
                query: query.assumingMemoryBound(to: UInt8.self), ignoring: ignored, vocabulary: vocabulary())
        }
    }
}
