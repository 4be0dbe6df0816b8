import PointsOfInterestAPI
import POIService

/// The places that a mock answers with.
package struct Fixtures: Sendable {
    /// The places, each with an id of its own.
    package let places: [PointOfInterest]

    /// Makes fixtures of places whose ids are unique.
    package init(_ places: [PointOfInterest]) {
        self.places = places
    }

    /// A store of its own over the places.
    ///
    /// Its vocabulary has the categories of the service's schema as well: an app may ask for a category that no
    /// fixture happens to be of, as it may ask a database without such a place.
    func makeStore() -> FixtureStore {
        FixtureStore(
            places, vocabulary: CategoryVocabulary(RecordedSeed.categories + places.map(\.category)))
    }
}
