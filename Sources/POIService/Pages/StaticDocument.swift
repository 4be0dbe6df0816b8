import HTTPServer
import PointsOfInterestAPI

/// A page or document that stays the same for as long as the process runs, in one form or several.
struct StaticDocument: HTTPHandler {
    /// One of the forms that `Accept` chooses among.
    struct Form {
        let mediaType: String
        let headers: HTTPHeaders
        let body: [UInt8]

        /// A JSON document.
        static func json(_ body: [UInt8]) -> Form {
            Form(mediaType: MediaType.json, headers: [.contentType: MediaType.json], body: body)
        }

        /// A page without scripts, styles or anything else to load, and which says so (CSP level 3).
        static func html(_ body: [UInt8]) -> Form {
            Form(
                mediaType: "text/html",
                headers: [
                    .contentType: "text/html; charset=utf-8",
                    "Content-Security-Policy":
                        "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
                    "X-Content-Type-Options": "nosniff",
                    "Referrer-Policy": "no-referrer",
                ], body: body)
        }
    }

    private let offer: MediaTypeOffer
    private let answers: [(tag: EntityTag, fresh: HTTPResponse, notModified: HTTPResponse)]
    private let refusal: HTTPError

    /// - Parameter forms: the preferred one first.
    init(_ forms: [Form], cachePolicy: CachePolicy) {
        offer = MediaTypeOffer(forms.map(\.mediaType))
        refusal = .notAcceptable("This comes as \(forms.map(\.mediaType).joined(separator: " or ")).")
        answers = forms.map { form in
            let hash = StableHash.hash(form.body, seed: StableHash.hash(form.mediaType))
            let tag = EntityTag(hash: hash)
            let shared: HTTPHeaders = [.cacheControl: cachePolicy.documents, .eTag: tag.fieldValue]
            var headers = form.headers
            headers.add(contentsOf: shared)
            return (
                tag, HTTPResponse(.ok, headers: headers, body: form.body),
                HTTPResponse(.notModified, headers: shared)
            )
        }
    }

    func respond(to request: HTTPRequest, context: RequestContext) async throws -> HTTPResponse {
        guard let index = offer.choice(for: request.headers) else { throw refusal }
        let answer = answers[index]
        return request.headers.ifNoneMatchNames(answer.tag) ? answer.notModified : answer.fresh
    }
}

/// Small pages of plain HTML.
enum HTMLPage {
    /// A page of a title and what stands below it.
    ///
    /// - Parameter content: HTML, whose texts are escaped.
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

    /// A text as it stands in HTML, in an attribute's quotes too.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            default: escaped.append(character)
            }
        }
        return escaped
    }
}

/// `GET /`: what this is, for people who follow a link to it.
enum StartPage {
    static func document(_ cachePolicy: CachePolicy) -> StaticDocument {
        let content = """
            <p>Places worth knowing around a position, over HTTP: try
            <a href="categories">/categories</a>.
            <ul>
            <li><a href="openapi.json">What the service can be asked</a> (OpenAPI)
            <li><a href="problems">What its problems mean</a>
            </ul>
            """
        return StaticDocument(
            [.html(HTMLPage.render(title: "Points of interest", content: content))], cachePolicy: cachePolicy)
    }
}
