import EditingAPI
import Foundation
import PointsOfInterestHTTP

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A change of a place as it is sent, with the key by which the service does it once however often it arrives.
///
/// An app keeps it where its outcome isn't known, over a restart, too, for `PlaceEditor.retry(_:)`.
public struct PlaceEdit: Hashable, Sendable, Codable {
    /// What is to be done.
    public enum Action: Hashable, Sendable, Codable {
        /// Makes a place, of a dataset of its own where one is named.
        case create(PlaceDraft, dataset: String?)
        /// Makes a place what the draft says. The place is as the person saw it, here as in the other cases.
        case correct(EditablePlace, to: PlaceDraft)
        /// Shows what the source says of some members.
        case reset(EditablePlace, members: [String])
        /// Removes a place.
        case remove(EditablePlace)
        /// Removes a place that is the same as the one with the other id.
        case merge(EditablePlace, into: Int)
        /// Shows what a place was in one of its versions.
        case restore(EditablePlace, to: Int)
        /// Brings back a removed place: `removal` is the version that its removal has ended, `to` the one to show.
        case bringBack(id: Int, removal: Int, to: Int)
    }

    /// What is to be done.
    public let action: Action
    /// What the service knows it by, for 24 hours.
    public let idempotencyKey: String
    /// When it was made, by the device's clock.
    public let madeAt: Date
    /// The request's body, kept as it was first sent: with another one the service wouldn't know the edit again.
    private let body: String?

    init(_ action: Action, madeAt: Date) {
        self.action = action
        self.madeAt = madeAt
        idempotencyKey = UUID().uuidString.lowercased()
        body = action.body.map { String(decoding: $0.json, as: UTF8.self) }
    }

    /// The place that it changes; nil where it makes one.
    public var placeID: Int? {
        if case .bringBack(let id, _, _) = action { id } else { base?.id }
    }

    /// The place as the person saw it who changed it; nil for a new place, and for one that was removed.
    public var base: EditablePlace? {
        switch action {
        case .create, .bringBack: nil
        case .correct(let place, _), .reset(let place, _), .remove(let place), .merge(let place, _),
            .restore(let place, _):
            place
        }
    }
}

extension PlaceEdit.Action {
    fileprivate var body: JSONValue.Object? {
        switch self {
        case .create(let draft, let dataset): draft.content(in: dataset)
        case .correct(let place, let draft): draft.patch(of: place.draft)
        case .reset(_, let members): ["reset": .array(members.map(JSONValue.string))]
        case .remove: nil
        case .merge(_, let id): ["into": .integer(id)]
        case .restore(_, let version), .bringBack(_, _, let version): ["version": .integer(version)]
        }
    }

    fileprivate var method: String {
        switch self {
        case .create, .merge, .restore, .bringBack: "POST"
        case .correct, .reset: "PATCH"
        case .remove: "DELETE"
        }
    }

    fileprivate var mediaType: String {
        switch self {
        // RFC 7396.
        case .correct, .reset: "application/merge-patch+json"
        default: MediaType.json
        }
    }

    fileprivate var path: String {
        switch self {
        case .create: EndpointPath.locations
        case .correct(let place, _), .reset(let place, _), .remove(let place):
            EndpointPath.location(id: place.id)
        case .merge(let place, _): EndpointPath.merge.replacingOccurrences(of: "{id}", with: "\(place.id)")
        case .restore(let place, _):
            EndpointPath.restore.replacingOccurrences(of: "{id}", with: "\(place.id)")
        case .bringBack(let id, _, _):
            EndpointPath.restore.replacingOccurrences(of: "{id}", with: "\(id)")
        }
    }
}

extension PlaceEdit {
    /// The version that the place must still have; nil for a new place.
    private var expectedVersion: Int? {
        if case .bringBack(_, let removal, _) = action { removal } else { base?.version }
    }

    /// The id of the place whose record the response has; nil where any has it, or none.
    private var resultID: Int? {
        if case .merge(_, let id) = action { id } else { placeID }
    }

    /// Makes the request.
    ///
    /// - Throws: `RequestError.invalidBaseURL`; `.invalidCoordinate` for a draft that is nowhere on Earth.
    func urlRequest(baseURL: URL) throws(RequestError) -> URLRequest {
        switch action {
        case .create(let draft, _), .correct(_, let draft):
            _ = try Coordinate(latitude: draft.latitude, longitude: draft.longitude)
        default: break
        }
        var request = try URLRequest.get(action.path, baseURL: baseURL)
        request.httpMethod = action.method
        request.setValue(idempotencyKey, forHTTPHeaderField: URLRequest.idempotencyField)
        if let expectedVersion { request.setValue("\"\(expectedVersion)\"", forHTTPHeaderField: "If-Match") }
        if let body {
            request.setValue(action.mediaType, forHTTPHeaderField: "Content-Type")
            request.httpBody = Data(body.utf8)
        }
        return request
    }

    /// Reads the record in a response that succeeds; nil where the edit removes the place.
    ///
    /// - Throws: `RequestError` for a response that doesn't say that the edit is done: another server's, or a part of one.
    func record(in response: ServiceResponse) throws(RequestError) -> EditablePlace? {
        do throws(RequestError) {
            if case .remove = action {
                guard response.head.status == 204 else { throw .unexpectedStatus(response.head.status) }
                return nil
            }
            let record = try EditablePlace.decode(body: response.body)
            guard resultID == nil || record.id == resultID else {
                throw EditablePlace.otherPlace(record.id)
            }
            return record
        } catch {
            throw error.judged(by: response)
        }
    }
}

extension EditablePlace {
    /// The error of a response with the record of a place that wasn't asked for.
    static func otherPlace(_ id: Int) -> RequestError {
        .undecodableBody(reason: "the record is that of another place, \(id)")
    }
}
