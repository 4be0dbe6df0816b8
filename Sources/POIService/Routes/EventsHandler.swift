import HTTPServer
import PointsOfInterestAPI

/// `POST /events`: takes a batch of the app's events, and answers once they are stored for good.
struct EventsHandler: HTTPHandler {
    let store: any EventStore
    let catalog: EventCatalog
    let admission: EventAdmission
    let ignoredParameters: [ParameterPattern]
    let decompression: RequestDecompression
    let observability: Observability

    private static let offer = MediaTypeOffer([MediaType.json])
    private static let unsupportedMediaType = HTTPError(
        .unsupportedMediaType, .unsupportedMediaType, "Events come as \(MediaType.json).",
        headers: [.accept: MediaType.json])
    private static let fields: HTTPHeaders = [.contentType: MediaType.json, .cacheControl: "no-store"]

    func respond(to request: HTTPRequest, context: RequestContext) async throws -> HTTPResponse {
        guard Self.offer.choice(for: request.headers) != nil else {
            throw HTTPError.notAcceptable("The answer comes as \(MediaType.json).")
        }
        try EventsRequest.decode(query: (request.query ?? "").utf8, ignoring: ignoredParameters)
        guard request.headers.hasContent(of: MediaType.json) else { throw Self.unsupportedMediaType }
        let answer = try await take(try body(of: request, context))
        return HTTPResponse(.ok, headers: Self.fields, body: answer.json)
    }

    /// The decompressed body.
    private func body(of request: HTTPRequest, _ context: RequestContext) throws(HTTPError) -> [UInt8] {
        let body = try decompression.body(of: request)
        if body.count > request.body.count { try context.reserveBody(body.count - request.body.count) }
        // There is nothing at this path that could match (RFC 9110 section 13.1.1).
        guard !request.headers.contains(.ifMatch) else { throw .preconditionFailed }
        return body
    }

    private func take(_ body: [UInt8]) async throws -> EventsResponse {
        do {
            let received = try EventsRequest.decode(body: body, catalog: catalog)
            guard !received.isEmpty else { return EventsResponse(accepted: 0, duplicates: 0) }
            let answer = try await store.store(admission.admit(received))
            observability.record(
                .eventsStored(
                    EventCounts(
                        accepted: answer.accepted, duplicates: answer.duplicates,
                        unknownNames: received.count { !$0.isKnown })))
            return answer
        } catch let error as EventsError {
            observability.record(.eventsRefused)
            throw error
        }
    }
}
