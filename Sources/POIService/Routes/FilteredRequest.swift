import EventLoop
import HTTPServer
import Places
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
    /// Decodes a request with the vocabulary that is known. If none is known, or a name of the request isn't in it,
    /// decodes it with the current vocabulary.
    ///
    /// - Throws: `ParameterError`; why the database couldn't be read.
    @inline(__always)
    func decode<Query: FilteredRequest>(
        _: Query.Type, from request: HTTPRequest, ignoring ignored: [ParameterPattern]
    ) throws -> NowOrLater<Query, any Error> {
        do {
            let query: Query = try decode(request, ignoring: ignored, vocabulary)
            if !query.hasNames || vocabulary != nil { return .now(query) }
        } catch let error as ParameterError where error.faults.contains(where: \.isUnknownName) {}
        switch try currentVocabulary() {
        case .now(let vocabulary): return .now(try decode(request, ignoring: ignored, vocabulary))
        case .later(let getVocabulary):
            return .later { [self] in
                let vocabulary = try await getVocabulary()
                return try decode(request, ignoring: ignored, vocabulary)
            }
        }
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
