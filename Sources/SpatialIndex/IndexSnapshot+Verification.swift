/// How the places of a range of ids differ from those that were read.
public struct IndexDifferences: Hashable, Sendable {
    /// Places of the snapshot that weren't read.
    public var removedIDs: [Int64] = []
    /// How many of the places that were read are missing from the snapshot, or differ in it.
    public var changedCount = 0

    /// How many places differ.
    public var count: Int { removedIDs.count + changedCount }
}

/// Comparing a snapshot with what its places are made from.
extension IndexSnapshot {
    /// Compares the places whose ids are in a range with those that were read, in all that the index knows of each.
    ///
    /// Looks at the id of each place, which takes 0.3 ms for a million.
    ///
    /// - Parameter places: all places of the range, and no others, read with this snapshot's vocabulary.
    public func differences(
        in range: ClosedRange<Int64>, from places: borrowing IndexPartBuilder
    ) -> IndexDifferences {
        let read = places.collected
        var (differences, removed) = (IndexDifferences(), ids(in: range))
        for number in 0..<read.ids.count {
            let id = read.ids[number]
            removed.remove(id)
            let isSame = place(withID: id).map { read.isSame(number, as: $0.place, of: columns(of: $0)) }
            if isSame != true { differences.changedCount += 1 }
        }
        differences.removedIDs = removed.sorted()
        return differences
    }

    /// The id of any place; nil where there is none.
    public var randomID: Int64? {
        guard let ids = levels.first?.part.columns.ids, ids.count > 0 else { return nil }
        return ids[.random(in: 0..<ids.count)]
    }

    private func columns(of place: IndexPlaceReference) -> PartColumns { views[Int(place.part)].columns }

    private func ids(in range: ClosedRange<Int64>) -> Set<Int64> {
        var found: Set<Int64> = []
        for view in views {
            let ids = view.columns.ids
            for place in 0..<ids.count where range.contains(ids[place]) && !view.isDead(place) {
                found.insert(ids[place])
            }
        }
        return found
    }
}

extension CollectedPlaces {
    /// Whether a part has the same data of a place. All else that it has of a place is made from these.
    fileprivate func isSame(_ number: Int, as place: UInt32, of columns: PartColumns) -> Bool {
        let place = Int(place)
        return latitudes[number].bitPattern == columns.latitudes[place].bitPattern
            && longitudes[number].bitPattern == columns.longitudes[place].bitPattern
            && kinds[number] == columns.kinds[place] && sources[number] == columns.sources[place]
            && record(of: number).elementsEqual(columns.record(of: place))
            && words(of: number).elementsEqual(columns.words.words(of: place), by: ByteOrder.areEqual)
    }

    private func record(of number: Int) -> UnsafeRawBufferPointer {
        let start = UnsafeRawPointer(records.base) + Int(recordStarts[number])
        return UnsafeRawBufferPointer(
            start: start + 4, count: Int(start.loadUnaligned(as: UInt32.self)))
    }

    private func words(of number: Int) -> some Sequence<UnsafeBufferPointer<UInt8>> {
        (wordStarts[number]..<wordStarts[number + 1]).lazy.map { self.table.word(self.words[Int($0)]) }
    }
}

extension WordColumns {
    fileprivate func words(of place: Int) -> some Sequence<UnsafeBufferPointer<UInt8>> {
        (placeStarts[place]..<placeStarts[place + 1]).lazy.map { word(placeWords[Int($0)]) }
    }
}

extension ByteOrder {
    fileprivate static func areEqual(
        _ one: UnsafeBufferPointer<UInt8>, _ other: UnsafeBufferPointer<UInt8>
    ) -> Bool { one.count == other.count && compare(one, other) == 0 }
}
