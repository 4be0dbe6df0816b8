/// `GET /categories`: every category with its number of places, most frequent first, then by name.
public struct CategoriesRequest: Hashable, Sendable {
    private enum Parameter: Int, QueryParameter {
        // An enumeration with raw values has at least one case; no query has a name with a NUL.
        case none

        var name: StaticString { "\0" }
    }

    /// Makes a request.
    public init() {}

    /// Reads a raw query, which has no parameters.
    ///
    /// - Throws: every fault of the query at once.
    public static func decode(
        query: some Collection<UInt8>, ignoring ignored: [ParameterPattern] = []
    ) throws(ParameterError) -> CategoriesRequest {
        try withQueryBytes(query) { (bytes) throws(ParameterError) in
            let query = QueryDecoder<Parameter>(bytes, ignoring: ignored)
            guard query.faults.isEmpty else { throw ParameterError(faults: query.faults) }
            return CategoriesRequest()
        }
    }
}
