import BruteForce
import Foundation
import HTTPServer
import MockService
import PointsOfInterestAPI
@testable import Program

@testable import POIService
@testable import Telemetry
@testable import Places

/// The service on one loop, without a socket: all that stands between a request and the store.
final class ServiceSite {
    let health = Health(requiresDatabase: false)
    private let handler: ServiceDispatcher
    private let log: LogFile
    private var isFinished = false

    init(
        _ store: any PlaceStore = StubStore(), events: any EventStore = MemoryEventStore(),
        environment: [String: String] = [:]
    ) throws {
        var reader = SettingsReader(flags: [:], environment: environment)
        let configuration = try ServiceConfiguration(from: &reader, processorCount: 1)
        log = try LogFile()
        handler = ServiceDispatcher(
            store: store, events: events, health: health, configuration: configuration,
            errorResponder: ProblemResponder(observability: log.observability),
            observability: log.observability,
            rateLimiter: configuration.access.rateLimit.map { RateLimiter($0) })
    }

    /// Sends a request as the server does.
    func ask(
        _ target: String, _ method: HTTPMethod = .get, headers: HTTPHeaders = [:], body: [UInt8] = [],
        from remoteAddress: String? = nil, in context: RequestContext? = nil
    ) async throws -> HTTPResponse {
        let request = try HTTPRequest(method: method, target: target, headers: headers, body: body)
        let context = context ?? RequestContext(requestID: "id-1", remoteAddress: remoteAddress)
        var response = await handler.response(to: request, context: context)
        response.headers.add(contentsOf: context.responseFields)
        return response
    }

    /// Sends a request as the server does; nil where its response has to be waited for.
    func askAtOnce(
        _ target: String, headers: HTTPHeaders = [:], in context: RequestContext? = nil
    ) throws -> HTTPResponse? {
        let request = try HTTPRequest(method: .get, target: target, headers: headers)
        let context = context ?? RequestContext(requestID: "id-1")
        let handler = try handler.admit(request, context: context).handler
        return try handler.respond(to: request, context: context).atOnce
    }

    func problem(
        _ target: String, _ method: HTTPMethod = .get, headers: HTTPHeaders = [:]
    ) async throws -> Problem {
        try await ask(target, method, headers: headers).problem()
    }

    /// The process's metrics without labels, by name.
    var metrics: [String: Double] {
        var snapshot = MetricsSnapshot()
        log.observability.collectMetrics(into: &snapshot)
        var numbers: [String: Double] = [:]
        for (metric, series) in snapshot.families {
            if case .number(let number) = series[[]] { numbers[metric.name] = number }
        }
        return numbers
    }

    /// Ends the service, and returns the lines of its log.
    func finishLog() throws -> [String] {
        isFinished = true
        return try log.finish()
    }

    deinit {
        if !isFinished { log.observability.finish() }
    }
}

extension HTTPResponse {
    /// The body as text.
    var text: String { String(decoding: body, as: UTF8.self) }

    /// The response's problem.
    func problem() throws -> Problem { try JSONDecoder().decode(Problem.self, from: Data(body)) }
}
