import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One endpoint of a service, as a pair of pure functions around the network.
public protocol APIRequest: Sendable {
    /// What a request is made from.
    associatedtype RequestDataType: Sendable
    /// What a successful answer holds.
    associatedtype ResponseDataType: Sendable

    /// Makes the request to send.
    func makeRequest(from requestData: RequestDataType) throws -> URLRequest

    /// Reads the body of an answer whose status tells success.
    func parseResponse(data: Data) throws -> ResponseDataType

    /// Reads an answer whose status tells success, for endpoints that say something in its header fields; the
    /// default reads the body alone.
    func parseResponse(data: Data, head: ResponseHead) throws -> ResponseDataType
}

extension APIRequest {
    /// Reads the body alone.
    public func parseResponse(data: Data, head: ResponseHead) throws -> ResponseDataType {
        try parseResponse(data: data)
    }
}
