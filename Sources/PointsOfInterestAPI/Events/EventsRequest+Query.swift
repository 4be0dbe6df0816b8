extension EventsRequest {
    /// Refuses a raw query that has parameters: there are none.
    ///
    /// - Throws: every fault of the query at once.
    package static func decode(
        query: some Collection<UInt8>, ignoring ignored: [ParameterPattern] = []
    ) throws(ParameterError) {
        try NoParameter.refuseAll(of: query, ignoring: ignored)
    }
}
