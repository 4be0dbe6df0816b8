extension NearbyPlacesRequest {
    /// The query's parameters, in the order in which they are encoded.
    package enum Parameter: Int, QueryParameter {
        case lat, long, radius, limit, bbox, category, q, featured, cursor

        package var name: StaticString {
            switch self {
            case .lat: "lat"
            case .long: "long"
            case .radius: "radius"
            case .limit: "limit"
            case .bbox: "bbox"
            case .category: "category"
            case .q: "q"
            case .featured: "featured"
            case .cursor: "cursor"
            }
        }
    }

    /// The query's items in a fixed order, absent options left out: equal requests, equal queries.
    public func encode() -> [QueryItem] {
        var items: [QueryItem] = []
        if let center {
            items.append(QueryItem(Parameter.lat, center.latitude))
            items.append(QueryItem(Parameter.long, center.longitude))
        }
        if let radiusMeters { items.append(QueryItem(Parameter.radius, radiusMeters)) }
        if let limit { items.append(QueryItem(Parameter.limit, limit)) }
        if let box { items.append(QueryItem(Parameter.bbox, [box.west, box.south, box.east, box.north])) }
        if !categories.isEmpty {
            items.append(QueryItem(Parameter.category, categories.uniqueInByteOrder.joined(separator: ",")))
        }
        if let searchText { items.append(QueryItem(Parameter.q, searchText)) }
        if let featured { items.append(QueryItem(Parameter.featured, featured ? "true" : "false")) }
        if let cursor { items.append(QueryItem(Parameter.cursor, cursor.rawValue)) }
        return items
    }

    /// Reads a raw query.
    ///
    /// - Parameters:
    ///   - query: the UTF-8 bytes of a request target behind its `?`, still percent-encoded.
    ///   - ignored: parameters that a gateway adds and that are none of ours.
    ///   - vocabulary: the categories that there ever were; nil doesn't check them.
    /// - Throws: every fault of the query at once.
    public static func decode(
        query: some Collection<UInt8>, ignoring ignored: [ParameterPattern] = [],
        vocabulary: CategoryVocabulary? = nil
    ) throws(ParameterError) -> NearbyPlacesRequest {
        try withQueryBytes(query) { (bytes) throws(ParameterError) in
            var query = QueryDecoder<Parameter>(bytes, ignoring: ignored)
            let hasBox = query.has(.bbox)
            let center =
                hasBox
                ? query.optionalCoordinate(latitude: .lat, longitude: .long)
                : query.coordinate(latitude: .lat, longitude: .long)
            var request = NearbyPlacesRequest(center: center)
            request.radiusMeters = query.number(
                .radius, in: 0.nextUp...maximumRadiusMeters,
                "must be a number of metres above 0 and at most 20037508")
            if hasBox, query.has(.radius) {
                query.report(.radius, .conflictingParameters, "can't be given together with bbox")
            }
            request.limit = query.integer(.limit, in: limits, "must be a whole number from 1 to 100")
            request.box = query.box(.bbox)
            request.categories = query.categories(.category, atMost: maximumCategoryCount, vocabulary)
            request.searchText = query.text(
                .q, lengths: searchTextLengths, "must be a text of 1 to 100 characters")
            request.featured = query.flag(.featured)
            request.cursor = query.text(.cursor).map(PageCursor.init(rawValue:))
            query.checkCursor(.cursor, of: request)
            guard query.faults.isEmpty else { throw ParameterError(faults: query.faults) }
            return request
        }
    }

    /// Where the page begins; nil for the first, and for a cursor that isn't this request's.
    public var position: PagePosition? {
        cursor.flatMap { cursor in try? cursor.position(in: self) }
    }
}

extension QueryDecoder {
    /// Refuses a cursor that is no cursor, or another query's.
    fileprivate mutating func checkCursor(_ parameter: Parameter, of request: NearbyPlacesRequest) {
        // With other faults there is no telling what the query was.
        guard let cursor = request.cursor, faults.isEmpty else { return }
        do {
            _ = try cursor.position(in: request)
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
