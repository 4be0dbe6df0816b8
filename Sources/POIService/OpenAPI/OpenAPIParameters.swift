import PointsOfInterestAPI

extension OpenAPIDocument {
    /// What `GET /locations` takes.
    var locationsParameters: [JSONValue] {
        NearbyPlacesRequest.Parameter.allCases.map { parameter in
            Self.query(parameter.name, description(of: parameter), schema(of: parameter))
        }
    }

    /// What `GET /locations/{id}` takes.
    var locationParameters: [JSONValue] {
        let id: JSONValue = [
            "name": "id", "in": "path", "required": true, "description": "The place's id.",
            "schema": Self.placeID,
        ]
        return [id]
            + PlaceRequest.Parameter.allCases.map { parameter in
                switch parameter {
                case .lat:
                    Self.query(
                        parameter.name, "Degrees north of where the distance is told from; with `long`.",
                        Self.latitude)
                case .long:
                    Self.query(
                        parameter.name, "Degrees east of where the distance is told from; with `lat`.",
                        Self.longitude)
                }
            }
    }

    private func schema(of parameter: NearbyPlacesRequest.Parameter) -> JSONValue {
        switch parameter {
        case .lat: Self.latitude
        case .long: Self.longitude
        case .radius:
            [
                "type": "number", "exclusiveMinimum": 0,
                "maximum": .number(NearbyPlacesRequest.maximumRadiusMeters),
            ]
        case .limit:
            Self.integer(NearbyPlacesRequest.limits, default: NearbyPlacesRequest.defaultLimit)
        case .bbox:
            [
                "type": "array", "minItems": 4, "maxItems": 4,
                "prefixItems": [Self.longitude, Self.latitude, Self.longitude, Self.latitude],
                "items": ["type": "number"],
            ]
        case .category:
            [
                "type": "array", "minItems": 1,
                "maxItems": .integer(NearbyPlacesRequest.maximumCategoryCount),
                "items": ["type": "string", "enum": .strings(vocabulary.sortedNames)],
            ]
        case .q:
            // A NUL is no character of any text; lengths count Unicode scalars, as JSON Schema does.
            [
                "type": "string", "minLength": .integer(NearbyPlacesRequest.searchTextLengths.lowerBound),
                "maxLength": .integer(NearbyPlacesRequest.searchTextLengths.upperBound),
                "pattern": #"^[^\u0000]*$"#,
            ]
        case .featured: ["type": "boolean"]
        case .cursor:
            ["type": "string", "pattern": .string("^[A-Za-z0-9_-]{\(PageCursor.characterCount)}$")]
        }
    }

    private func description(of parameter: NearbyPlacesRequest.Parameter) -> String {
        switch parameter {
        case .lat: "Degrees north of the centre. Required, with `long`, unless `bbox` is given."
        case .long: "Degrees east of the centre. Required, with `lat`, unless `bbox` is given."
        case .radius: "Only places at most this many metres from the centre. Not together with `bbox`."
        case .limit: "At most this many places."
        case .bbox:
            """
            Only places in this box: west, south, east, north in degrees; a west greater than the east crosses \
            the antimeridian, south is at most north. A place at a pole belongs to every box that touches the \
            pole, whatever its longitude. Without a centre, places come by their distance from the box's \
            middle, which the answer doesn't tell.
            """
        case .category: "Only places of one of these categories."
        case .q:
            """
            Only places with, for each word of this text, a word in their name that begins so; case and \
            accents don't matter.
            """
        case .featured: "Only places that are featured, or only those that aren't."
        case .cursor:
            """
            The next page: taken, unchanged, out of the `Link` header of an answer to the same query; only \
            `limit` may differ.
            """
        }
    }

    /// What any request may carry.
    static let commonParameters: [JSONValue] = [
        [
            "name": "X-Request-Id", "in": "header",
            "description": "The request's id for logs; one that isn't sane is replaced.",
            "schema": ["type": "string"],
        ]
    ]

    /// What a request for something that has an `ETag` may carry.
    static let conditionalParameters: [JSONValue] =
        commonParameters + [
            [
                "name": "If-None-Match", "in": "header",
                "description": "Tags of answers that the client holds (RFC 9110, section 13.1.2).",
                "schema": ["type": "string"],
            ]
        ]

    private static func query(_ name: StaticString, _ description: String, _ schema: JSONValue) -> JSONValue {
        var members: [(String, JSONValue)] = [
            ("name", .string(name.description)), ("in", "query"), ("required", false),
            ("description", .string(description)), ("schema", schema),
        ]
        if case .object(let schema) = schema, schema.contains(where: { $0.value == "array" }) {
            members += [("style", "form"), ("explode", false)]
        }
        return .object(members)
    }
}
