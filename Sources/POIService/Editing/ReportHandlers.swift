import Foundation
import HTTPServer
import Places
import PointsOfInterestAPI
import PointsOfInterestServerAPI

/// What people report of places, and what editors do about it.
struct ReportHandlers {
    let store: any ReportStore
    let ignoredParameters: [ParameterPattern]

    private static let fields: HTTPHeaders = [.contentType: MediaType.json, .cacheControl: "no-store"]
    private static let notFound = HTTPError(.notFound, .notFound, "There is no report with this id.")

    /// `POST /reports`. The response is the same for a report that is sent again, and says nothing of what became of it.
    func store(_ request: HTTPRequest, _ context: RequestContext) async throws -> HTTPResponse {
        try WriteCheck.check(request, content: MediaType.json, ignoring: ignoredParameters)
        // No representation exists at this path, so none can match (RFC 9110, section 13.1.1).
        guard !request.headers.contains(.ifMatch) else { throw HTTPError.preconditionFailed }
        let report = try PlaceReport.decode(body: request.body)
        try await store.store(report)
        return HTTPResponse(
            .created, headers: Self.fields, body: PlaceReportReceipt(id: report.id).json)
    }

    /// `GET /reports`.
    func list(_ request: HTTPRequest, _ context: RequestContext) async throws -> HTTPResponse {
        try WriteCheck.checkAccept(request)
        let query = try ReportsRequest.decode(query: request.queryBytes, ignoring: ignoredParameters)
        let page = try await store.reports(query.status, from: query.position, count: query.limit)
        return .page(of: page.reports.map(\.json), next: page.next.map { "?\(query.query(from: $0))" })
    }

    /// `PATCH /reports/{id}`.
    func change(
        _ request: HTTPRequest, _ context: RequestContext, by access: EditingAccess
    ) async throws -> HTTPResponse {
        let id = try Self.id(context)
        try check(request, content: WriteCheck.mergePatch)
        let change = try ReportChange.decode(body: request.body)
        let editor = try access.currentEditor(of: request, context)
        guard let report = try await store.change(id, change, editor: editor) else { throw Self.notFound }
        return HTTPResponse(.ok, headers: Self.fields, body: report.json)
    }

    /// `DELETE /reports/{id}`.
    func remove(
        _ request: HTTPRequest, _ context: RequestContext, by access: EditingAccess
    ) async throws -> HTTPResponse {
        let id = try Self.id(context)
        try check(request, content: nil)
        _ = try access.currentEditor(of: request, context)
        guard try await store.remove(id) else { throw Self.notFound }
        return HTTPResponse(.noContent, headers: [.cacheControl: "no-store"])
    }

    private func check(_ request: HTTPRequest, content: String?) throws {
        try WriteCheck.check(request, content: content, ignoring: ignoredParameters)
        // Reports have no tags (RFC 9110, section 13.1.1).
        guard !request.headers.contains(.ifMatch) else { throw HTTPError.preconditionFailed }
    }

    private static func id(_ context: RequestContext) throws(HTTPError) -> UUID {
        let text = context.pathParameter("id") ?? ""
        guard text.utf8.count == 36, let id = UUID(uuidString: text) else { throw notFound }
        return id
    }
}

/// Limits how much a client reports, at a request's head.
struct ReportLimit: HTTPRequestCheck {
    let reports: RateLimiting

    /// Few people find more mistakes than this; an app that has collected some while it was offline waits between them.
    static let limit = RateLimit(count: 10, periodSeconds: 60)

    func check(_ request: HTTPRequest, context: RequestContext) throws(HTTPError) {
        if let refusal = reports.refusal(of: request, context) { throw refusal }
    }
}
