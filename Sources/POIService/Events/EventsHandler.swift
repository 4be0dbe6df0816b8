import Bytes
import Hashing
import HTTPServer
import Places
import PointsOfInterestAPI
import PointsOfInterestServerAPI
import Telemetry

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// `POST /events`: stores a batch of the app's events, and responds once they are durable.
struct EventsHandler: WaitingHandler {
    let store: any EventStore
    let catalog: EventCatalog
    let admission: EventAdmission
    let ignoredParameters: [ParameterPattern]
    let decompression: RequestDecompression
    let observability: Observability

    private static let offer = MediaTypeOffer([MediaType.json])
    private static let unsupportedMediaType = HTTPError(
        .unsupportedMediaType, .unsupportedMediaType, "Events have to be sent as \(MediaType.json).",
        headers: [.accept: MediaType.json])
    private static let fields: HTTPHeaders = [.contentType: MediaType.json, .cacheControl: "no-store"]

    func response(to request: HTTPRequest, context: RequestContext) async throws -> HTTPResponse {
        guard Self.offer.choice(for: request.headers) != nil else {
            throw HTTPError.notAcceptable("The response is available as \(MediaType.json).")
        }
        try NoParameter.refuseAll(of: (request.query ?? "").utf8, ignoring: ignoredParameters)
        guard request.headers.hasContent(of: MediaType.json) else { throw Self.unsupportedMediaType }
        let response = try await take(try body(of: request, context))
        return HTTPResponse(.ok, headers: Self.fields, body: response.json)
    }

    private func body(of request: HTTPRequest, _ context: RequestContext) throws(HTTPError) -> [UInt8] {
        let body = try decompression.body(of: request)
        if body.count > request.body.count { try context.holdMore(body.count - request.body.count) }
        // No representation exists at this path, so none can match (RFC 9110, section 13.1.1).
        guard !request.headers.contains(.ifMatch) else { throw .preconditionFailed }
        return body
    }

    private func take(_ body: [UInt8]) async throws -> EventsResponse {
        do {
            let received = try EventsRequest.decode(body: body, catalog: catalog)
            guard !received.isEmpty else { return EventsResponse(accepted: 0, duplicates: 0) }
            let response = try await store.store(admission.admit(received))
            observability.record(
                .eventsStored(
                    EventCounts(
                        accepted: response.accepted, duplicates: response.duplicates,
                        unknownNames: received.count { !$0.isKnown })))
            return response
        } catch let error as EventsError {
            observability.record(.eventsRefused)
            throw error
        }
    }
}

/// Prepares events for a store. It replaces users' ids by a keyed hash if there is a key, and derives an id for each
/// event that came without one.
struct EventAdmission: Sendable {
    let userIDHash: HMAC?

    private static let emptyObject = ArraySlice("{}".utf8)

    func admit(_ events: [ReceivedEvent]) -> [StoredEvent] {
        // A phone's batch has one or two users, so the hash of the event before can mostly be used again.
        var last: (userID: String, hash: String)?
        func stored(_ userID: String) -> String {
            guard let userIDHash else { return userID }
            if let last, last.userID.hasSameBytes(as: userID) { return last.hash }
            let hash = userIDHash.code(of: userID.utf8).hexadecimal
            last = (userID, hash)
            return hash
        }
        // By their indices, so that no event is copied.
        return events.indices.map { index in
            let userID = stored(events[index].userID)
            // Times are within EventLimits.times, whose microseconds fit into an Int64.
            let time = Int64((events[index].time * 1_000_000).rounded())
            let id =
                events[index].id
                ?? DerivedEventID.id(of: events[index], userID: userID, timeMicroseconds: time)
            return StoredEvent(
                key: StoredEvent.Key(id: id, timeMicroseconds: time), userID: userID,
                name: events[index].name,
                value: events[index].value.isEmpty ? Self.emptyObject : events[index].value,
                isTest: events[index].isTest)
        }
    }
}

/// The id of an event that came without one: a hash of its content, so that it is the same when the event is sent again.
private enum DerivedEventID {
    /// A UUID of version 8 (RFC 9562, section 5.8).
    /// - Parameter userID: the id as it is stored. If that is a keyed hash, nobody without the key can find an event's
    ///   user by trying ids.
    static func id(of event: ReceivedEvent, userID: String, timeMicroseconds: Int64) -> UUID {
        var content = ByteBuffer()
        // Each part comes after its length, so that no two contents are the same bytes.
        for part in [ArraySlice(userID.utf8), ArraySlice(event.name.utf8), event.value] {
            content.append(bigEndian: Int64(part.count))
            content.append(part)
        }
        content.append(bigEndian: timeMicroseconds)
        // Else one with the same content, sent before it as a test, would take an event's place.
        content.append(event.isTest ? 1 : 0)
        var bytes = SHA256.digest(of: content.bytes)
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        return UUID(
            uuid: (
                bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7],
                bytes[8], bytes[9], bytes[10], bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
            ))
    }
}
