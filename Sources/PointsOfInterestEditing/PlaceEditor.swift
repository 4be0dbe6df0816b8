// An app that imports the editor also sees the types of the contract, and those of reading.
@_exported import EditingAPI
import Foundation
@_exported import PointsOfInterestHTTP

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Changes places, for people with an editor's key.
///
/// A change says which version of the place the person saw: nothing is done where somebody else has changed it since. A change
/// whose response is lost is sent again by the service's `RetryPolicy`, with a key by which the service does it once; where that
/// fails, too, the error has the edit, for `retry(_:)`. Every method throws `PlaceEditorError`.
///
/// It is a value: copies share the edits that `showingOwnEdits(_:)` shows. Any task may call it. A call that is cancelled while
/// a change is sent throws `.unknownOutcome`.
public struct PlaceEditor: Sendable {
    /// How long the service knows an edit by its key.
    private static let keyLifetime: TimeInterval = 24 * 60 * 60

    private let service: PointsOfInterestService
    private let ownEdits: OwnEdits
    private let now: @Sendable () -> Date

    /// Makes the editor of a service's places.
    ///
    /// - Parameters:
    ///   - service: whose session, middleware, retries and time limits are used.
    ///   - headers: returns the header fields of a request, with the editor's key; nil uses those of the service, which is asked
    ///     for the endpoint `.editing`.
    ///   - renewKey: renews the key in `headers` after the service has refused it with 401.
    ///   - ownEditsPeriod: for how long after an edit `showingOwnEdits(_:)` shows it where a list is still as it was before.
    public init(
        service: PointsOfInterestService, headers: HeaderProvider? = nil, renewKey: KeyRenewer? = nil,
        ownEditsPeriod: Duration = .seconds(60)
    ) {
        self.init(
            service: service, headers: headers, renewKey: renewKey, ownEditsPeriod: ownEditsPeriod,
            now: { Date() })
    }

    /// Makes one whose time a test may replace.
    init(
        service: PointsOfInterestService, headers: HeaderProvider? = nil, renewKey: KeyRenewer? = nil,
        ownEditsPeriod: Duration = .seconds(60), now: @escaping @Sendable () -> Date
    ) {
        self.service = headers.map { service.with(headers: $0, renewKey: renewKey) } ?? service
        self.now = now
        ownEdits = OwnEdits(period: ownEditsPeriod / .seconds(1), now: now)
    }

    /// Returns the places of another finder, by default the service's, with the edits of this editor made to them, whatever
    /// server has sent them: each server shows a change a moment after it was made.
    ///
    /// A place that was removed, merged or closed for good isn't in lists; a correction shows in lists, maps, search results,
    /// favourites and details, also in what is kept of earlier responses. What the service shows of a place in the meantime, by
    /// somebody else's edit, counts. A place that has moved has no distance, and the order is the service's; whether an edited
    /// place still matches a filter, and a new one is in a list, the service says. Counts are the service's, too.
    public func showingOwnEdits(_ finder: (any PlaceFinder)? = nil) -> any PlaceFinder {
        OwnEditsFinder(
            base: finder ?? service, edits: ownEdits, drop: { await service.dropKept(withPlaces: $0) })
    }
}

extension PlaceEditor {
    /// `GET /locations/{id}/record`: loads what can be edited of a place, as it is now.
    ///
    /// - Throws: `.gone`, `.merged(into:)`, or `.request`, whose problem's code is `.notFound` where there never was one.
    public func record(of id: Int) async throws(PlaceEditorError) -> EditablePlace {
        do throws(RequestError) {
            let path = EndpointPath.record.replacingOccurrences(of: "{id}", with: "\(id)")
            let response = try await load(try .get(path, baseURL: service.baseURL))
            let record = try EditablePlace.decode(body: response.body, of: response)
            guard record.id == id else { throw EditablePlace.otherPlace(record.id).judged(by: response) }
            return record
        } catch {
            throw PlaceEditorError(error)
        }
    }

    /// `POST /locations`: makes a place, and returns its record.
    ///
    /// - Parameters:
    ///   - draft: what is known of it.
    ///   - dataset: the dataset that it is of, which begins with `editorial-`; nil is `editorial`.
    /// - Throws: `.invalid`, `.unknownOutcome` or `.request`.
    public func create(
        _ draft: PlaceDraft, dataset: String? = nil
    ) async throws(PlaceEditorError) -> EditablePlace {
        try await change(.create(draft, dataset: dataset))
    }

    /// `PATCH /locations/{id}`: corrects a place, and returns its new record. What isn't changed isn't sent, and where nothing
    /// is, no request is.
    ///
    /// - Parameters:
    ///   - place: the record as the person saw it.
    ///   - change: changes the place's content.
    /// - Throws: `PlaceEditorError`.
    @discardableResult
    public func correct(
        _ place: EditablePlace, _ change: (inout PlaceDraft) -> Void
    ) async throws(PlaceEditorError) -> EditablePlace {
        var draft = place.draft
        change(&draft)
        return try await correct(place, to: draft)
    }

    /// Corrects a place, as `correct(_:_:)` does, to what a draft says.
    ///
    /// - Throws: `PlaceEditorError`.
    @discardableResult
    public func correct(
        _ place: EditablePlace, to draft: PlaceDraft
    ) async throws(PlaceEditorError) -> EditablePlace {
        guard !draft.members(differingFrom: place.draft).isEmpty else { return place }
        return try await change(.correct(place, to: draft))
    }

    /// `PATCH /locations/{id}`: shows again what the source says, and returns the new record.
    ///
    /// - Parameters:
    ///   - place: the record as the person saw it.
    ///   - members: such as `name` or `properties.phone`; `names` and `properties` are all of these, `*` is everything. Without
    ///     any, nothing is sent.
    /// - Throws: `PlaceEditorError`.
    @discardableResult
    public func reset(
        _ place: EditablePlace, members: [String]
    ) async throws(PlaceEditorError) -> EditablePlace {
        guard !members.isEmpty else { return place }
        return try await change(.reset(place, members: members))
    }

    /// Corrects a place's `operatingStatus`, and returns its new record: no list has a place that is closed for good.
    ///
    /// - Throws: `PlaceEditorError`.
    @discardableResult
    public func close(
        _ place: EditablePlace, temporarily: Bool = false
    ) async throws(PlaceEditorError) -> EditablePlace {
        try await correct(place) { draft in
            draft.operatingStatus = temporarily ? .temporarilyClosed : .permanentlyClosed
        }
    }

    /// `DELETE /locations/{id}`: removes a place. No import brings it back; `restore(id:removedBy:to:)` does.
    ///
    /// - Throws: `PlaceEditorError`.
    public func remove(_ place: EditablePlace) async throws(PlaceEditorError) {
        _ = try await send(PlaceEdit(.remove(place), madeAt: now()))
    }

    /// `POST /locations/{id}/merge`: removes a place that is the same as another one, which gets what it lacks, and returns the
    /// other one's record.
    ///
    /// - Throws: `PlaceEditorError`.
    @discardableResult
    public func merge(
        _ place: EditablePlace, into id: Int
    ) async throws(PlaceEditorError) -> EditablePlace {
        try await change(.merge(place, into: id))
    }

    /// `POST /locations/{id}/restore`: shows what a place was before a change, and returns its new record.
    ///
    /// - Parameters:
    ///   - place: the record as the person saw it.
    ///   - version: one of `versions(of:limit:)`.
    /// - Throws: `PlaceEditorError`.
    @discardableResult
    public func restore(
        _ place: EditablePlace, to version: PlaceVersion
    ) async throws(PlaceEditorError) -> EditablePlace {
        try await change(.restore(place, to: version.version))
    }

    /// `POST /locations/{id}/restore`: brings back a place that was removed or merged, with its id, and returns its record.
    ///
    /// - Parameters:
    ///   - id: the place's id.
    ///   - removal: the newest of its versions.
    ///   - version: what to show; nil is what the place was before its removal.
    /// - Throws: `PlaceEditorError`; `.request` with the problem's code `.preconditionFailed` where somebody has brought it back.
    @discardableResult
    public func restore(
        id: Int, removedBy removal: PlaceVersion, to version: PlaceVersion? = nil
    ) async throws(PlaceEditorError) -> EditablePlace {
        try await change(
            .bringBack(id: id, removal: removal.version, to: (version ?? removal).version))
    }

    /// Sends an edit again whose outcome isn't known, with its key, so that it is done once: at any later time, also after the
    /// app's next start.
    ///
    /// - Returns: the new record; nil for a place that is removed now.
    /// - Throws: `PlaceEditorError`; `.expired` for an edit that makes a place and is more than a day old. Another one as old
    ///   that was done throws `.conflict`, `.merged` or `.gone`: the place is another one by then.
    @discardableResult
    public func retry(_ edit: PlaceEdit) async throws(PlaceEditorError) -> EditablePlace? {
        if case .create = edit.action, now().timeIntervalSince(edit.madeAt) >= Self.keyLifetime {
            throw .expired(edit)
        }
        return try await send(edit, mayBeDone: true)
    }
}

extension PlaceEditor {
    /// Does an edit after which there is a record.
    private func change(_ action: PlaceEdit.Action) async throws(PlaceEditorError) -> EditablePlace {
        let edit = PlaceEdit(action, madeAt: now())
        guard let record = try await send(edit) else {
            throw .request(.undecodableBody(reason: "the response has no record"))
        }
        return record
    }

    /// - Parameter mayBeDone: whether earlier attempts may have done it.
    private func send(
        _ edit: PlaceEdit, mayBeDone: Bool = false
    ) async throws(PlaceEditorError) -> EditablePlace? {
        let attempts = EditAttempts(edit, mayBeDone: mayBeDone)
        do throws(RequestError) {
            let request = try edit.urlRequest(baseURL: service.baseURL).identified
            let response = try await exchange(
                request, service.transport(.editing, watch: attempts.watching))
            let record = try edit.record(in: response)
            ownEdits.note(edit, record)
            await service.dropKept(withPlaces: Set([edit.placeID, record?.id].compactMap(\.self)))
            return record
        } catch {
            if attempts.mayBeDone { throw .unknownOutcome(edit, error) }
            guard error.problem?.code == .preconditionFailed, let base = edit.base else {
                throw PlaceEditorError(error)
            }
            throw await conflict(of: edit, base, error)
        }
    }

    /// Loads what the place is now. Where that fails, the error is the one that there is.
    private func conflict(
        of edit: PlaceEdit, _ base: EditablePlace, _ refusal: RequestError
    ) async -> PlaceEditorError {
        do throws(PlaceEditorError) {
            return .conflict(PlaceConflict(edit: edit, base: base, current: try await record(of: base.id)))
        } catch {
            switch error {
            case .gone, .merged: return error
            default: return .request(refusal)
            }
        }
    }

    /// Sends a request that changes nothing.
    func load(_ request: URLRequest) async throws(RequestError) -> ServiceResponse {
        try await exchange(request.identified, service.transport(.editing))
    }

    /// Sends a request within its time, and returns a response that succeeds.
    private func exchange(
        _ request: URLRequest, _ transport: any Transport
    ) async throws(RequestError) -> ServiceResponse {
        do throws(RequestError) {
            let limited = TimeLimitedTransport(base: transport, limit: service.timeLimit)
            let response = try await limited.send(request)
            guard (200..<300).contains(response.head.status) else {
                throw RequestError(refusal: response).judged(by: response)
            }
            return response
        } catch {
            throw error.about(request)
        }
    }
}

// MARK: - Versions

/// A page of what has changed a place, newest first.
public struct PlaceVersionsPage: Hashable, Sendable {
    /// The changes.
    public let versions: [PlaceVersion]
    /// The URL of the next page, as the service has named it; nil for the last one.
    public let next: URL?

    /// Makes a page.
    public init(versions: [PlaceVersion], next: URL?) {
        self.versions = versions
        self.next = next
    }
}

extension PlaceEditor {
    /// `GET /locations/{id}/versions`: loads the newest of what has changed a place, of one that was removed or merged, too.
    ///
    /// - Parameters:
    ///   - id: the place's id.
    ///   - limit: the maximum number of changes; nil is the service's default.
    /// - Throws: `.request`.
    public func versions(
        of id: Int, limit: Int? = nil
    ) async throws(PlaceEditorError) -> PlaceVersionsPage {
        let path = EndpointPath.versions.replacingOccurrences(of: "{id}", with: "\(id)")
        return try await versions { () throws(RequestError) in
            try .get(path, limit.map { "limit=\($0)" } ?? "", baseURL: service.baseURL)
        }
    }

    /// Loads the page that another one links to; nil after the last.
    ///
    /// - Throws: `.request`; with `.undecodableBody` for a link to another host.
    public func versions(
        after page: PlaceVersionsPage
    ) async throws(PlaceEditorError) -> PlaceVersionsPage? {
        guard let next = page.next else { return nil }
        return try await versions { () throws(RequestError) in
            try .get(linked: next, baseURL: service.baseURL)
        }
    }

    private func versions(
        _ request: () throws(RequestError) -> URLRequest
    ) async throws(PlaceEditorError) -> PlaceVersionsPage {
        do throws(RequestError) {
            let response = try await load(try request())
            return PlaceVersionsPage(
                versions: try [PlaceVersion].decode(body: response.body, of: response),
                next: response.head.nextPage(baseURL: service.baseURL))
        } catch {
            throw PlaceEditorError(error)
        }
    }
}

// MARK: - Changes of all places

/// A page of what people have changed, newest first.
public struct RecentChangesPage: Hashable, Sendable {
    /// The changes; there may be few or none although there is a next page.
    public let changes: [RecentChange]
    /// The URL of the next page, as the service has named it; nil for the last one.
    public let next: URL?

    /// Makes a page.
    public init(changes: [RecentChange], next: URL?) {
        self.changes = changes
        self.next = next
    }
}

extension PlaceEditor {
    /// `GET /changes`: loads the newest changes that people have made, not imports; of removed and merged places, too.
    ///
    /// - Parameters:
    ///   - box: where the places were before the change or are now, in degrees; nil is everywhere.
    ///   - limit: the maximum number of changes; nil is the service's default.
    /// - Throws: `.request`.
    public func changes(
        in box: BoundingBox? = nil, limit: Int? = nil
    ) async throws(PlaceEditorError) -> RecentChangesPage {
        var query = QueryWriter()
        if let box { query.add("bbox", box) }
        if let limit { query.add("limit", limit) }
        let text = query.text
        return try await changes { () throws(RequestError) in
            try .get(EndpointPath.changes, text, baseURL: service.baseURL)
        }
    }

    /// Loads the page that another one links to; nil after the last.
    ///
    /// - Throws: `.request`; with `.undecodableBody` for a link to another host.
    public func changes(
        after page: RecentChangesPage
    ) async throws(PlaceEditorError) -> RecentChangesPage? {
        guard let next = page.next else { return nil }
        return try await changes { () throws(RequestError) in
            try .get(linked: next, baseURL: service.baseURL)
        }
    }

    private func changes(
        _ request: () throws(RequestError) -> URLRequest
    ) async throws(PlaceEditorError) -> RecentChangesPage {
        do throws(RequestError) {
            let response = try await load(try request())
            return RecentChangesPage(
                changes: try [RecentChange].decode(body: response.body, of: response),
                next: response.head.nextPage(baseURL: service.baseURL))
        } catch {
            throw PlaceEditorError(error)
        }
    }
}

extension Decodable {
    /// Decodes the body of a response.
    ///
    /// - Throws: `RequestError`, also for a response that isn't the service's.
    fileprivate static func decode(
        body: Data, of response: ServiceResponse
    ) throws(RequestError) -> Self {
        do throws(RequestError) {
            return try decode(body: body)
        } catch {
            throw error.judged(by: response)
        }
    }
}
