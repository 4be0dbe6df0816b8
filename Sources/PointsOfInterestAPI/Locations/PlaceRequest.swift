/// `GET /locations/{id}`: one point of interest, with its distance where a centre is given.
public struct PlaceRequest: Hashable, Sendable {
    package enum Parameter: Int, QueryParameter {
        case lat, long

        package var name: StaticString {
            switch self {
            case .lat: "lat"
            case .long: "long"
            }
        }
    }

    /// The place's id.
    public var id: Int
    /// Where the distance is measured from; nil tells none.
    public var center: Coordinate?

    /// Makes a request.
    public init(id: Int, center: Coordinate? = nil) {
        self.id = id
        self.center = center
    }

    /// The path, below any prefix.
    public var path: String { EndpointPath.location(id: id) }

    /// The query's items.
    public func encode() -> [QueryItem] {
        guard let center else { return [] }
        return [QueryItem(Parameter.lat, center.latitude), QueryItem(Parameter.long, center.longitude)]
    }

    /// Reads the id out of the path and a raw query.
    ///
    /// - Parameters:
    ///   - id: the path's segment, percent-decoded.
    ///   - query: the UTF-8 bytes of a request target behind its `?`, still percent-encoded.
    ///   - ignored: parameters that a gateway adds and that are none of ours.
    /// - Returns: nil where the segment is no id that a place could have: there is nothing at such a path.
    /// - Throws: every fault of the query at once.
    public static func decode(
        id: String, query: some Collection<UInt8>, ignoring ignored: [ParameterPattern] = []
    ) throws(ParameterError) -> PlaceRequest? {
        let request = try withQueryBytes(query) { (bytes) throws(ParameterError) in
            var query = QueryDecoder<Parameter>(bytes, ignoring: ignored)
            let center = query.optionalCoordinate(latitude: .lat, longitude: .long)
            guard query.faults.isEmpty else { throw ParameterError(faults: query.faults) }
            return PlaceRequest(id: 0, center: center)
        }
        // One spelling per id, so one URL per place: no sign, no leading zero.
        guard let number = Int(id), number > 0, String(number) == id else { return nil }
        return PlaceRequest(id: number, center: request.center)
    }
}
