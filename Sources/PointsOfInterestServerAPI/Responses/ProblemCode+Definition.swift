import PointsOfInterestAPI

extension ProblemCode {
    /// What the page about a problem says about its code.
    package struct Definition: Sendable {
        /// The status of the response, unless HTTP asks for another.
        package let status: Int
        /// What kind of problem this is.
        package let title: String
        /// What has happened.
        package let meaning: String
        /// What to do about it.
        package let remedy: String
    }

    /// Every code that the service, or the load balancer in front of it, sends, with its texts.
    package static let definitions: [ProblemCode: Definition] = kinds.reduce(into: [:]) { definitions, kind in
        guard let explanation = explanations[kind.key] else { return }
        definitions[kind.key] = Definition(
            status: kind.value.status, title: kind.value.title, meaning: explanation.meaning,
            remedy: explanation.remedy)
    }

    /// The long texts, which only the service's pages show.
    struct Explanation {
        let meaning: String
        let remedy: String

        init(means meaning: String, remedy: String) {
            self.meaning = meaning
            self.remedy = remedy
        }
    }

    static let explanations: [ProblemCode: Explanation] = [
        .invalidParameters: Explanation(
            means: """
                Parameters of the query have faults of more than one kind. The problem's errors name every \
                one of them.
                """,
            remedy:
                "Correct each parameter that errors names, by its code and detail, and send the request again."
        ),
        .unknownParameter: Explanation(
            means: """
                The query names a parameter that the endpoint doesn't have. It is not ignored, since with a \
                misspelt filter the response would have the wrong places.
                """,
            remedy: """
                Correct the name, or leave the parameter out. What a gateway adds can be named in \
                POI_IGNORED_PARAMETERS.
                """),
        .repeatedParameter: Explanation(
            means: """
                The query gives a parameter twice. The service doesn't guess which of the two is meant.
                """,
            remedy: "Give the parameter once. Several categories are one comma-separated list."),
        .missingParameter: Explanation(
            means: "The endpoint needs a parameter that the query doesn't have.",
            remedy: "Add the parameter. Places are asked for by lat and long, or by bbox."),
        .emptyParameter: Explanation(
            means: "The query names a parameter and gives it no value, or leaves an item of a list empty.",
            remedy: "Give the parameter a value, or leave it out."),
        .tooManyParameters: Explanation(
            means: "The query has more than 100 parameters.",
            remedy: "Send only parameters that the endpoint has, each once."),
        .malformedEncoding: Explanation(
            means: """
                A percent sign isn't followed by two hexadecimal digits, or what is encoded isn't UTF-8 or \
                has a NUL.
                """,
            remedy: "Percent-encode the UTF-8 of names and values. A plus sign is %2B, since + means a space."
        ),
        .notANumber: Explanation(
            means: "The value isn't a decimal number: digits, with a point and an exponent at most.",
            remedy: "Send a number such as 37.3293, -121.8893 or 5e-05."),
        .notAnInteger: Explanation(
            means: "The value isn't a whole number in decimal digits.",
            remedy: "Send a number such as 20, without a point or an exponent."),
        .outOfRange: Explanation(
            means: "The number is too small or too large, or the text is too short or too long.",
            remedy: "Use a value within the range that the fault's detail names. Values are not clamped."),
        .swappedCoordinates: Explanation(
            means: "The latitude is out of range, and would be a valid longitude.",
            remedy: "Send the latitude, -90 to 90, as lat and the longitude, -180 to 180, as long."),
        .notABoolean: Explanation(
            means: "The value is neither true nor false.",
            remedy: "Send true or false, in lower case."),
        .tooManyValues: Explanation(
            means: "The list has more values than the endpoint takes.",
            remedy: "Name fewer: at most 50 categories."),
        .malformedBox: Explanation(
            means: "The value isn't four numbers, or its south is greater than its north.",
            remedy: """
                Send west,south,east,north in degrees. A west that is greater than the east crosses the \
                antimeridian.
                """),
        .unknownCategory: Explanation(
            means: "The query names a category that has never existed.",
            remedy: "Use a name from /categories. The fault's detail names the nearest one."),
        .unknownDataset: Explanation(
            means: "The query names a dataset that no place came from.",
            remedy: "Use a name from /attributions. The fault's detail names the nearest one."),
        .unknownProperty: Explanation(
            means: "The query has a parameter property.NAME whose property can't be filtered by.",
            remedy:
                "Use one of those that /openapi.json lists. The fault's detail names the nearest one. A property that places have can be filtered by once its name is in the table filterable_properties."
        ),
        .malformedLanguage: Explanation(
            means:
                "A language isn't a tag of letters, digits and hyphens (RFC 5646), or has more than 35 characters.",
            remedy:
                "Send tags such as en, ja or zh-Hant-TW, the preferred one first. Unknown ones are fine, * isn't."
        ),
        .unknownSort: Explanation(
            means: "The query asks for an order that there isn't.",
            remedy: "Use sort=relevance together with q, or leave sort out for the order by distance."),
        .conflictingParameters: Explanation(
            means: "The query has two parameters that exclude each other.",
            remedy:
                "Give one of the two: radius or bbox; or ids, and of the others lat, long, lang and properties only."
        ),
        .malformedCursor: Explanation(
            means: "The cursor isn't one that the service has made.",
            remedy: """
                Take the next page's query from the Link header, unchanged. For the first page, leave the cursor out.
                """),
        .cursorMismatch: Explanation(
            means: "The cursor was made for a query with other parameters.",
            remedy: "Follow the Link header unchanged. For a changed query, start at its first page."),

        .badRequest: Explanation(
            means: """
                What arrived isn't an HTTP request, or one that can be read in more than one way. The \
                connection is closed.
                """,
            remedy: "Check the client and the proxies before the service. The detail says what was wrong."),
        .unauthorized: Explanation(
            means: """
                The service needs a key with each request. This request has none, or a wrong one.
                """,
            remedy: """
                Send the key as Authorization: Bearer, a space, and the key. Check it with the people who run the \
                service: a wrong key won't work later.
                """),
        .forbidden: Explanation(
            means: "The request's key isn't one of the service's.",
            remedy: "Check the key with the people who run the service. The same key won't work later."),
        .unknownPath: Explanation(
            means: "The path isn't one of the service's.",
            remedy: "Check the base URL and the path. /openapi.json describes all paths."),
        .notFound: Explanation(
            means: "There is no place with this id: it never existed, or is gone.",
            remedy: "Load the places again, and forget this id."),
        .gone: Explanation(
            means: "There was a place with this id, and it was removed.",
            remedy: "Forget this id. An editor may restore the place, which has the same id then."),
        .notAnEditor: Explanation(
            means: "The key reads places. To edit them takes an editor's key.",
            remedy: "Ask the people who run the service for an editor's key."),
        .merged: Explanation(
            means: """
                The place is the same as another one, into which an editor has merged it. The problem's mergedInto is \
                that one's id.
                """,
            remedy: "Edit the place that mergedInto names."),
        .preconditionRequired: Explanation(
            means: """
                The request would change a place, and doesn't say which version of it was seen: somebody else's \
                change could be lost.
                """,
            remedy: "Send the ETag of the place's record in If-Match."),
        .invalidContent: Explanation(
            means: """
                Members of the body have faults, so nothing was changed. The problem's errors name every one by its \
                pointer (RFC 6901), with a code and a detail.
                """,
            remedy: "Correct each member that errors names, and send the request again."),
        .idempotencyKeyReused: Explanation(
            means: """
                Another request of this editor had the same Idempotency-Key within the last 24 hours, and another \
                path or body. Nothing was changed.
                """,
            remedy: "Make a key for each edit, such as a UUID, and send the same one only with the same edit."
        ),
        .methodNotAllowed: Explanation(
            means: "The path exists, but not for this method.",
            remedy: "Use a method that the Allow header names."),
        .notAcceptable: Explanation(
            means: "The service has none of the media types or codings that the request accepts.",
            remedy: "Accept application/json, or */*; places also come as application/geo+json."),
        .preconditionFailed: Explanation(
            means: "The request's If-Match names tags, none of which is the resource's.",
            remedy: """
                To edit, load the record again, and decide anew: the response's ETag is its current version. To read, \
                leave If-Match out, and send If-None-Match to get no response that you already have.
                """
        ),
        .requestTimeout: Explanation(
            means: "The headers or the body weren't complete in time. The connection is closed.",
            remedy: "Send the request at once, on a new connection."),
        .contentTooLarge: Explanation(
            means: "The request's body is larger than the service takes. The connection is closed.",
            remedy: "Send less: at most 1 MiB."),
        .uriTooLong: Explanation(
            means: "The request line is longer than the service takes. The connection is closed.",
            remedy: "Shorten the query: the request line has at most 8 KiB."),
        .malformedBody: Explanation(
            means: "The request's body isn't JSON, or not the kind of document that the endpoint reads.",
            remedy: "Send a JSON array of events. The detail names the first byte that is wrong."),
        .unsupportedMediaType: Explanation(
            means: "The request's Content-Type names something that the endpoint doesn't read.",
            remedy: "Send JSON, as Content-Type: application/json."),
        .unsupportedContentEncoding: Explanation(
            means: "The request's Content-Encoding names a coding that the endpoint doesn't read.",
            remedy: "Send the body as it is, or with Content-Encoding: gzip."),
        .invalidEvents: Explanation(
            means: """
                Events of the batch have faults, so no event of it is stored. The problem's errors name every such \
                event by its index, from 0.
                """,
            remedy: "Leave out the events that errors names, or correct them, and send the others again."),
        .expectationFailed: Explanation(
            means: "The request's Expect header asks for something other than 100-continue.",
            remedy: "Leave the Expect header out."),
        .tooManyRequests: Explanation(
            means: "The client sends more requests than it may.",
            remedy: "Wait as many seconds as the Retry-After header says, then send fewer requests."),
        .headersTooLarge: Explanation(
            means: "The request's headers are larger than the service takes. The connection is closed.",
            remedy: "Send fewer or shorter headers: at most 16 KiB together."),

        .internalError: Explanation(
            means: "The service failed. Its log has the reason.",
            remedy:
                "Send the request again later. Tell the problem's requestId to the people who run the service."
        ),
        .notImplemented: Explanation(
            means: "The service doesn't know the request's method or transfer coding.",
            remedy: "Use GET, and send no body or one of a known length."),
        .badGateway: Explanation(
            means: """
                The load balancer before the service could not connect to a server, or the connection to it broke.
                """,
            remedy: "Send the request again in a moment."),
        .overloaded: Explanation(
            means: "The service, or this client, has as many requests as it takes at once.",
            remedy: "Send the request again after the seconds that the Retry-After header says."),
        .notReady: Explanation(
            means: "The service is starting or shutting down, or its database lacks migrations.",
            remedy: "Use another instance, or try again after the seconds that the Retry-After header says."
        ),
        .databaseUnavailable: Explanation(
            means: "The service can't reach its database.",
            remedy: "Send the request again after the seconds that the Retry-After header says."),
        .areaTooLarge: Explanation(
            means: "The box and the filter have more places than the service compares with those of a phone.",
            remedy: """
                Ask for a smaller box or fewer categories, or set POI_DIGEST_MAX_PLACES. The detail says how many there are.
                """),
        .indexRequired: Explanation(
            means: """
                Searches, boxes, clusters, and places with a property that is asked for, are found among places in memory, and \
                this server runs without them (POI_INDEX=off).
                """,
            remedy: "Ask for the nearest places without q, sort, bbox and property, or set POI_INDEX to on."),
        .databaseBusy: Explanation(
            means: "No connection to the database came free in time.",
            remedy: "Send the request again after the seconds that the Retry-After header says."),
        .queryTimeout: Explanation(
            means: "Finding the places took too long, and was given up.",
            remedy:
                "Send the request again later, or ask for less: a smaller radius or box, or fewer filters."),
        .gatewayTimeout: Explanation(
            means: "The load balancer before the service got no response from a server in time.",
            remedy:
                "Send the request again in a moment. Tell the problem's requestId to the people who run the service."
        ),
        .httpVersionNotSupported: Explanation(
            means: "The request's version of HTTP isn't 1.0 or 1.1.",
            remedy: "Use HTTP/1.1."),
    ]
}
