import PointsOfInterestAPI
import PointsOfInterestServerAPI

/// The exact order of places around a centre: by geodesic distance, then by id.
///
/// Every store uses this one implementation. PostgreSQL proposes candidates in the order of the straight line through
/// the Earth, which isn't quite the order on the ellipsoid. So candidates are ordered and cut here, and `isComplete`
/// tells whether a place that was not proposed could still belong to the page.
package struct Ranking: Hashable, Sendable {
    /// Where distances are measured from.
    package let center: Coordinate
    /// How far a place may be, in metres; nil where only `limit` bounds the ranking.
    package let radiusMeters: Double?
    /// The maximum number of places.
    package let limit: Int
    /// Where the page before this one ends: places at or before it are left out. Nil on the first page.
    package let after: PagePosition?

    /// Ranks around `center`, starting behind `after`.
    package init(center: Coordinate, radiusMeters: Double?, limit: Int, after: PagePosition? = nil) {
        self.center = center
        self.radiusMeters = radiusMeters
        self.limit = limit
        self.after = after
    }

    /// The ranking that a request's page asks for; nil where it has neither a centre nor a box.
    ///
    /// Its `limit` is one more than the page's: whether that place exists tells whether a page follows. See
    /// `page(of:from:)`.
    package init?(pageOf request: borrowing NearbyPlacesRequest) {
        guard let center = request.orderCenter else { return nil }
        self.init(
            center: center, radiusMeters: request.radiusMeters,
            limit: (request.limit ?? NearbyPlacesRequest.defaultLimit) + 1,
            after: request.start)
    }

    /// A candidate with its place in the order.
    package struct Placed: Hashable, Sendable {
        package let index: Int
        /// The candidate's id.
        package let id: Int64
        /// Its geodesic distance in metres, not rounded. Where bounds decided, it may be up to a few
        /// centimetres too long, if that changes neither the order nor the tenth of a metre that is shown.
        package let distanceMeters: Double
    }

    /// Orders the candidates within the radius and behind `after`, nearest first, at most `limit`. Measures each of them.
    package func rank(_ candidates: [Candidate]) -> [Placed] {
        let measure = { (index: Int) in Geodesic.distanceMeters(from: center, to: candidates[index]) }
        var bounds = candidates.indices.map { index in
            DistanceBounds(index: index, id: candidates[index].id, nil, measuring: measure)
        }
        let count = bounds.withUnsafeMutableBufferPointer { rank($0, measuring: measure) }
        return bounds.prefix(count).map {
            Placed(index: $0.index, id: $0.id, distanceMeters: $0.maximum)
        }
    }

    /// The same in a caller's buffer, without allocating anything.
    ///
    /// Mostly bounds already decide everything: which place is nearer, whether one is within the radius, and its distance to a
    /// tenth of a metre. The geodesic itself is computed only where they don't, since that takes longer than everything else
    /// here together.
    ///
    /// - Parameters:
    ///   - bounds: the candidates, in any order; quickest in that of their distances.
    ///   - measure: computes the geodesic distance of the candidate with an index, in metres.
    /// - Returns: how many candidates are placed. They are at the front of the buffer, each at its `maximum`.
    package func rank(
        _ bounds: UnsafeMutableBufferPointer<DistanceBounds>, measuring measure: (_ index: Int) -> Double
    ) -> Int {
        var count = bounds.count
        if radiusMeters != nil || after != nil {
            count = 0
            for entry in bounds where belongs(entry, measure) {
                bounds[count] = entry
                count += 1
            }
        }
        let kept = UnsafeMutableBufferPointer(rebasing: bounds[..<count])
        if !Self.isDecided(kept) {
            Self.sort(kept)
            if Self.measureOverlapping(kept, measure) { Self.sort(kept) }
        }
        let placed = min(limit, count)
        for index in 0..<max(0, placed) where !kept[index].decideTenths { kept[index].measure(by: measure) }
        return max(0, placed)
    }

    /// Whether a candidate is within the radius and behind `after`.
    private func belongs(_ entry: DistanceBounds, _ measure: (Int) -> Double) -> Bool {
        if let radiusMeters, entry.isBeyond(radiusMeters, measuring: measure) { return false }
        if let after, !entry.isBehind(after, measuring: measure) { return false }
        return true
    }

    /// Whether the bounds tell that the order is right as it is: each distance is longer than the one before.
    private static func isDecided(_ bounds: UnsafeMutableBufferPointer<DistanceBounds>) -> Bool {
        var maximum = -Double.infinity
        for entry in bounds {
            guard entry.minimum > maximum else { return false }
            maximum = entry.maximum
        }
        return true
    }

    private static func sort(_ bounds: UnsafeMutableBufferPointer<DistanceBounds>) {
        guard bounds.count <= 128 else {
            var bounds = bounds
            return bounds.sort(by: DistanceBounds.isBefore)
        }
        // Mostly they are in order already.
        for next in bounds.indices.dropFirst() where DistanceBounds.isBefore(bounds[next], bounds[next - 1]) {
            let entry = bounds[next]
            var index = next
            while index > 0, DistanceBounds.isBefore(entry, bounds[index - 1]) {
                bounds[index] = bounds[index - 1]
                index -= 1
            }
            bounds[index] = entry
        }
    }

    /// Measures every two candidates whose order the bounds don't decide; returns whether there were any.
    private static func measureOverlapping(
        _ bounds: UnsafeMutableBufferPointer<DistanceBounds>, _ measure: (Int) -> Double
    ) -> Bool {
        var found = false
        var farthest = 0
        for next in bounds.indices.dropFirst() {
            if bounds[next].minimum <= bounds[farthest].maximumBeforeMeasuring {
                bounds[next].measure(by: measure)
                bounds[farthest].measure(by: measure)
                found = true
            }
            if bounds[next].maximumBeforeMeasuring > bounds[farthest].maximumBeforeMeasuring {
                farthest = next
            }
        }
        return found
    }

    /// Cuts a page, and tells where it ends: nil where no other follows.
    ///
    /// - Parameters:
    ///   - placed: the complete ranking, of at least one place more than the page if there are so many.
    ///   - candidates: what was ranked, at the same indices.
    package func page(of placed: [Placed], from candidates: [Candidate]) -> (
        placed: [Placed], end: PagePosition?
    ) {
        let shown = Array(placed.prefix(pageSize))
        guard placed.count > pageSize, let last = shown.last else { return (shown, nil) }
        let (lastPlace, next) = (candidates[last.index], candidates[placed[pageSize].index])
        let end = pageEnd(
            at: lastPlace, pageCount: shown.count, from: Ellipsoid.point(center),
            to: Ellipsoid.point(latitude: lastPlace.latitude, longitude: lastPlace.longitude),
            before: Ellipsoid.point(latitude: next.latitude, longitude: next.longitude))
        return (shown, end)
    }

    /// The maximum number of places that the page shows.
    package var pageSize: Int { max(0, limit - 1) }

    /// The end of a page: mostly an upper bound of its last place's distance that is below the distance of the place that
    /// follows, so that the geodesic needn't be computed. It cuts the order there as well as the distance itself. The
    /// bounds are those of the coordinates, whoever found the places, so every store ends a page at the same position.
    ///
    /// - Parameters:
    ///   - pageCount: how many places it has.
    ///   - origin: the centre in space.
    ///   - lastPoint: the last place in space.
    ///   - nextPoint: the place that follows, in space.
    package func pageEnd(
        at last: Candidate, pageCount: Int, from origin: SIMD3<Double>, to lastPoint: SIMD3<Double>,
        before nextPoint: SIMD3<Double>
    ) -> PagePosition {
        // The count comes from a cursor, which may be forged.
        let count = (after?.count ?? 0).addingReportingOverflow(pageCount)
        let distance: Double
        if let bounds = Self.geodesicBounds(from: origin, to: lastPoint),
            let next = Self.geodesicBounds(from: origin, to: nextPoint), bounds.maximum < next.minimum
        {
            distance = bounds.maximum
        } else {
            distance = Geodesic.distanceMeters(from: center, to: last)
        }
        return PagePosition(
            distanceMeters: distance, id: last.id, count: count.overflow ? .max : count.partialValue)
    }

    // MARK: - Proof

    /// How far a store looked: it proposed the places nearest to the centre by the chord, the straight line through the
    /// Earth.
    package struct Fetch: Hashable, Sendable {
        /// The maximum number of candidates that the store was to propose, at least the ranking's `limit`.
        package let candidateLimit: Int
        /// How many it proposed; fewer than the limit where there are no more.
        package let candidateCount: Int
        /// The chord to the last one, in metres; nil where there is none.
        package let lastChordMeters: Double?

        /// Describes a fetch in the order of the chord.
        package init(candidateLimit: Int, candidateCount: Int, lastChordMeters: Double?) {
            self.candidateLimit = candidateLimit
            self.candidateCount = candidateCount
            self.lastChordMeters = lastChordMeters
        }
    }

    /// Whether so many places, ranked from what `fetch` proposed and the last of them at `farthestMeters`, are complete: no
    /// place that was not proposed belongs to the ranking.
    ///
    /// The orders of chord and geodesic differ, since the ellipsoid's curvature isn't the same in all directions: by less
    /// than 3 m at 500 km. So the proof is not a number of candidates. It is that the shortest possible geodesic over the
    /// last chord is longer than any distance that matters. Places at or before `after` don't count: where the page begins
    /// farther away than the fetch reached, nothing is proven.
    package func isComplete(count: Int, farthestMeters: Double?, after fetch: Fetch) -> Bool {
        guard fetch.candidateCount >= fetch.candidateLimit, let lastChordMeters = fetch.lastChordMeters else {
            return true  // all the places there are
        }
        let farthestPlaced = count == limit ? farthestMeters : nil
        let needed = min(
            radiusMeters ?? .infinity, farthestPlaced ?? NearbyPlacesRequest.maximumRadiusMeters)
        // A place exactly at the bound need not have been proposed.
        return needed < Self.minimumGeodesicMeters(chordMeters: lastChordMeters)
    }
}

/// A place that a store proposes: what is needed to rank it exactly.
package struct Candidate: Hashable, Sendable {
    /// The place's id, which decides between equal distances.
    package let id: Int64
    /// The exact latitude, in degrees.
    package let latitude: Double
    /// The exact longitude, in degrees.
    package let longitude: Double

    package init(id: Int64, latitude: Double, longitude: Double) {
        self.id = id
        self.latitude = latitude
        self.longitude = longitude
    }
}

/// The nearest places that a search has found so far, each once, as many as its ranking asks for.
package struct NearestCandidates: Sendable {
    private let ranking: Ranking
    /// The ranking's centre in space.
    private let origin: SIMD3<Double>
    private var entries: [(distanceMeters: Double, candidate: Candidate)] = []
    /// The position that was measured last: many places may be at one point, one after the other.
    private var measured: (latitude: Double, longitude: Double, meters: Double)?

    package init(of ranking: Ranking) {
        self.ranking = ranking
        origin = Ellipsoid.point(ranking.center)
    }

    /// No place farther than this belongs to the ranking, in metres.
    package var maximumMeters: Double {
        let farthest = entries.count >= ranking.limit ? entries.last?.distanceMeters : nil
        return min(ranking.radiusMeters ?? .infinity, farthest ?? .infinity)
    }

    /// The places, nearest first.
    package var candidates: [Candidate] { entries.map(\.candidate) }

    /// Takes a place if it may belong to the ranking. If its position rules that out, it isn't measured.
    package mutating func insert(_ candidate: Candidate) {
        if maximumMeters.isFinite, isBeyond(candidate) { return }
        let meters = distanceMeters(of: candidate)
        guard meters <= maximumMeters else { return }
        if let after = ranking.after, (meters, candidate.id) <= (after.distanceMeters, after.id) { return }
        let index = entries.indices.firstIndex(behind: {
            (entries[$0].distanceMeters, entries[$0].candidate.id) < (meters, candidate.id)
        })
        // The same place has the same distance, bit by bit.
        guard index == entries.count || entries[index].candidate.id != candidate.id else { return }
        entries.insert((meters, candidate), at: index)
        if entries.count > ranking.limit { entries.removeLast() }
    }

    private func isBeyond(_ candidate: Candidate) -> Bool {
        let point = Ellipsoid.point(latitude: candidate.latitude, longitude: candidate.longitude)
        return Ranking.geodesicBounds(from: origin, to: point).map { $0.minimum > maximumMeters } ?? false
    }

    private mutating func distanceMeters(of candidate: Candidate) -> Double {
        if let measured, measured.latitude.bitPattern == candidate.latitude.bitPattern,
            measured.longitude.bitPattern == candidate.longitude.bitPattern
        {
            return measured.meters
        }
        let meters = Geodesic.distanceMeters(from: ranking.center, to: candidate)
        measured = (candidate.latitude, candidate.longitude, meters)
        return meters
    }
}
