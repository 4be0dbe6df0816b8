import Dispatch
import Foundation
import PointsOfInterestClient
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A request as an app may write one for another service.
private struct NumberRequest: APIRequest {
    struct Odd: Error, Equatable {}

    func makeRequest(from requestData: URL) throws -> URLRequest {
        URLRequest(url: requestData)
    }

    func parseResponse(data: Data) throws -> Int {
        let number = try JSONDecoder().decode([Int].self, from: data).first ?? 0
        guard number.isMultiple(of: 2) else { throw Odd() }
        return number
    }
}

/// Tells whether it was read on the main queue, which is the main actor's, whichever thread serves it.
private struct QueueRequest: APIRequest {
    let key: DispatchSpecificKey<Bool>

    func makeRequest(from requestData: URL) throws -> URLRequest { URLRequest(url: requestData) }

    func parseResponse(data: Data) throws -> Bool { DispatchQueue.getSpecific(key: key) == true }
}

@Suite("A request of the app's own", .timeLimit(.minutes(1)))
struct OwnRequestTests {
    private func load(_ form: LoadingForm, response: String) async throws -> Int {
        let network = try MockNetwork(body: response)
        let loader = APIRequestLoader(apiRequest: NumberRequest(), urlSession: network.session)
        return try await form.load(network.baseURL, with: loader)
    }

    @Test("An app's own request is loaded like a built-in one", arguments: LoadingForm.allCases)
    func loads(form: LoadingForm) async throws {
        #expect(try await load(form, response: "[2]") == 2)
    }

    @MainActor
    @Test("A response is read off the main actor, also for a caller on it")
    func readsElsewhere() async throws {
        let network = try MockNetwork(body: "")
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        #expect(DispatchQueue.getSpecific(key: key) == true, "this is the main actor")
        let loader = APIRequestLoader(apiRequest: QueueRequest(key: key), urlSession: network.session)
        #expect(try await loader.loadAPIRequest(requestData: network.baseURL) == false)
    }

    @Test(
        "An app's own request throws its own errors, and .undecodableBody for a DecodingError",
        arguments: LoadingForm.allCases)
    func throwsItsOwn(form: LoadingForm) async throws {
        await #expect(throws: NumberRequest.Odd()) { try await load(form, response: "[3]") }
        let error = await #expect(throws: RequestError.self) { try await load(form, response: "?") }
        guard case .undecodableBody = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
