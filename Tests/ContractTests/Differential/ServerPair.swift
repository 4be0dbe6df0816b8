import ServiceFixtures

/// The mock and the real service, with the same data and the same settings.
struct ServerPair {
    private let mockPort: Int
    private let servicePort: Int

    init() async throws {
        mockPort = try await OwnServers.mock().port
        servicePort = try await OwnServers.local().port
    }

    /// What both answer to one request.
    func answers(to request: WireRequest) async throws -> (mock: WireAnswer, service: WireAnswer) {
        try await answers(mock: request, service: request)
    }

    /// What each answers to a request of its own.
    func answers(
        mock: WireRequest, service: WireRequest
    ) async throws -> (mock: WireAnswer, service: WireAnswer) {
        try await offPool { [mockPort, servicePort] in
            (try Self.answer(to: mock, port: mockPort), try Self.answer(to: service, port: servicePort))
        }
    }

    private static func answer(to request: WireRequest, port: Int) throws -> WireAnswer {
        let connection = try WireConnection(port: port)
        connection.send(request.text)
        return try connection.readAnswer(isHead: request.method == "HEAD")
    }
}
