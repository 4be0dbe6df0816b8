extension NearbyPlacesRequest {
    /// The query's parameters, in the order in which `encode(into:)` writes them.
    package enum Parameter: FilteredParameter, Hashable {
        case lat, long, radius, limit, bbox
        case filter(PlaceFilter.Parameter)
        case cursor

        package init?(rawValue: Int) {
            switch rawValue {
            case 0: self = .lat
            case 1: self = .long
            case 2: self = .radius
            case 3: self = .limit
            case 4: self = .bbox
            case 5 + PlaceFilter.Parameter.count: self = .cursor
            default:
                guard let parameter = PlaceFilter.Parameter(rawValue: rawValue - 5) else { return nil }
                self = .filter(parameter)
            }
        }

        package var rawValue: Int {
            switch self {
            case .lat: 0
            case .long: 1
            case .radius: 2
            case .limit: 3
            case .bbox: 4
            case .filter(let parameter): 5 + parameter.rawValue
            case .cursor: 5 + PlaceFilter.Parameter.count
            }
        }

        package var name: StaticString {
            switch self {
            case .lat: "lat"
            case .long: "long"
            case .radius: "radius"
            case .limit: "limit"
            case .bbox: "bbox"
            case .filter(let parameter): parameter.name
            case .cursor: "cursor"
            }
        }
    }

    /// Reads a raw query.
    ///
    /// - Parameters:
    ///   - query: the UTF-8 bytes of a request target behind its `?`, still percent-encoded.
    ///   - ignored: parameters that a gateway adds, which are not read.
    ///   - vocabulary: the names that there are, looked up where the query has some; without it they aren't checked.
    /// - Throws: every fault of the query at once.
    package static func decode(
        query: some Collection<UInt8>, ignoring ignored: [ParameterPattern] = [],
        vocabulary: @autoclosure () -> FilterVocabulary? = nil
    ) throws(ParameterError) -> NearbyPlacesRequest {
        try withQueryBytes(query) { (bytes) throws(ParameterError) in
            try decode(query: bytes, ignoring: ignored, vocabulary: vocabulary())
        }
    }

    /// The same for bytes in memory.
    package static func decode(
        query bytes: UnsafeBufferPointer<UInt8>, ignoring ignored: [ParameterPattern],
        vocabulary: @autoclosure () -> FilterVocabulary?
    ) throws(ParameterError) -> NearbyPlacesRequest {
        var query = QueryDecoder<Parameter>(bytes, ignoring: ignored)
        let hasBox = query.has(.bbox)
        let center =
            hasBox
            ? query.optionalCoordinate(latitude: .lat, longitude: .long)
            : query.coordinate(latitude: .lat, longitude: .long)
        let radiusMeters = query.number(
            .radius, in: 0.nextUp...maximumRadiusMeters,
            "must be a number of metres above 0 and at most 20037508")
        if hasBox, query.has(.radius) {
            query.report(.radius, .conflictingParameters, "can't be given together with bbox")
        }
        let limit = query.integer(.limit, in: limits, "must be a whole number from 1 to 100")
        let box = query.box(.bbox)
        let filter = query.filter(vocabulary())
        let cursor = query.text(.cursor).map(PageCursor.init(rawValue:))
        let request = NearbyPlacesRequest(
            center: center, radiusMeters: radiusMeters, limit: limit, box: box, filter: filter, cursor: cursor
        )
        if cursor != nil { query.checkCursor(.cursor, of: request) }
        guard query.faults.isEmpty else { throw ParameterError(faults: query.faults) }
        return request
    }

    /// The coordinate that the order starts from: the centre, else the box's middle; nil where there is neither.
    package var orderCenter: Coordinate? { center ?? box?.middle }

    /// What the page begins behind; nil for the first, and for a cursor that isn't this request's.
    package var start: PagePosition? {
        cursor.flatMap { cursor in try? cursor.start(in: self) }
    }
}

extension QueryDecoder {
    /// Refuses a malformed cursor, and one of another query.
    fileprivate mutating func checkCursor(_ parameter: Parameter, of request: NearbyPlacesRequest) {
        // With other faults, the query that the cursor has to match isn't known.
        guard let cursor = request.cursor, faults.isEmpty else { return }
        do {
            _ = try cursor.start(in: request)
        } catch {
            switch error {
            case .malformed:
                report(parameter, .malformedCursor, "must be a cursor from a Link header, unchanged")
            case .mismatch:
                report(parameter, .cursorMismatch, "belongs to another query")
            }
        }
    }
}
