extension Fixtures {
    /// The places that every new database of the service has, with their ids.
    ///
    /// - Throws: `FixtureError`, for a fault of the package's own.
    package static func seed() throws(FixtureError) -> Fixtures {
        try Fixtures(json: Array(RecordedSeed.places.utf8))
    }
}
