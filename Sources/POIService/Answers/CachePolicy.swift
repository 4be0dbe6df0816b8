import HTTPServer
import PointsOfInterestAPI

/// How long clients and caches may keep answers (RFC 9111).
struct CachePolicy: Sendable {
    /// For answers to somebody's position: kept by that client only.
    let personal: AnswerFields
    /// For all other data.
    let shared: AnswerFields
    /// The `Cache-Control` of pages and documents, which everybody may read.
    let documents: String

    init(_ configuration: CachingConfiguration, requiresKey: Bool) {
        personal = AnswerFields(cacheControl: "private, max-age=\(configuration.privateMaxAgeSeconds)")
        let publicAge = "max-age=\(configuration.publicMaxAgeSeconds)"
        // A shared cache would hand what a key has paid for to those without one (RFC 9111, section 3.5).
        shared = AnswerFields(cacheControl: "\(requiresKey ? "private" : "public"), \(publicAge)")
        documents = "public, \(publicAge)"
    }
}

/// Header fields that don't depend on the request, put together once.
struct AnswerFields: Sendable {
    let json: HTTPHeaders
    let geoJSON: HTTPHeaders
    let notModified: HTTPHeaders

    init(cacheControl: String) {
        json = [.contentType: MediaType.json, .cacheControl: cacheControl]
        geoJSON = [.contentType: MediaType.geoJSON, .cacheControl: cacheControl]
        notModified = [.cacheControl: cacheControl]
    }
}
