import HTTPServer
import PointsOfInterestAPI
import PointsOfInterestServerAPI

/// What every request to edit or to report has to be, whatever it is about.
enum WriteCheck {
    static let mergePatch = "application/merge-patch+json"
    static let acceptPatch: HTTPHeaderName = "Accept-Patch"

    private static let offer = MediaTypeOffer([MediaType.json])

    /// - Parameter content: the media type that the body has to have; nil for no body.
    static func check(
        _ request: HTTPRequest, content: String?, ignoring ignored: [ParameterPattern]
    ) throws {
        try checkAccept(request)
        try NoParameter.refuseAll(of: request.queryBytes, ignoring: ignored)
        guard !request.headers.contains(.contentEncoding) else {
            throw HTTPError(
                .unsupportedMediaType, .unsupportedContentCoding,
                "This has to be sent without a content coding.",
                headers: [.acceptEncoding: "identity"])
        }
        if let content, !request.headers.hasContent(of: content) {
            throw HTTPError(
                .unsupportedMediaType, .unsupportedMediaType, "This has to be sent as \(content).",
                headers: content == mergePatch ? [acceptPatch: content] : [.accept: content])
        }
    }

    static func checkAccept(_ request: HTTPRequest) throws(HTTPError) {
        guard offer.choice(for: request.headers) != nil else {
            throw .notAcceptable("The response is available as \(MediaType.json).")
        }
    }
}
