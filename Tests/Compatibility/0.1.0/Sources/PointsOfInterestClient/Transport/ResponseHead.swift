import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// An HTTP answer without its body.
public struct ResponseHead: Hashable, Sendable {
    /// The status, 100…599.
    public let status: Int
    /// The URL that answered; another than the request's where that was redirected.
    public let url: URL?

    /// The fields, their names in lower case.
    private let fields: [String: String]

    /// Makes a head.
    public init(status: Int, url: URL? = nil, fields: [String: String] = [:]) {
        self.status = status
        self.url = url
        // Of two spellings of a name, any one: an answer has only one.
        self.fields = Dictionary(
            fields.map { ($0.key.lowercased(), $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    /// The value of a field, whatever the case of its name; several fields of a name are joined by commas.
    public func value(forField name: String) -> String? {
        fields[name.lowercased()]
    }

    init(_ response: HTTPURLResponse) {
        var fields: [String: String] = [:]
        for (name, value) in response.allHeaderFields {
            if let name = name as? String, let value = value as? String { fields[name] = value }
        }
        self.init(status: response.statusCode, url: response.url, fields: fields)
    }

    /// The same head with another's fields in the place of its own, as a 304 brings them for the answer that is
    /// kept (RFC 9111, section 3.2). What describes the kept body stays.
    func updated(with newer: ResponseHead) -> ResponseHead {
        let changes = newer.fields.filter { !$0.key.hasPrefix("content-") && $0.key != "transfer-encoding" }
        return ResponseHead(status: status, url: url, fields: fields.merging(changes) { $1 })
    }

    /// The body's media type without parameters, in lower case.
    var mediaType: String? {
        value(forField: "Content-Type").map { value in
            value.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
        }
    }
}
