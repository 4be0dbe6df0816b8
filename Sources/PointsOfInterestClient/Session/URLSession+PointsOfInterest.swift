import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension URLSessionConfiguration {
    /// A configuration that keeps nothing on disk and nothing between requests: no cache, no cookies, no
    /// credentials. A new one each time.
    public static var pointsOfInterest: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        // Distances of a moment ago are of no use; and on Linux, a task that is cancelled while its session
        // looks into a cache can trap.
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCredentialStorage = nil
        return configuration
    }
}

extension URLSession {
    /// The session for requests that are given no other; it keeps nothing on disk.
    public static let pointsOfInterest = URLSession(configuration: .pointsOfInterest)
}
