import EditingAPI
import Foundation
import Locking
import PointsOfInterestEditing
import PointsOfInterestTesting

@testable import PointsOfInterestAPI
@testable import PointsOfInterestHTTP

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A service with editors, in memory: it keeps records and versions, checks `If-Match`, and does an edit with a key once.
final class StandInService: Sendable {
    /// What goes wrong with a request that changes something.
    enum Fault: Sendable {
        /// It arrives, and is done; the response is lost.
        case responseLost
        /// It doesn't arrive, for this reason.
        case failed(URLError.Code)
        /// It arrives, and is done; the response is this one.
        case replaced(status: Int, contentType: String, body: String)
        /// It isn't done; the response is this one.
        case refused(ServiceResponse)
        /// It is done, and there is never a response.
        case silent
    }

    fileprivate struct State {
        var records: [Int: EditablePlace] = [:]
        var merged: [Int: Int] = [:]
        var removed: [Int: EditablePlace] = [:]
        var done: [String: (request: String, response: ServiceResponse)] = [:]
        var nextVersion = 1_000
        var faults: [Fault] = []
        var requests: [URLRequest] = []
        /// What servers respond to reads that don't know the edits.
        var readBody: (@Sendable (URLRequest) -> ServiceResponse)?
    }

    private let state: Lock<State>
    let baseURL = AppConfiguration.mock.baseURL

    init(_ records: [EditablePlace] = [.test()]) {
        var state = State()
        for record in records { state.records[record.id] = record }
        self.state = Lock(state)
    }

    var requests: [URLRequest] { state.withLock { $0.requests } }
    /// The requests that change something.
    var writes: [URLRequest] { requests.filter { $0.httpMethod != "GET" } }
    func record(_ id: Int) -> EditablePlace? { state.withLock { $0.records[id] } }
    var recordCount: Int { state.withLock { $0.records.count } }

    /// Has these faults with the next requests that change something.
    func fail(_ faults: Fault...) { state.withLock { $0.faults += faults } }

    /// Has no more faults.
    func recover() { state.withLock { $0.faults = [] } }

    /// Somebody else changes a place.
    func change(_ id: Int, _ change: (inout PlaceDraft) -> Void) {
        state.withLock { state in
            guard let record = state.records[id] else { return }
            var draft = record.draft
            change(&draft)
            state.set(record, draft)
        }
    }

    /// Somebody else merges a place, or removes it.
    func remove(_ id: Int, mergedInto other: Int? = nil) {
        state.withLock { state in
            state.removed[id] = state.records.removeValue(forKey: id)
            state.merged[id] = other
        }
    }

    /// Responds to what isn't about editing.
    func read(_ respond: @escaping @Sendable (URLRequest) -> ServiceResponse) {
        state.withLock { $0.readBody = respond }
    }

    /// A client of this service.
    func service(
        retryPolicy: RetryPolicy = RetryPolicy(firstPause: .zero, refusalPeriod: .zero),
        timeLimits: TimeLimits = TimeLimits(), clock: any Clock<Duration> = HeldClock(),
        responseStore: ResponseStore? = ResponseStore(), headers: HeaderProvider? = nil,
        events: AsyncStream<MockURLProtocol.Event>.Continuation? = nil
    ) -> PointsOfInterestService {
        let events = events ?? AsyncStream<MockURLProtocol.Event>.makeStream().continuation
        return PointsOfInterestService(
            baseURL: baseURL,
            urlSession: MockURLProtocol.session(events: events) { try self.respond(to: $0) },
            responseStore: responseStore, retryPolicy: retryPolicy, timeLimits: timeLimits, clock: clock,
            headers: headers)
    }

    private func respond(to request: URLRequest) throws -> MockURLProtocol.Outcome {
        let response: ServiceResponse? = try state.withLock { state in
            state.requests.append(request)
            guard request.httpMethod != "GET" else { return try state.response(to: request) }
            switch state.faults.isEmpty ? nil : state.faults.removeFirst() {
            case nil: return try state.response(to: request)
            case .responseLost:
                _ = try state.response(to: request)
                throw URLError(.networkConnectionLost)
            case .failed(let code): throw URLError(code)
            case .replaced(let status, let contentType, let body):
                _ = try state.response(to: request)
                return .test(status, body, contentType: contentType)
            case .refused(let response): return response
            case .silent:
                _ = try state.response(to: request)
                return nil
            }
        }
        guard let response, let url = request.url else { return .nothing }
        guard
            let head = HTTPURLResponse(
                url: url, statusCode: response.head.status, httpVersion: "HTTP/1.1",
                headerFields: ["Content-Type", "ETag", "Link", "Cache-Control"].reduce(into: [:]) {
                    $0[$1] = response.head.value(forField: $1)
                })
        else { throw URLError(.badServerResponse) }
        return .response(head, response.body)
    }
}

extension StandInService.State {
    mutating func set(_ record: EditablePlace, _ draft: PlaceDraft) {
        nextVersion += 1
        records[record.id] = EditablePlace(
            id: record.id, version: nextVersion, updatedAt: record.updatedAt, draft: draft)
    }

    mutating func response(to request: URLRequest) throws -> ServiceResponse {
        let parts = request.url?.path.split(separator: "/").map(String.init) ?? []
        if request.httpMethod == "GET" {
            if parts.count == 3, parts[2] == "record", let id = Int(parts[1]) { return record(of: id) }
            return readBody?(request) ?? .problem(Problem(.unknownPath))
        }
        let key = request.value(forHTTPHeaderField: "Idempotency-Key") ?? ""
        let identity = [
            request.httpMethod ?? "", request.url?.path ?? "",
            String(decoding: request.httpBody ?? Data(), as: UTF8.self),
        ].joined(separator: " ")
        if let known = done[key] {
            return known.request == identity ? known.response : .problem(Problem(.idempotencyKeyReused))
        }
        let response = try changed(parts, request)
        done[key] = (identity, response)
        return response
    }

    private func record(of id: Int) -> ServiceResponse {
        if let into = merged[id] { return .problem(Problem(.merged, mergedInto: into)) }
        if removed[id] != nil { return .problem(Problem(.gone)) }
        return records[id].map { .record($0) } ?? .problem(Problem(.notFound))
    }

    private mutating func changed(_ parts: [String], _ request: URLRequest) throws -> ServiceResponse {
        guard parts.count > 1, let id = Int(parts[1]) else {
            let draft = try JSONDecoder().decode(PlaceDraft.self, from: request.httpBody ?? Data())
            let id = (records.keys.max() ?? 0) + 1
            set(.test(id: id), draft)
            return records[id].map { .record($0, status: 201) } ?? .problem(Problem(.notFound))
        }
        let tag = request.value(forHTTPHeaderField: "If-Match")
        if parts.last == "restore", let place = removed[id] {
            guard tag == "\"\(place.version)\"" else { return .problem(Problem(.preconditionFailed)) }
            (removed[id], merged[id]) = (nil, nil)
            set(place, place.draft)
            return record(of: id)
        }
        guard let place = records[id] else { return record(of: id) }
        guard let tag else { return .problem(Problem(.preconditionRequired)) }
        guard tag == "\"\(place.version)\"" else { return .problem(Problem(.preconditionFailed)) }
        let body = try JSONDecoder().decode(JSONValue?.self, from: request.httpBody ?? Data("null".utf8))
        switch (request.httpMethod, parts.last) {
        case ("DELETE", _):
            removed[id] = records.removeValue(forKey: id)
            return ServiceResponse(head: ResponseHead(status: 204))
        case (_, "merge"):
            guard case .object(let object)? = body, let into = object["into"]?.wholeNumber,
                let survivor = records[into]
            else { return .problem(Problem(.notFound)) }
            removed[id] = records.removeValue(forKey: id)
            merged[id] = into
            var draft = survivor.draft
            draft.address = draft.address ?? place.draft.address
            set(survivor, draft)
            return record(of: into)
        case ("PATCH", _):
            let old = try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(place.draft))
            let new = old.merged(with: body ?? .null)
            set(place, try JSONDecoder().decode(PlaceDraft.self, from: JSONEncoder().encode(new)))
            return record(of: id)
        default:
            set(place, place.draft)
            return record(of: id)
        }
    }
}

extension JSONValue {
    /// `MergePatch` of RFC 7396, section 2.
    func merged(with patch: JSONValue) -> JSONValue {
        guard case .object(let changes) = patch else { return patch }
        var members: [String: JSONValue] = [:]
        if case .object(let object) = self { members = object.valuesByName }
        for (name, value) in changes.valuesByName {
            members[name] = value == .null ? nil : (members[name] ?? .null).merged(with: value)
        }
        return .object(Object(members))
    }
}

extension ServiceResponse {
    static func test(
        _ status: Int, _ body: String, contentType: String? = MediaType.json, _ fields: [String: String] = [:]
    ) -> ServiceResponse {
        var fields = fields
        fields["Content-Type"] = contentType
        return ServiceResponse(head: ResponseHead(status: status, fields: fields), body: Data(body.utf8))
    }

    static func problem(_ problem: Problem) -> ServiceResponse {
        .test(
            problem.status, String(decoding: problem.json, as: UTF8.self), contentType: MediaType.problemJSON)
    }

    static func record(_ record: EditablePlace, status: Int = 200) -> ServiceResponse {
        let body = (try? JSONEncoder().encode(record)) ?? Data()
        return .test(
            status, String(decoding: body, as: UTF8.self),
            ["ETag": "\"\(record.version)\"", "Cache-Control": "no-store"])
    }

    /// A response to a reader that may be kept.
    static func places(_ places: [PointOfInterest], _ fields: [String: String] = [:]) -> ServiceResponse {
        let body = (try? JSONEncoder().encode(places)) ?? Data()
        return .test(200, String(decoding: body, as: UTF8.self), fields.merging(["ETag": "\"a\""]) { $1 })
    }

    static func place(_ place: PointOfInterest) -> ServiceResponse {
        let body = (try? JSONEncoder().encode(place)) ?? Data()
        return .test(200, String(decoding: body, as: UTF8.self), ["ETag": "\"a\""])
    }
}

extension EditablePlace {
    static func test(
        id: Int = 12, version: Int = 7, _ draft: PlaceDraft = .test()
    ) -> EditablePlace {
        EditablePlace(
            id: id, version: version, updatedAt: Date(timeIntervalSince1970: 1_700_000_000), draft: draft)
    }
}

extension PlaceDraft {
    static func test() -> PlaceDraft {
        PlaceDraft(
            name: "Cafe", category: "cafe", latitude: 52.5, longitude: 13.4, address: "Platz 1",
            names: ["de": "Kaffee", "fr": "Café"], otherNames: ["Old cafe"],
            properties: ["phone": "1", "levels": ["ground": 1, "first": ["a": 2]]])
    }
}

extension PointOfInterest {
    /// What a server shows of a record.
    init(_ record: EditablePlace, distance: Double? = nil, isOfOnePlace: Bool = false) {
        let draft = record.draft
        self.init(
            id: record.id, name: draft.name, category: draft.category, latitude: draft.latitude,
            longitude: draft.longitude, featured: draft.featured, distance: distance, address: draft.address,
            website: draft.website, importance: draft.importance,
            properties: isOfOnePlace ? JSONValue.Object(draft.properties) : nil,
            operatingStatus: draft.operatingStatus, version: isOfOnePlace ? record.version : nil,
            updatedAt: isOfOnePlace ? record.updatedAt : nil)
    }
}

extension URLRequest {
    /// The body as JSON.
    var json: JSONValue? { httpBody.flatMap { try? JSONDecoder().decode(JSONValue.self, from: $0) } }
}

/// A clock on which short pauses are over at once, and time limits when a test says so.
final class HeldClock: Clock {
    struct Instant: InstantProtocol {
        var offset: Duration = .zero

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private let limits = Lock<[AsyncStream<Never>.Continuation]>([])
    let now = Instant()
    let minimumResolution = Duration.nanoseconds(1)

    /// Ends the limits of the requests that are under way.
    func end() {
        for limit in limits.withLock({ $0 }) { limit.finish() }
    }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        guard deadline.offset >= .seconds(10) else { return }
        let (limit, continuation) = AsyncStream<Never>.makeStream()
        limits.withLock { $0.append(continuation) }
        for await _ in limit {}
        try Task.checkCancellation()
    }
}
