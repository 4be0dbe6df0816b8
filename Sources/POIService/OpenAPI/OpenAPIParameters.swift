import PointsOfInterestServerAPI
import PointsOfInterestAPI

extension OpenAPIDocument {
    var locationsParameters: [JSONValue] {
        NearbyPlacesRequest.Parameter.allCases.map { parameter in
            Self.query(parameter.name.description, description(of: parameter), schema(of: parameter))
        } + propertyParameters
    }

    var clustersParameters: [JSONValue] {
        ClustersRequest.Parameter.allCases.map { parameter in
            switch parameter {
            case .zoom:
                Self.query(
                    parameter.name.description,
                    """
                    The zoom of the map. Cells are the tiles of Web Mercator two levels below it. The box may touch \
                    \(ClustersRequest.maximumCellCount) of them at most.
                    """, Self.integer(ClustersRequest.zooms), isRequired: true)
            case .bbox:
                Self.query(
                    parameter.name.description,
                    """
                    The part of the map that is shown: west, south, east and north, in degrees. The south is at most \
                    the north. If the west is greater than the east, the box crosses the antimeridian. Cells that \
                    the box touches are counted whole.
                    """, schema(of: NearbyPlacesRequest.Parameter.bbox), isRequired: true)
            case .filter(let filter):
                Self.query(filter.name.description, Self.description(of: filter), schema(of: filter))
            case .properties:
                Self.query(
                    parameter.name.description, description(of: NearbyPlacesRequest.Parameter.properties),
                    schema(of: NearbyPlacesRequest.Parameter.properties))
            case .lang: language
            }
        } + propertyParameters
    }

    var locationParameters: [JSONValue] {
        [Self.placeIDParameter]
            + PlaceRequest.Parameter.allCases.map { parameter in
                switch parameter {
                case .lat:
                    Self.query(
                        parameter.name.description,
                        "The latitude of the centre, in degrees. Together with `long`.", Self.latitude)
                case .long:
                    Self.query(
                        parameter.name.description,
                        "The longitude of the centre, in degrees. Together with `lat`.", Self.longitude)
                case .lang: language
                }
            }
    }

    /// The only value of a parameter that asks for all.
    static let all: JSONValue = ["type": "string", "enum": ["all"]]

    var categoriesParameters: [JSONValue] {
        CategoriesRequest.Parameter.allCases.map { parameter in
            switch parameter {
            case .q:
                Self.query(
                    parameter.name.description,
                    """
                    Only categories that match: each word of this text has to begin a word of the category's name, or of one of \
                    the words for it in any language. Case and accents don't matter.
                    """, schema(of: PlaceFilter.Parameter.q))
            case .lang:
                Self.query(
                    parameter.name.description,
                    "The user's languages (BCP 47), the preferred one first, in which categories have a `label`.",
                    schema(of: NearbyPlacesRequest.Parameter.lang))
            case .words:
                Self.query(
                    parameter.name.description,
                    "`all`: categories come with the words for them in all languages.", Self.all)
            }
        }
    }

    static let placeIDParameter: JSONValue = [
        "name": "id", "in": "path", "required": true, "description": "The place's id.",
        "schema": placeID,
    ]

    private var language: JSONValue {
        let parameter = NearbyPlacesRequest.Parameter.lang
        return Self.query(parameter.name.description, description(of: parameter), schema(of: parameter))
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
        case .limit: Self.integer(NearbyPlacesRequest.limits, default: NearbyPlacesRequest.defaultLimit)
        case .bbox: Self.box
        case .filter(let filter): schema(of: filter)
        case .properties:
            [
                "type": "array", "minItems": 1,
                "maxItems": .integer(NearbyPlacesRequest.maximumPropertyCount),
                "items": ["type": "string", "minLength": 1, "pattern": #"^[^\u0000]*$"#],
            ]
        case .lang:
            [
                "type": "array", "minItems": 1,
                "maxItems": .integer(NearbyPlacesRequest.maximumLanguageCount), "items": Self.languageTag,
            ]
        case .cursor: ["type": "string", "pattern": .string(PageCursor.pattern)]
        case .ids:
            [
                "type": "array", "minItems": 1, "maxItems": .integer(NearbyPlacesRequest.maximumIDCount),
                "items": Self.placeID,
            ]
        case .sort: ["type": "string", "enum": .strings(PlaceSort.allCases.map(\.rawValue))]
        case .near:
            [
                "type": "number", "minimum": 0, "maximum": .number(NearbyPlacesRequest.maximumRadiusMeters),
                "default": .number(NearbyPlacesRequest.defaultNearMeters),
            ]
        }
    }

    private func description(of parameter: NearbyPlacesRequest.Parameter) -> String {
        switch parameter {
        case .lat:
            "The latitude of the centre, in degrees. Required with `long`, unless there is a `bbox`, `ids` or `sort`."
        case .long:
            "The longitude of the centre, in degrees. Required with `lat`, unless there is a `bbox`, `ids` or `sort`."
        case .radius:
            "The maximum distance from the centre, in metres. Only with `lat` and `long`, not together with `bbox`."
        case .limit: "The maximum number of places."
        case .bbox:
            """
            Only places in this box: west, south, east and north, in degrees. The south is at most the north. If the \
            west is greater than the east, the box crosses the antimeridian. A place at a pole is in every box that \
            touches the pole, whatever its longitude. Without a centre, places are sorted by their distance from the \
            middle of the box, and have no `distance`.
            """
        case .filter(let filter): Self.description(of: filter)
        case .properties:
            """
            The names of the properties that places come with, where they have them. A comma in a name is \
            percent-encoded, those between are not. A place's details have all of its properties.
            """
        case .lang:
            """
            The user's languages (BCP 47), the preferred one first. A place that has a name in one of them comes with that \
            name and its `language`: of each language, also in what is left of the tag without its last subtags (RFC 4647, \
            section 3.4). Other places come with their usual name. What a place's category is called in one of them is its \
            `categoryLabel`.
            """
        case .cursor:
            """
            Where the page begins: the cursor from the `Link` header of the page before, unchanged. All other \
            parameters except `limit` have to be the same as for that page.
            """
        case .ids:
            """
            Only the places with these ids, such as a user's favourites, on one page: by their ids, or nearest first where \
            there is a centre. Ids that no place has are passed over. Together with `lat`, `long`, `properties` and `lang` \
            only.
            """
        case .sort:
            """
            `relevance`: places are found by `q`, which has to be there, also by their addresses and categories, by \
            abbreviations, and with errors; how well they are found, how important they are and whether they are near decides \
            which come first. The order may improve with a release. Without `lat` and `long`, places have no `distance`. \
            Without `sort`, places are sorted by distance.
            """
        case .near:
            """
            With `sort=relevance`, `lat` and `long`: places within so many metres of the centre are near, and come before \
            others that are found as well; 0 is none.
            """
        }
    }

    // MARK: Filters

    func schema(of filter: PlaceFilter.Parameter) -> JSONValue {
        switch filter {
        case .category: Self.names(vocabulary.categories, atMost: NearbyPlacesRequest.maximumCategoryCount)
        case .dataset: Self.names(vocabulary.datasets, atMost: PlaceFilter.maximumDatasetCount)
        case .q:
            // A text has no NUL. Lengths count Unicode scalars, as in JSON Schema.
            [
                "type": "string", "minLength": .integer(NearbyPlacesRequest.searchTextLengths.lowerBound),
                "maxLength": .integer(NearbyPlacesRequest.searchTextLengths.upperBound),
                "pattern": #"^[^\u0000]*$"#,
            ]
        case .featured: ["type": "boolean"]
        }
    }

    /// The schema of a list of names. It has no `enum` if there are no names, since an `enum` has at least one value.
    private static func names(_ names: NameVocabulary, atMost maximumCount: Int) -> JSONValue {
        let names = names.sortedNames
        return [
            "type": "array", "minItems": 1, "maxItems": .integer(maximumCount),
            "items": names.isEmpty ? ["type": "string"] : ["type": "string", "enum": .strings(names)],
        ]
    }

    static func description(of filter: PlaceFilter.Parameter) -> String {
        switch filter {
        case .category: "Only places of one of these categories."
        case .dataset:
            "Only places that came from one of these datasets. A comma in a name is percent-encoded, those between are not."
        case .q:
            """
            Only places with a name that matches: each word of this text has to begin a word of that name, which is \
            the one shown, one in another language, or one that is only searched. Case and accents don't matter.
            """
        case .featured: "Only featured places (`true`), or only others (`false`)."
        }
    }

    var propertyParameters: [JSONValue] {
        vocabulary.properties.sorted.map { name, kind in
            let rule = "A request filters by at most \(PropertyFilter.maximumCount) properties."
            let (items, description): (JSONValue, String) =
                switch kind {
                case .boolean: (["type": "boolean"], "Only places whose property is true, or false. \(rule)")
                case .text:
                    (
                        // A text has no NUL, and commas separate texts.
                        [
                            "type": "string", "minLength": .integer(PropertyFilter.valueLengths.lowerBound),
                            "maxLength": .integer(PropertyFilter.valueLengths.upperBound),
                            "pattern": #"^[^\u0000,]*$"#,
                        ],
                        """
                        Only places whose property is one of these texts, or an array with one of them. Texts are compared \
                        as they are written, in Normalization Form C. \(rule)
                        """
                    )
                }
            return Self.query(
                "\(PropertyFilter.prefix)\(name)", description,
                [
                    "type": "array", "minItems": 1, "maxItems": .integer(PropertyFilter.maximumValueCount),
                    "items": items,
                ])
        }
    }

    // MARK: Others

    static let commonParameters: [JSONValue] = [
        [
            "name": "X-Request-Id", "in": "header",
            "description": "The request's id for logs. An invalid one is replaced.",
            "schema": ["type": "string"],
        ]
    ]

    /// The parameters of operations whose responses have an `ETag`.
    static let conditionalParameters: [JSONValue] =
        commonParameters + [
            [
                "name": "If-None-Match", "in": "header",
                "description": "Entity tags of responses that the client has (RFC 9110, section 13.1.2).",
                "schema": ["type": "string"],
            ]
        ]

    /// West, south, east and north.
    static let box: JSONValue = [
        "type": "array", "minItems": 4, "maxItems": 4,
        "prefixItems": [longitude, latitude, longitude, latitude], "items": ["type": "number"],
    ]

    static func query(
        _ name: String, _ description: String, _ schema: JSONValue, isRequired: Bool = false
    ) -> JSONValue {
        var members: [(String, JSONValue)] = [
            ("name", .string(name)), ("in", "query"), ("required", .boolean(isRequired)),
            ("description", .string(description)), ("schema", schema),
        ]
        if case .object(let schema) = schema, schema.members.contains(where: { $0.value == "array" }) {
            members += [("style", "form"), ("explode", false)]
        }
        return .object(members)
    }
}
