/// `GET /categories`: every category with its number of places, most frequent first, then by name.
public struct CategoriesRequest: Hashable, Sendable {
    /// There are none; an enumeration without a case has its raw values spelled out.
    private enum Parameter: QueryParameter {
        init?(rawValue: Int) { nil }

        var rawValue: Int { switch self {} }

        var name: StaticString { switch self {} }
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
