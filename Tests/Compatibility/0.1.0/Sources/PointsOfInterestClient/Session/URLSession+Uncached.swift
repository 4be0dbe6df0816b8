import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension URLSessionConfiguration {
    /// A configuration for API requests that keeps nothing, on disk or between requests: no cache, no cookies,
    /// no credentials. A new one each time.
    public static var uncached: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        // On Linux, a task that is cancelled while its session looks into a cache can trap.
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCredentialStorage = nil
        return configuration
    }
}

extension URLSession {
    /// The session for requests that are given no other: it keeps nothing.
    public static let uncached = URLSession(configuration: .uncached)
}
