import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Carries a request to the service and an answer back, whatever its status.
///
/// Transports are stacked: one sends, another knows entity tags, another tries again.
protocol Transport: Sendable {
    /// Sends one request.
    ///
    /// - Throws: `RequestError` where there is no answer; `.cancelled` at once where the task is cancelled.
    func send(_ request: URLRequest) async throws(RequestError) -> Answer
}

/// An HTTP answer.
struct Answer: Sendable {
    var head: ResponseHead
    var body: Data
}
