import PointsOfInterestAPI

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
