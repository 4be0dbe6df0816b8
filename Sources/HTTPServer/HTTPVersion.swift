/// The versions of HTTP that this server speaks.
enum HTTPVersion: Sendable {
    case http10
    case http11
}
