extension LocationsRequest {
    /// The query's parameters, in the order in which they are encoded.
    enum Parameter: Int, QueryParameter {
        case lat, long, radius, limit

        var name: StaticString {
            switch self {
            case .lat: "lat"
            case .long: "long"
            case .radius: "radius"
            case .limit: "limit"
            }
        }
    }

    /// The query's items in a fixed order, absent options left out: equal requests, equal queries.
    public func encode() -> [QueryItem] {
        var items = [
            QueryItem(Parameter.lat, center.latitude),
            QueryItem(Parameter.long, center.longitude),
        ]
        if let radiusMeters { items.append(QueryItem(Parameter.radius, radiusMeters)) }
        if let limit { items.append(QueryItem(Parameter.limit, limit)) }
        return items
    }

    /// Reads a raw query: the UTF-8 bytes of a request target behind its `?`, still percent-encoded.
    ///
    /// - Parameter ignored: parameters that a gateway adds and that are none of ours.
    /// - Throws: every fault of the query at once.
    public static func decode(
        query: some Collection<UInt8>, ignoring ignored: [ParameterPattern] = []
    ) throws(ParameterError) -> LocationsRequest {
        try withQueryBytes(query) { (bytes) throws(ParameterError) in
            var query = QueryDecoder<Parameter>(bytes, ignoring: ignored)
            let center = query.coordinate(latitude: .lat, longitude: .long)
            let radiusMeters = query.number(
                .radius, in: 0.nextUp...greatestRadiusMeters,
                "must be a number of metres above 0 and at most 20037508")
            let limit = query.integer(.limit, in: limits, "must be a whole number from 1 to 100")
            guard let center, query.faults.isEmpty else { throw ParameterError(faults: query.faults) }
            return LocationsRequest(center: center, radiusMeters: radiusMeters, limit: limit)
        }
    }
}
