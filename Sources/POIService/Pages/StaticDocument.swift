import HTTPServer
import PointsOfInterestAPI
import Program

/// A page or document that never changes while the process runs, in one media type or several.
struct StaticDocument: ImmediateHandler {
    /// The document in one media type.
    struct Form {
        let mediaType: String
        let headers: HTTPHeaders
        let body: [UInt8]

        static func json(_ body: [UInt8]) -> Form {
            Form(mediaType: MediaType.json, headers: [.contentType: MediaType.json], body: body)
        }

        /// An HTML page. Its policy forbids scripts, styles and everything else that a page can load (CSP level 3).
        static func html(_ body: [UInt8]) -> Form {
            html(
                body,
                [
                    "Content-Security-Policy":
                        "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
                    "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
                ])
        }

        static func html(_ body: [UInt8], _ securityFields: HTTPHeaders) -> Form {
            var headers: HTTPHeaders = [.contentType: "text/html; charset=utf-8"]
            headers.add(contentsOf: securityFields)
            return Form(mediaType: "text/html", headers: headers, body: body)
        }
    }

    private let offer: MediaTypeOffer
    /// One for each form, in the order of `offer`.
    private let responses: [(tag: EntityTag, full: HTTPResponse, notModified: HTTPResponse)]
    private let refusal: HTTPError

    /// - Parameter forms: the preferred one first.
    init(_ forms: [Form], cacheControl: String) {
        offer = MediaTypeOffer(forms.map(\.mediaType))
        refusal = .notAcceptable("This is available as \(forms.map(\.mediaType).joined(separator: " or ")).")
        responses = forms.map { form in
            let hash = StableHash.hash(form.body, seed: StableHash.hash(form.mediaType))
            let tag = EntityTag(hash: hash)
            let shared: HTTPHeaders = [.cacheControl: cacheControl]
            var headers = form.headers
            headers.add(contentsOf: shared)
            return (
                tag, HTTPResponse(.ok, prepared: PreparedFields(headers), entityTag: tag, body: form.body),
                HTTPResponse(.notModified, prepared: PreparedFields(shared), entityTag: tag)
            )
        }
    }

    func response(to request: HTTPRequest, context: RequestContext) throws -> HTTPResponse {
        guard let index = offer.choice(for: request.headers) else { throw refusal }
        return request.headers.ifNoneMatchNames(responses[index].tag)
            ? responses[index].notModified : responses[index].full
    }
}

enum HTMLPage {
    /// - Parameter content: HTML; its texts have to be escaped.
    static func render(title: String, content: String) -> [UInt8] {
        Array(
            """
            <!doctype html>
            <html lang="en">
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width">
            <meta name="color-scheme" content="light dark">
            <title>\(escaped(title))</title>
            <h1>\(escaped(title))</h1>
            \(content)
            </html>

            """.utf8)
    }

    static func escaped(_ text: String) -> String {
        text.replacingScalars { scalar in
            switch scalar {
            case "&": "&amp;"
            case "<": "&lt;"
            case ">": "&gt;"
            case "\"": "&quot;"
            default: nil
            }
        }
    }
}
