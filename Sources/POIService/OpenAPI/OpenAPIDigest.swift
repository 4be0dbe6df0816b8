import PointsOfInterestAPI
import PointsOfInterestServerAPI

/// Where the service tells the sums of places.
extension OpenAPIDocument {
    var digest: Operation {
        Operation(
            id: "getDigest", tag: "places",
            summary: """
                The sums of groups or of buckets of places, by which an app finds what differs from the places that it keeps, and \
                the places of buckets.
                """,
            parameters: digestParameters, content: [(MediaType.json, Self.schema("Digest"))],
            mayBeStale: true, problems: Self.databaseProblems, key: .data)
    }

    private var digestParameters: [JSONValue] {
        DigestRequest.Parameter.allCases.filter { $0 != .filter(.q) }.map { parameter in
            Self.query(parameter.name.description, Self.description(of: parameter), schema(of: parameter))
        } + propertyParameters
    }

    private static func description(of parameter: DigestRequest.Parameter) -> String {
        switch parameter {
        case .bbox:
            """
            Only places in this box: west, south, east and north, in degrees. The south is at most the north. If the west is \
            greater than the east, the box crosses the antimeridian.
            """
        case .filter(let filter): description(of: filter)
        case .group:
            "The sums of the buckets of these groups, or with `places` the places of one. Without `bucket`."
        case .bucket:
            "The places of these buckets: the numbers of a group and of a bucket in it. Without `group`."
        case .places: "With one `group`: the places of all of its buckets, for `true`."
        case .names:
            "With `bucket` or `places`: places come with their names in all languages and those that are only searched."
        }
    }

    private func schema(of parameter: DigestRequest.Parameter) -> JSONValue {
        func list(_ items: JSONValue) -> JSONValue {
            [
                "type": "array", "minItems": 1, "maxItems": .integer(DigestRequest.maximumPartCount),
                "items": items,
            ]
        }
        return switch parameter {
        case .bbox: Self.box
        case .filter(let filter): schema(of: filter)
        case .group: list(Self.integer(0...PlaceDigest.groupCount - 1))
        case .bucket: list(["type": "string", "pattern": .string("^\(Self.bucketPattern)$")])
        case .places: ["type": "boolean"]
        case .names: Self.all
        }
    }

    /// A number of 0…63, a point, and another one.
    private static let bucketPattern = #"([1-5]?[0-9]|6[0-3])\.([1-5]?[0-9]|6[0-3])"#

    var digestSchemas: [(String, JSONValue)] {
        guard hasDigest else { return [] }
        return [
            (
                "Digest",
                [
                    "anyOf": [
                        Self.schema("DigestSums"), Self.schema("DigestGroups"), Self.schema("DigestBuckets"),
                    ]
                ]
            ),
            (
                "DigestSums",
                Self.object(
                    required: [
                        Self.digestDataset, ("count", ["type": "integer", "minimum": 0]),
                        ("sums", Self.sums(PlaceDigest.groupCount, "[A-Za-z0-9_-]{11}")),
                    ], "The sums of all groups, by their numbers, and how many places there are.")
            ),
            (
                "DigestGroups",
                Self.object(
                    required: [
                        Self.digestDataset,
                        ("groups", Self.map(Self.sums(PlaceDigest.bucketsPerGroup, "[A-Za-z0-9_-]{6}"))),
                    ], "By the numbers of groups, the sums of their buckets.")
            ),
            (
                "DigestBuckets",
                Self.object(
                    required: [
                        Self.digestDataset,
                        ("buckets", Self.map(["type": "array", "items": Self.schema("DigestPlace")])),
                    ], "By their names, all buckets that were asked for, each with its places by id.")
            ),
            ("DigestPlace", Self.digestPlace),
        ]
    }

    private static let digestDataset: (String, JSONValue) = (
        "dataset",
        [
            "type": "string", "pattern": "^[0-9a-f]{32}$",
            "description": "The id of the data's version: responses with the same one are of one state.",
        ]
    )

    private static let digestPlace: JSONValue = [
        "allOf": [
            schema("PointOfInterest"),
            object(
                required: [("hash", ["type": "string", "pattern": "^([A-Za-z0-9_-]{11})?$"])],
                optional: [
                    (
                        "names",
                        ["type": "object", "minProperties": 1, "additionalProperties": ["type": "string"]]
                    ),
                    ("otherNames", ["type": "array", "minItems": 1, "items": ["type": "string"]]),
                ]),
        ],
        "description":
            "A place as in its details, with a hash of its content, and with `names=all` with all of its names.",
    ]

    /// So many sums, opaque texts, which are empty where there are no places.
    private static func sums(_ count: Int, _ text: String) -> JSONValue {
        [
            "type": "array", "minItems": .integer(count), "maxItems": .integer(count),
            "items": ["type": "string", "pattern": .string("^(\(text))?$")],
        ]
    }

    private static func map(_ values: JSONValue) -> JSONValue {
        ["type": "object", "minProperties": 1, "additionalProperties": values]
    }
}
