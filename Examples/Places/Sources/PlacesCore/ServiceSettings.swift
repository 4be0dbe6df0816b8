import Foundation

/// The settings that a person can change: which service the app uses. They survive the app.
@MainActor
public struct ServiceSettings {
    /// The service until a person chooses another one: `make mock` or `make run` on the same computer, which a
    /// simulator reaches at its own address.
    public nonisolated static let defaultBaseURL =
        URL(string: "http://127.0.0.1:8080") ?? URL(fileURLWithPath: "/")

    private static let key = "baseURL"
    let defaults: UserDefaults

    /// Makes the settings.
    ///
    /// - Parameter defaults: where they are kept.
    public init(defaults: UserDefaults = .standard) {
        self.defaults = defaults
    }

    /// Where the service is. A stored text that can't be used counts as none.
    public var baseURL: URL {
        defaults.string(forKey: Self.key).flatMap { try? Self.baseURL(from: $0) } ?? Self.defaultBaseURL
    }

    /// Stores where the service is, as a person typed it.
    ///
    /// - Throws: `BaseURLError`; the setting stays as it was.
    public func setBaseURL(_ text: String) throws(BaseURLError) {
        defaults.set(try Self.baseURL(from: text).absoluteString, forKey: Self.key)
    }

    /// Reads where a service is, as a person typed it.
    ///
    /// - Throws: `BaseURLError`.
    public nonisolated static func baseURL(from text: String) throws(BaseURLError) -> URL {
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !text.contains(where: \.isWhitespace), let url = URL(string: text),
            let parts = URLComponents(url: url, resolvingAgainstBaseURL: false)
        else { throw .notAnAddress }
        let scheme = parts.scheme?.lowercased()
        guard scheme == "https" || scheme == "http" else { throw .neitherHTTPNorHTTPS }
        guard let host = parts.host, !host.isEmpty else { throw .noHost }
        guard parts.query == nil, parts.fragment == nil, parts.user == nil else { throw .tooLong }
        guard scheme == "https" || isLocal(host) else { throw .notEncrypted(host: host) }
        return url
    }

    /// Whether the app may talk to a host without encryption: what `NSAllowsLocalNetworking` in Info.plist allows.
    /// https://developer.apple.com/documentation/bundleresources/information-property-list/nsapptransportsecurity/nsallowslocalnetworking
    private nonisolated static func isLocal(_ host: String) -> Bool {
        let isAddress = host.contains(":") || host.allSatisfy { $0 == "." || ("0"..."9").contains($0) }
        return isAddress || !host.contains(".") || host.lowercased().hasSuffix(".local")
    }
}

/// Why a service's address can't be used.
public enum BaseURLError: Error, Hashable, Sendable {
    /// It isn't a URL.
    case notAnAddress
    /// It has another scheme, or none.
    case neitherHTTPNorHTTPS
    /// It has no host.
    case noHost
    /// It has a query, a fragment or a user.
    case tooLong
    /// It would send locations over the internet without encryption.
    case notEncrypted(host: String)
}

extension BaseURLError: LocalizedError {
    /// A sentence for people.
    public var errorDescription: String? {
        switch self {
        case .notAnAddress: "This is not an address. An example is https://places.example.com."
        case .neitherHTTPNorHTTPS:
            "The address must begin with https:// or, for a computer nearby, with http://."
        case .noHost: "The address names no computer. An example is https://places.example.com."
        case .tooLong: "The address must not have a user, a question mark or a number sign."
        case .notEncrypted(let host):
            "\(host) is not a computer nearby, so its address must begin with https://."
        }
    }
}
