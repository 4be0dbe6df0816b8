import HTTPServer
import MockServerAPI

/// A request's target below the prefix of a session: whose it is, and what the service would have been asked.
struct SessionTarget {
    /// The session's name, not checked yet.
    let name: String
    /// Path and query below the prefix; never empty.
    let target: String
    /// The path below the prefix.
    let path: String

    private static let prefix = MockPath.sessions + "/"

    /// Whether a request is a session's, or about sessions.
    static func isBelowPrefix(_ request: HTTPRequest) -> Bool {
        request.path == MockPath.sessions || request.path.hasPrefix(prefix)
    }

    /// Takes a request's target apart; nil where it is no session's.
    init?(_ request: HTTPRequest) {
        let path = request.path
        guard path.hasPrefix(Self.prefix) else { return nil }
        let rest = path.dropFirst(Self.prefix.count)
        let name = rest.prefix { $0 != "/" }
        self.name = String(name)
        self.path = name.endIndex == rest.endIndex ? "/" : String(rest[name.endIndex...])
        target = self.path + (request.query.map { "?" + $0 } ?? "")
    }
}
