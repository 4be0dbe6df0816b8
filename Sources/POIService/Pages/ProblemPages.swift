import HTTPServer
import PointsOfInterestAPI

/// `GET /problems` and `GET /problems/{code}`: what problems mean and what to do about them. A problem's `type` is the
/// path of its page (RFC 9457, section 3.1.1).
struct ProblemPages: ImmediateHandler {
    static let indexPath = "/problems"

    private let pages: [String: StaticDocument]

    private static let notFound = HTTPError(.notFound, .notFound, "There is no problem with this code.")

    init(_ cachePolicy: CachePolicy) {
        pages = Dictionary(
            uniqueKeysWithValues: Self.sorted.map { code, definition in
                (code.rawValue, Self.page(code, definition, cachePolicy))
            })
    }

    func response(to request: HTTPRequest, context: RequestContext) throws -> HTTPResponse {
        guard let code = context.pathParameter("code"), code.isASCII, let page = pages[code] else {
            throw Self.notFound
        }
        return try page.response(to: request, context: context)
    }

    static func index(_ cachePolicy: CachePolicy) -> StaticDocument {
        let rows = sorted.map { code, definition in
            """
            <li><a href="problems/\(HTMLPage.escaped(code.rawValue))">\(HTMLPage.escaped(code.rawValue))</a> \
            (\(definition.status)): \(HTMLPage.escaped(definition.title))
            """
        }
        let content = "<ul>\n\(rows.joined(separator: "\n"))\n</ul>"
        var writer = JSONWriter(capacity: 16_384)
        writer.beginArray()
        for (code, definition) in sorted { writer.value(code, definition) }
        writer.endArray()
        return StaticDocument(
            [.html(HTMLPage.render(title: "Problems", content: content)), .json(writer.bytes)],
            cacheControl: cachePolicy.documents)
    }

    private static func page(
        _ code: ProblemCode, _ definition: ProblemCode.Definition, _ cachePolicy: CachePolicy
    ) -> StaticDocument {
        let content = """
            <p><code>\(HTMLPage.escaped(code.rawValue))</code>, status \(definition.status)
            <h2>What it means</h2>
            <p>\(HTMLPage.escaped(definition.meaning))
            <h2>What to do</h2>
            <p>\(HTMLPage.escaped(definition.remedy))
            <p><a href="../problems">All problems</a>
            """
        var writer = JSONWriter(capacity: 512)
        writer.value(code, definition)
        return StaticDocument(
            [.html(HTMLPage.render(title: definition.title, content: content)), .json(writer.bytes)],
            cacheControl: cachePolicy.documents)
    }

    private static var sorted: [(key: ProblemCode, value: ProblemCode.Definition)] {
        ProblemCode.definitions.sorted {
            ($0.value.status, $0.key.rawValue) < ($1.value.status, $1.key.rawValue)
        }
    }
}

extension JSONWriter {
    fileprivate mutating func value(_ code: ProblemCode, _ definition: ProblemCode.Definition) {
        beginObject()
        member("type", Problem(code).type)
        member("code", code.rawValue)
        member("title", definition.title)
        member("status", definition.status)
        member("meaning", definition.meaning)
        member("remedy", definition.remedy)
        endObject()
    }
}
