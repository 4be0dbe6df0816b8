import CSystem
import Geodesy
import PointsOfInterestAPI
import PointsOfInterestServerAPI

/// Searches, on any thread that holds the snapshot.
///
/// The places with the shortest chords are found first, one more than the page needs. Nearly always they prove the page, as
/// `Ranking.isComplete` tells; else more of them are tried, and then `DistanceSearch`, which always ends.
extension IndexSnapshot {
    /// Finds the page, if that takes no longer than a loop may spend on one search.
    ///
    /// - Parameter page: any page; becomes the one that was found.
    /// - Returns: false where it takes longer: `search` finds the page, on a helper thread.
    package func searchAtOnce(_ query: IndexQuery, into page: inout IndexPage) -> Bool {
        find(query, work: WorkBudget(remaining: WorkBudget.ofATurn), &page)
    }

    /// The same, but returns a new page; nil if it takes longer.
    package func searchAtOnce(_ query: IndexQuery) -> IndexPage? {
        var page = IndexPage()
        return searchAtOnce(query, into: &page) ? page : nil
    }

    /// The page, however long that takes; nil where `stop` has ended the search.
    package func search(_ query: IndexQuery, until stop: SearchStop = SearchStop { false }) -> IndexPage? {
        var page = IndexPage()
        return withExtendedLifetime(stop) {
            find(query, work: WorkBudget(until: stop), &page) ? page : nil
        }
    }

    func find(_ query: IndexQuery, work: WorkBudget, _ page: inout IndexPage) -> Bool {
        page.end = nil
        guard !query.filter.matchesNothing, query.ranking.limit > 0, !views.isEmpty else {
            page.placed.removeAll(keepingCapacity: true)
            return true
        }
        var work = work
        var filters =
            query.filter.isListed ? views.map { PartFilter(query.filter, in: query.box, for: $0) } : []
        let limit = query.ranking.limit
        var maximumMeters = query.ranking.radiusMeters ?? .infinity
        var capacity = limit + 1
        while true {
            switch byChords(query, &filters, within: maximumMeters, capacity: capacity, &work, &page) {
            case .page: return true
            case .spent: return false
            case .unproven(let found, let farthestMeters):
                // No place of the page is farther than those that were found: mostly that leaves a few more places to look
                // at.
                maximumMeters = min(maximumMeters, farthestMeters)
                guard capacity == limit + 1 else {
                    return byDistances(query, filters, seeds: found, work, &page)
                }
                capacity = 4 * limit + 32
            }
        }
    }

    private enum Outcome {
        /// The page is found.
        case page
        case spent
        /// The nearest places by their chords, which don't prove the page; the maximum distance of the page's places.
        case unproven([Candidate], farthestMeters: Double)
    }

    /// Looks for the places with the shortest chords, and ranks them.
    private func byChords(
        _ query: IndexQuery, _ filters: inout [PartFilter], within maximumMeters: Double, capacity: Int,
        _ work: inout WorkBudget, _ page: inout IndexPage
    ) -> Outcome {
        withUnsafeTemporaryAllocation(of: Float.self, capacity: ChordSearch.rowsSize) { rows in
            withUnsafeTemporaryAllocation(of: UInt64.self, capacity: capacity) { keys in
                guard let rowsBase = rows.baseAddress else { return .spent }
                var search = ChordSearch(
                    query, maximumMeters: maximumMeters, rows: rowsBase, keys: keys, work: work)
                let isDone =
                    query.filter.isListed
                    ? searchWords(query, &filters, &search) : walk(query, filters, &search)
                guard isDone else { return .spent }
                work = search.work
                return rank(search.list, from: search.point, query, &work, &page)
            }
        }
    }

    /// Looks into all trees that the query's places are in; false where the work was spent.
    func walk(_ query: IndexQuery, _ filters: [PartFilter], _ search: inout ChordSearch) -> Bool {
        for part in views.indices {
            let filter =
                filters.isEmpty ? PartFilter(query.filter, in: query.box, for: views[part]) : filters[part]
            let isDone = query.filter.forEachTree(of: views[part].columns) {
                search.search($0, of: views[part], filter)
            }
            guard isDone else { return false }
        }
        return true
    }

    // MARK: - Ranking

    /// Cuts the page, where the places found prove it.
    private func rank(
        _ list: NearestList, from point: SIMD3<Double>, _ query: IndexQuery, _ work: inout WorkBudget,
        _ page: inout IndexPage
    ) -> Outcome {
        let ranking = query.ranking
        // A local function takes no memory, unlike a closure that is kept.
        func measure(_ reference: Int) -> Double {
            Geodesic.distanceMeters(
                from: ranking.center, to: candidate(IndexPlaceReference(packed: reference)))
        }
        return withUnsafeTemporaryAllocation(of: DistanceBounds.self, capacity: max(1, list.count)) {
            memory in
            let bounds = UnsafeMutableBufferPointer(rebasing: memory[..<list.count])
            for index in 0..<list.count {
                let reference = reference(list.number(at: index))
                let (columns, place) = (views[Int(reference.part)].columns, Int(reference.place))
                columns.prefetchRecord(of: place)
                bounds[index] = DistanceBounds(
                    index: reference.packed, id: columns.ids[place],
                    Ranking.geodesicBounds(from: point, to: columns.point(of: place)), measuring: measure)
            }
            let count = ranking.rank(bounds, measuring: measure)
            for entry in bounds where entry.minimum == entry.maximum { work.spend(WorkBudget.geodesic) }
            // A float is off by less than a ten-millionth.
            let lastSquare = list.count > 0 ? Double(list.squaredChord(at: list.count - 1)) : 0
            let fetch = Ranking.Fetch(
                candidateLimit: list.isFull ? list.count : list.count + 1, candidateCount: list.count,
                lastChordMeters: lastSquare.squareRoot() * (1 - 1e-7))
            let farthest = count > 0 ? bounds[count - 1].maximum : nil
            guard ranking.isComplete(count: count, farthestMeters: farthest, after: fetch) else {
                let found = (0..<list.count).map { candidate(reference(list.number(at: $0))) }
                return .unproven(
                    found, farthestMeters: count == ranking.limit ? farthest ?? .infinity : .infinity)
            }
            cut(bounds, count, ranking, from: point, &page)
            return .page
        }
    }

    /// Cuts the page out of a complete ranking of so many places.
    private func cut(
        _ placed: UnsafeMutableBufferPointer<DistanceBounds>, _ count: Int, _ ranking: Ranking,
        from point: SIMD3<Double>, _ page: inout IndexPage
    ) {
        let shownCount = min(count, ranking.pageSize)
        page.setPlaces(shownCount) { index in
            IndexPage.Placed(
                reference: IndexPlaceReference(packed: placed[index].index), id: placed[index].id,
                distanceMeters: placed[index].maximum)
        }
        if count > shownCount, shownCount > 0 {
            let last = IndexPlaceReference(packed: placed[shownCount - 1].index)
            let next = IndexPlaceReference(packed: placed[shownCount].index)
            page.end = ranking.pageEnd(
                at: candidate(last), pageCount: shownCount, from: point, to: self.point(last),
                before: self.point(next))
        }
    }

    /// Finds the page by measuring, seeded with places that are near; false where the work is spent before that is done.
    private func byDistances(
        _ query: IndexQuery, _ filters: [PartFilter], seeds: [Candidate], _ work: WorkBudget,
        _ page: inout IndexPage
    ) -> Bool {
        var search = DistanceSearch(query, views, filters, work: work)
        search.take(seeds)
        guard query.filter.isListed ? search.measureListed() : search.run() else { return false }
        let candidates = search.candidates
        let (placed, end) = query.ranking.page(of: query.ranking.rank(candidates), from: candidates)
        page.placed = placed.compactMap { placed in
            place(withID: placed.id).map {
                IndexPage.Placed(reference: $0, id: placed.id, distanceMeters: placed.distanceMeters)
            }
        }
        page.end = end
        return true
    }

    // MARK: - Numbers among all parts

    @inline(__always)
    func reference(_ number: UInt32) -> IndexPlaceReference {
        var part = views.count - 1
        while views[part].base > number { part -= 1 }
        return IndexPlaceReference(part: UInt32(truncatingIfNeeded: part), place: number - views[part].base)
    }

    private func point(_ reference: IndexPlaceReference) -> SIMD3<Double> {
        views[Int(reference.part)].columns.point(of: Int(reference.place))
    }

    private func candidate(_ reference: IndexPlaceReference) -> Candidate {
        views[Int(reference.part)].columns.candidate(Int(reference.place))
    }
}

extension PartColumns {
    func candidate(_ place: Int) -> Candidate {
        Candidate(id: ids[place], latitude: latitudes[place], longitude: longitudes[place])
    }

    @inline(__always)
    func point(of place: Int) -> SIMD3<Double> { SIMD3(x[place], y[place], z[place]) }

    /// The straight line from a point in space.
    func chordMeters(from point: SIMD3<Double>, to place: Int) -> Double {
        let (x, y, z) = (x[place] - point.x, y[place] - point.y, z[place] - point.z)
        return (x * x + y * y + z * z).squareRoot()
    }
}

/// What will be read soon, and with many places is in no cache: the processor fetches it meanwhile.
extension PartColumns {
    /// The positions of a leaf's places.
    @inline(__always)
    func prefetchPoints(ofLeaf leaf: Int, of tree: PackedTree) {
        let start = leaf &* PackedTree.width
        if let listStart = tree.listStart {
            for index in start..<min(start &+ PackedTree.width, Int(tree.count)) {
                prefetchPoint(of: Int(listedPlaces[Int(listStart) &+ index]))
            }
        } else {
            prefetchPoint(of: start)
            prefetchPoint(of: start &+ PackedTree.width / 2)
        }
    }

    @inline(__always)
    private func prefetchPoint(of place: Int) {
        poi_prefetch(x.base + place)
        poi_prefetch(y.base + place)
        poi_prefetch(z.base + place)
    }

    /// A place's id, and where its record begins; mostly those of seven neighbours, too.
    @inline(__always)
    func prefetchIDAndRecordStart(of place: Int) {
        poi_prefetch(ids.base + place)
        poi_prefetch(recordStarts.base + place)
    }

    /// The first 320 bytes of a place's record: few are longer.
    @inline(__always)
    func prefetchRecord(of place: Int) {
        let start = records.base + Int(recordStarts[place])
        for line in 0..<5 { poi_prefetch(start + 64 &* line) }
    }
}
