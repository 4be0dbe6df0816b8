import PointsOfInterestAPI

extension Ranking {
    /// How far a store looked: it proposed the places nearest to the centre by the chord, the straight
    /// line through the Earth between two points of the ellipsoid.
    public struct Fetch: Hashable, Sendable {
        /// The most candidates that the store was to propose, at least the ranking's `limit`.
        public let candidateLimit: Int
        /// How many it proposed; fewer than the limit where there are no more.
        public let candidateCount: Int
        /// The chord to the last one, in metres; nil where there is none.
        public let lastChordMeters: Double?

        /// Describes a fetch in the order of the chord.
        public init(candidateLimit: Int, candidateCount: Int, lastChordMeters: Double?) {
            self.candidateLimit = candidateLimit
            self.candidateCount = candidateCount
            self.lastChordMeters = lastChordMeters
        }
    }

    /// Whether a fetch was enough.
    public enum Verdict: Hashable, Sendable {
        /// No place that was not proposed belongs to the answer.
        case complete
        /// All places at most this far have to be ranked; none of them has a longer chord than the one given.
        case fetchAll(distanceMeters: Double, chordMeters: Double)
    }

    /// Judges whether `placed`, ranked from what `fetch` proposed, is the whole answer.
    ///
    /// The orders of chord and geodesic differ, since the ellipsoid isn't curved alike in all directions:
    /// by less than 3 m at 500 km. So it isn't how many candidates were fetched that proves an answer,
    /// but that the shortest geodesic behind the last chord is longer than all the answer needs. Places at
    /// or before `after` don't count towards that: where it lies behind the fetch, nothing is proven.
    public func verdict(on placed: [Placed], after fetch: Fetch) -> Verdict {
        guard fetch.candidateCount >= fetch.candidateLimit, let lastChordMeters = fetch.lastChordMeters else {
            return .complete  // all the places there are
        }
        let farthestPlaced = placed.count == limit ? placed.last?.distanceMeters : nil
        let needed = min(
            radiusMeters ?? .infinity, farthestPlaced ?? NearbyPlacesRequest.maximumRadiusMeters)
        // A place exactly at the bound need not have been proposed.
        if needed < Self.leastGeodesicMeters(chordMeters: lastChordMeters) { return .complete }
        return .fetchAll(
            distanceMeters: needed, chordMeters: Self.maximumChordMeters(geodesicMeters: needed))
    }
}
