import Foundation
import Testing

@testable import PointsOfInterestClient
@testable import PointsOfInterestHTTP

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("A request's error")
struct RequestErrorTests {
    @Test(
        "An error's text tells a person what they can act on",
        arguments: [
            (RequestError.invalidCoordinate, ErrorText.invalidCoordinate), (.invalidBaseURL, .wrongAddress),
            (.cancelled, .cancelled), (.notHTTP, .damaged),
            (.redirectRefused(to: "http://portal.test:80"), .otherServer),
            (.foreignResponse(status: 200, mediaType: "text/html"), .otherServer),
            (.foreignResponse(status: 403, mediaType: nil), .otherServer),
            (.unexpectedStatus(511), .otherServer),
            (.foreignResponse(status: 511, mediaType: "text/html"), .otherServer),
            (.foreignResponse(status: 502, mediaType: "text/html"), .unavailable),
            (.foreignResponse(status: 504, mediaType: "text/html"), .timedOut),
            (.foreignResponse(status: 429, mediaType: "text/html"), .tooManyRequests),
            (.undecodableBody(reason: "keyNotFound"), .unreadable),
            (.damagedBody(reason: "cut"), .damaged), (.unexpectedStatus(304), .damaged),
            (.transport(code: URLError.notConnectedToInternet.rawValue, reason: ""), .offline),
            (.transport(code: URLError.timedOut.rawValue, reason: ""), .timedOut),
            (.transport(code: URLError.userAuthenticationRequired.rawValue, reason: ""), .unauthorized),
            (.problem(Problem(.notFound)), .placeGone), (.problem(Problem(.gone)), .placeGone),
            (.problem(Problem(.unknownPath)), .wrongAddress),
            (.unexpectedStatus(404), .wrongAddress), (.problem(Problem(.unauthorized)), .unauthorized),
            (.unexpectedStatus(403), .unauthorized), (.problem(Problem(.tooManyRequests)), .tooManyRequests),
            (.problem(Problem(.databaseBusy)), .unavailable), (.unexpectedStatus(502), .unavailable),
            (.problem(Problem(.queryTimeout)), .timedOut), (.unexpectedStatus(504), .timedOut),
            (.problem(Problem(.unknownCategory)), .unknownCategory),
            (.problem(Problem(.outOfRange)), .refused), (.problem(Problem(.methodNotAllowed)), .wrongAddress),
        ])
    func says(error: RequestError, text: ErrorText) {
        #expect(error.text == text)
        #expect(error.errorDescription == text.english)
        #expect(error.localizedDescription == text.english)
    }

    @Test("Only the service says that a place is gone, by its own codes")
    func isGone() {
        for code in [ProblemCode.gone, .notFound] { #expect(RequestError.problem(Problem(code)).isGone) }
        for error in [
            RequestError.problem(Problem(.unknownPath)), .problem(Problem(.unspecified, status: 410)),
            .unexpectedStatus(410),
            .foreignResponse(status: 410, mediaType: "text/html"), .cancelled,
        ] {
            #expect(!error.isGone)
        }
    }

    @Test("An error says that the search text is too long if that is the only fault")
    func searchTooLong() {
        func fault(_ parameter: String) -> ParameterFault {
            ParameterFault(parameter: parameter, code: .outOfRange, detail: "")
        }
        #expect(RequestError.problem(Problem(.outOfRange, errors: [fault("q")])).text == .searchTooLong)
        #expect(
            RequestError.problem(Problem(.outOfRange, errors: [fault("q"), fault("lat")])).text == .refused)
    }

    @Test(
        "An error's text says how a request failed on its way, in the client's own words",
        arguments: [
            (URLError.Code.cannotConnectToHost, ErrorText.unreachable), (.cannotFindHost, .unreachable),
            (.dnsLookupFailed, .unreachable), (.unsupportedURL, .unreachable),
            (.networkConnectionLost, .connectionLost), (.dataNotAllowed, .offline),
            (.secureConnectionFailed, .notSecure), (.serverCertificateHasBadDate, .notSecure),
            (.serverCertificateUntrusted, .notSecure), (.serverCertificateNotYetValid, .notSecure),
        ])
    func tellsOfTheWay(code: URLError.Code, text: ErrorText) {
        let reason = "transfer closed with 2333 bytes remaining to read"
        let error = RequestError.transport(code: code.rawValue, reason: reason)
        #expect(error.text == text)
        #expect(error.localizedDescription == text.english)
        #expect("\(error)".contains(reason), "developers see it")
    }

    @Test(
        "A response that ends too early, or doesn't begin, is told of in the client's own words",
        arguments: [
            "", "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2335\r\n\r\n[]",
        ])
    func losesConnections(response: String) async throws {
        let listener = try LocalListener()
        listener.respond(response)
        let service = PointsOfInterestService(baseURL: listener.baseURL, retryPolicy: .never)
        let error = await #expect(throws: RequestError.self) { try await service.categories() }
        // Linux doesn't tell this from other failures.
        let texts = [ErrorText.connectionLost, .unreachable].map(\.english)
        #expect(texts.contains(error?.localizedDescription ?? ""), "\(String(describing: error))")
    }

    @Test("Only a transport error has a URL error's code")
    func carriesTheCode() {
        #expect(RequestError.transport(code: -1009, reason: "").urlErrorCode == .notConnectedToInternet)
        #expect(RequestError.unexpectedStatus(-1009).urlErrorCode == nil)
    }
}

@Suite("The texts of errors")
struct ErrorTextTests {
    @Test("Texts are translated by the app's own table, and English without a translation")
    func translated() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "texts-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let language = folder.appending(path: "en.lproj")
        try FileManager.default.createDirectory(at: language, withIntermediateDirectories: true)
        try Data(#""error.offline" = "Kein Netz.";"#.utf8)
            .write(to: language.appending(path: "PointsOfInterest.strings"))
        let bundle = try #require(Bundle(path: folder.path))
        #expect(ErrorText.offline.localized(in: bundle) == "Kein Netz.")
        #expect(ErrorText.timedOut.localized(in: bundle) == ErrorText.timedOut.english)
    }

    @Test("Each text is a sentence of its own, without a place for somebody else's words")
    func sentences() {
        for text in ErrorText.allCases {
            #expect(text.english.hasSuffix("."), "\(text)")
            #expect(!text.english.contains("%"), "\(text)")
        }
        #expect(Set(ErrorText.allCases.map(\.english)).count == ErrorText.allCases.count)
    }
}
