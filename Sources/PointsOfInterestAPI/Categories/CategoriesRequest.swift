/// `GET /categories`: every category with its number of places, most frequent first, then by name.
public struct CategoriesRequest: Hashable, Sendable {
    /// Makes a request.
    public init() {}

    /// Reads a raw query, which has no parameters.
    ///
    /// - Throws: every fault of the query at once.
    public static func decode(
        query: some Collection<UInt8>, ignoring ignored: [ParameterPattern] = []
    ) throws(ParameterError) -> CategoriesRequest {
        try NoParameter.refuseAll(of: query, ignoring: ignored)
        return CategoriesRequest()
    }
}
