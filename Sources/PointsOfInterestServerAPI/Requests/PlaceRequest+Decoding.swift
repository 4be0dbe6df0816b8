extension PlaceRequest {
    /// The query's parameters.
    package enum Parameter: Int, QueryParameter {
        case lat, long

        package var name: StaticString {
            switch self {
            case .lat: "lat"
            case .long: "long"
            }
        }
    }

    /// Reads the id out of the path and a raw query.
    ///
    /// - Parameters:
    ///   - id: the path's segment, percent-decoded.
    ///   - query: the UTF-8 bytes of a request target behind its `?`, still percent-encoded.
    ///   - ignored: parameters that a gateway adds, which are not read.
    /// - Returns: nil where the segment is not an id: there is nothing at such a path.
    /// - Throws: every fault of the query at once.
    package static func decode(
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
