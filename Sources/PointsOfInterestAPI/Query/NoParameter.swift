/// The parameters of an endpoint that has none; an enumeration without a case has its raw values spelled out.
enum NoParameter: QueryParameter {
    init?(rawValue: Int) { nil }

    var rawValue: Int { switch self {} }

    var name: StaticString { switch self {} }

    /// Reads a raw query, which has no parameters but those that are ignored.
    ///
    /// - Throws: every fault of the query at once.
    static func refuseAll(
        of query: some Collection<UInt8>, ignoring ignored: [ParameterPattern]
    ) throws(ParameterError) {
        try withQueryBytes(query) { (bytes) throws(ParameterError) in
            let query = QueryDecoder<NoParameter>(bytes, ignoring: ignored)
            guard query.faults.isEmpty else { throw ParameterError(faults: query.faults) }
        }
    }
}
