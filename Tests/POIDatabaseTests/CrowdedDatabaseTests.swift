import Testing

/// What is tested with many places, one suite after the other: what each reads is counted in the whole database.
@Suite("With many places", .serialized)
enum CrowdedDatabaseTests {}
