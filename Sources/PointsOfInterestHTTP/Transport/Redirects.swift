import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

// A redirect may come from a stranger: a hotel's login page responds to any request with one. A session by itself
// follows it to any host, with the key and the position, and on Linux turns a `POST` into a `GET`. So no session
// follows redirects here; the transport follows those that stay within the origin.

/// Where a request goes to: scheme, host and port (RFC 6454, section 4).
struct Origin: Hashable, CustomStringConvertible {
    let scheme: String
    let host: String
    let port: Int

    /// Nil for a URL that isn't `http` or `https`, or has no host.
    init?(_ url: URL) {
        guard let scheme = url.scheme?.lowercased(), let host = url.host?.lowercased(), !host.isEmpty,
            let port = url.port ?? ["http": 80, "https": 443][scheme], ["http", "https"].contains(scheme)
        else { return nil }
        (self.scheme, self.host, self.port) = (scheme, host, port)
    }

    var description: String { "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(port)" }
}

/// Tells a session not to follow redirects: it returns them as responses.
///
/// It is the delegate of a task, so that it is asked whatever delegate the session has. Where it has no method, the
/// session's delegate is called.
final class RedirectRefusal: NSObject, URLSessionTaskDelegate {
    static let shared = RedirectRefusal()

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        // On Linux (Swift 6.3), calling it for a task that has just been cancelled traps.
        #if canImport(FoundationNetworking)
            guard task.state == .running else { return }
        #endif
        completionHandler(nil)
    }
}

extension URLRequest {
    /// Returns the request that a redirect asks for, with the same method and header fields; nil where the response
    /// isn't a redirect (RFC 9110, section 15.4).
    ///
    /// - Throws: `RequestError.redirectRefused` where it leads to another origin, or the method isn't `GET` or `HEAD`:
    ///   303 would turn a `POST` into a `GET`, whose response says nothing about the body.
    func redirected(by response: ServiceResponse) throws(RequestError) -> URLRequest? {
        guard [301, 302, 303, 307, 308].contains(response.head.status),
            let location = response.head.value(forField: "Location"), let url
        else { return nil }
        let target = URL(string: location, relativeTo: url)?.absoluteURL
        guard let target, let origin = Origin(target), origin == Origin(url),
            ["GET", "HEAD"].contains(httpMethod ?? "GET"),
            let next = url.absoluteURL.replacingPath(by: target)
        else { throw .redirectRefused(to: target.flatMap(Origin.init)?.description ?? "no server") }
        var request = self
        request.url = next
        return request
    }
}

extension URL {
    /// Returns this URL with another one's path and query. The rest stays literally the same, so that no other reader
    /// of URLs finds another host in it.
    fileprivate func replacingPath(by other: URL) -> URL? {
        guard var own = URLComponents(url: self, resolvingAgainstBaseURL: true),
            let new = URLComponents(url: other, resolvingAgainstBaseURL: true)
        else { return nil }
        own.percentEncodedPath = new.percentEncodedPath
        own.percentEncodedQuery = new.percentEncodedQuery
        return own.url
    }
}
