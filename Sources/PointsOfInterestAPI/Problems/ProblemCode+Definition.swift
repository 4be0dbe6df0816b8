extension ProblemCode {
    /// What goes with a code in every problem of that kind, and on the page that its type names.
    package struct Definition: Sendable {
        /// The status of the answer, unless HTTP asks for another.
        package let status: Int
        /// What kind of problem this is.
        package let title: String
        /// What has happened.
        package let meaning: String
        /// What to do about it.
        package let remedy: String

        init(_ status: Int, _ title: String, means meaning: String, remedy: String) {
            self.status = status
            self.title = title
            self.meaning = meaning
            self.remedy = remedy
        }
    }

    /// Every code that the service sends, or the balancer before it, with what goes with it.
    package static let definitions: [ProblemCode: Definition] = [
        .invalidParameters: Definition(
            400, "Several parameters are wrong",
            means: """
                Parameters of the query have faults of more than one kind. The problem's errors name every \
                one of them.
                """,
            remedy: "Correct each parameter that errors names, by its code and detail, and ask again."),
        .unknownParameter: Definition(
            400, "There is no such parameter",
            means: """
                The query names a parameter that the endpoint doesn't have. Nothing is ignored in silence, \
                since a misspelt filter would answer another question.
                """,
            remedy: """
                Correct the name, or leave the parameter out. What a gateway adds can be named in \
                POI_IGNORED_PARAMETERS.
                """),
        .repeatedParameter: Definition(
            400, "A parameter is given more than once",
            means: """
                The query gives a parameter twice, and which of the two is meant is not for the service to \
                guess.
                """,
            remedy: "Give the parameter once. Several categories are one comma-separated list."),
        .missingParameter: Definition(
            400, "A parameter is missing",
            means: "The endpoint needs a parameter that the query doesn't have.",
            remedy: "Add the parameter. Places are asked for by lat and long, or by bbox."),
        .emptyParameter: Definition(
            400, "A parameter is empty",
            means: "The query names a parameter and gives it no value, or leaves an item of a list empty.",
            remedy: "Give the parameter a value, or leave it out."),
        .tooManyParameters: Definition(
            400, "There are too many parameters",
            means: "The query has more than 100 parameters.",
            remedy: "Send only parameters that the endpoint has, each once."),
        .malformedEncoding: Definition(
            400, "A parameter is not encoded properly",
            means: """
                A percent sign isn't followed by two hexadecimal digits, or what is encoded isn't UTF-8 or \
                has a NUL.
                """,
            remedy: "Percent-encode the UTF-8 of names and values. A plus sign is %2B, since + means a space."
        ),
        .notANumber: Definition(
            400, "A parameter is not a number",
            means: "The value isn't a decimal number: digits, with a point and an exponent at most.",
            remedy: "Send a number such as 37.3293, -121.8893 or 5e-05."),
        .notAnInteger: Definition(
            400, "A parameter is not a whole number",
            means: "The value isn't a whole number in decimal digits.",
            remedy: "Send a number such as 20, without a point or an exponent."),
        .outOfRange: Definition(
            400, "A parameter is out of range",
            means: "The value is less or greater, or the text shorter or longer, than the endpoint takes.",
            remedy: "Keep to the range that the fault's detail names. Values are not clamped."),
        .swappedCoordinates: Definition(
            400, "Latitude and longitude look swapped",
            means: "The latitude is out of range, and would be a valid longitude.",
            remedy: "Send the latitude, -90 to 90, as lat and the longitude, -180 to 180, as long."),
        .notABoolean: Definition(
            400, "A parameter is neither true nor false",
            means: "The value is neither true nor false.",
            remedy: "Send true or false, in lower case."),
        .tooManyValues: Definition(
            400, "A list has too many values",
            means: "The list has more values than the endpoint takes.",
            remedy: "Name fewer: at most 50 categories."),
        .malformedBox: Definition(
            400, "The bounding box is malformed",
            means: "The value isn't four numbers, or its south is greater than its north.",
            remedy: """
                Send west,south,east,north in degrees. A west that is greater than the east crosses the \
                antimeridian.
                """),
        .unknownCategory: Definition(
            400, "There is no such category",
            means: "The query names a category that there never was.",
            remedy: "Use a name from /categories. The fault's detail tells the nearest one."),
        .conflictingParameters: Definition(
            400, "Two parameters exclude each other",
            means: "The query has two parameters that can't be given together.",
            remedy: "Give one of the two: radius, or bbox."),
        .malformedCursor: Definition(
            400, "The cursor is malformed",
            means: "The cursor isn't one that the service has made.",
            remedy: """
                Take the next page's query from the Link header, as it is. To begin anew, leave the cursor \
                out.
                """),
        .cursorMismatch: Definition(
            400, "The cursor belongs to another query",
            means: "The cursor was made for a query with other parameters.",
            remedy: "Follow the Link header as it is. A changed query begins at its own first page."),

        .badRequest: Definition(
            400, "The request is malformed",
            means: """
                What arrived isn't an HTTP request, or one that can be read in more than one way. The \
                connection is closed.
                """,
            remedy: "Check what stands between the client and the service. The detail tells what was wrong."),
        .unauthorized: Definition(
            401, "A key is needed",
            means: """
                The service is set up to answer only requests with a key. This one has none, or one that isn't the \
                service's.
                """,
            remedy: """
                Send the key as Authorization: Bearer, a space, and the key. Check it with whoever runs the service: \
                a wrong key won't work later.
                """),
        .forbidden: Definition(
            403, "The key is not accepted",
            means: "The request's key isn't one of the service's.",
            remedy: "Check the key with whoever runs the service. The same key won't work later."),
        .notFound: Definition(
            404, "There is nothing here",
            means: "The path isn't one of the service's, or there is no place with this id.",
            remedy: "Check the path. /openapi.json describes those that there are."),
        .methodNotAllowed: Definition(
            405, "The method is not allowed here",
            means: "The path is there, but not for this method.",
            remedy: "Use a method that the Allow header names."),
        .notAcceptable: Definition(
            406, "There is no acceptable representation",
            means: "The service has none of the media types or codings that the request accepts.",
            remedy: "Accept application/json, or */*; places also come as application/geo+json."),
        .preconditionFailed: Definition(
            412, "The precondition doesn't hold",
            means: "The request's If-Match names tags, and none of them is the resource's.",
            remedy:
                "Leave If-Match out: nothing is changed here. If-None-Match spares a response that you have."),
        .requestTimeout: Definition(
            408, "The request took too long to arrive",
            means: "The headers or the body weren't complete in time. The connection is closed.",
            remedy: "Send the request at once, on a new connection."),
        .contentTooLarge: Definition(
            413, "The body is too large",
            means: "The request's body is larger than the service takes. The connection is closed.",
            remedy: "Send less: at most 1 MiB."),
        .uriTooLong: Definition(
            414, "The request target is too long",
            means: "The request line is longer than the service takes. The connection is closed.",
            remedy: "Shorten the query: the request line has at most 8 KiB."),
        .malformedBody: Definition(
            400, "The body is malformed",
            means: "The request's body isn't JSON, or not the kind of document that the endpoint reads.",
            remedy: "Send a JSON array of events. The detail names the byte where it ends being one."),
        .unsupportedMediaType: Definition(
            415, "The media type is not read here",
            means: "The request's Content-Type names something that the endpoint doesn't read.",
            remedy: "Send JSON, as Content-Type: application/json."),
        .unsupportedContentEncoding: Definition(
            415, "The coding is not read here",
            means: "The request's Content-Encoding names a coding that the endpoint doesn't read.",
            remedy: "Send the body as it is, or with Content-Encoding: gzip."),
        .invalidEvents: Definition(
            422, "Some events are not valid",
            means: """
                Events of the batch have faults, and none of the batch is kept. The problem's errors name every \
                event that has one, by its index from 0.
                """,
            remedy: "Leave out the events that errors names, or correct them, and send the others again."),
        .expectationFailed: Definition(
            417, "The expectation can't be met",
            means: "The request's Expect header asks for something other than 100-continue.",
            remedy: "Leave the Expect header out."),
        .tooManyRequests: Definition(
            429, "There are too many requests",
            means: "The client asks more often than it may.",
            remedy: "Wait as many seconds as the Retry-After header says, then ask less often."),
        .headersTooLarge: Definition(
            431, "The headers are too large",
            means: "The request's headers are larger than the service takes. The connection is closed.",
            remedy: "Send fewer or shorter headers: at most 16 KiB together."),

        .internalError: Definition(
            500, "The service failed",
            means: "The service failed for a reason of its own, which its log knows.",
            remedy: "Ask again later. Tell whoever runs the service the problem's requestId."),
        .notImplemented: Definition(
            501, "The service can't do this",
            means: "The service doesn't know the request's method or transfer coding.",
            remedy: "Use GET, and send no body or one of a known length."),
        .badGateway: Definition(
            502, "No server has answered",
            means: """
                The load balancer before the service could connect to no server, or the one that it asked broke \
                off.
                """,
            remedy: "Ask again in a moment."),
        .overloaded: Definition(
            503, "The service is overloaded",
            means: "The service has as many requests or connections in hand as it takes.",
            remedy: "Ask again after as many seconds as the Retry-After header says."),
        .notReady: Definition(
            503, "The service is not ready",
            means: "The service is starting or shutting down, or its database lacks migrations.",
            remedy: "Ask another instance, or ask again after as many seconds as the Retry-After header says."
        ),
        .databaseUnavailable: Definition(
            503, "The database is not available",
            means: "The service can't reach its database.",
            remedy: "Ask again after as many seconds as the Retry-After header says."),
        .databaseBusy: Definition(
            503, "The database is busy",
            means: "No connection to the database came free in time.",
            remedy: "Ask again after as many seconds as the Retry-After header says."),
        .queryTimeout: Definition(
            504, "The query took too long",
            means: "The database took longer for the request than it may, and was told to stop.",
            remedy: "Ask again later, or for less: a smaller radius or box, or fewer filters."),
        .gatewayTimeout: Definition(
            504, "A server took too long to answer",
            means: "The load balancer before the service got no answer from a server in time.",
            remedy: "Ask again in a moment. Tell whoever runs the service the problem's requestId."),
        .httpVersionNotSupported: Definition(
            505, "The version of HTTP is not supported",
            means: "The request's version of HTTP isn't 1.0 or 1.1.",
            remedy: "Use HTTP/1.1."),
    ]
}
