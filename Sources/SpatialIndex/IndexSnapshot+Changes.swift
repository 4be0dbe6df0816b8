import PointsOfInterestServerAPI

/// Makes the next snapshots. Used by the thread that follows the changes.
extension IndexSnapshot {
    /// Parts of at most this many places are merged immediately, which takes milliseconds.
    private static let smallPartCount = 4096

    /// The snapshot after a change.
    ///
    /// - Parameters:
    ///   - removedIDs: places that are gone; ids that no place has are left out.
    ///   - added: places that are new or changed, built with this snapshot's vocabulary; nil where there are none.
    ///   - version: the dataset that results.
    package func applying(removedIDs: [Int64], added: IndexPart?, version: IndexVersion) -> IndexSnapshot {
        let vocabulary = added?.vocabulary ?? vocabulary
        var changes = LevelChanges(levels, counts: counts.extended(to: vocabulary))
        for id in removedIDs { changes.remove(id) }
        if let added {
            for place in 0..<added.placeCount { changes.remove(added.columns.ids[place]) }
        }
        var levels = changes.levels.filter { $0.liveCount > 0 || $0.part.placeCount > Self.smallPartCount }
        if let added, added.placeCount > 0 {
            changes.counts.add(added.columns)
            levels.append(IndexLevel(part: added))
        }
        Self.mergeSmallParts(of: &levels, vocabulary)
        return IndexSnapshot(
            levels: levels, counts: changes.counts, version: version, vocabulary: vocabulary,
            categoryWords.extended(to: vocabulary.names))
    }

    /// Keeps each small part more than four times as large as the next one, so that there are few parts.
    private static func mergeSmallParts(of levels: inout [IndexLevel], _ vocabulary: IndexVocabulary) {
        while levels.count > 1 {
            let last = levels[levels.count - 1]
            let before = levels[levels.count - 2]
            guard before.part.placeCount <= smallPartCount, before.liveCount <= 4 * last.liveCount else {
                return
            }
            let merged = IndexMerge(levels: [before, last], vocabulary: vocabulary).run()
            levels.removeLast(2)
            levels.append(IndexLevel(part: merged))
        }
    }

    /// The merge of large parts that would make searches cheaper or free memory, and that takes too long to be done here;
    /// nil where there is none.
    ///
    /// Proposed if a part is at most eight times as large as all that follow it together, or if more than a quarter of its
    /// places are dead. So each time the number of places doubles, a place is packed anew a few times at most.
    package func proposedMerge() -> IndexMerge? {
        let large = levels.prefix { $0.part.placeCount > Self.smallPartCount }
        var start: Int?
        var following = 0
        for index in large.indices.reversed() {
            let dead = large[index].dead?.count ?? 0
            if large[index].part.placeCount <= 8 * following || 4 * dead > large[index].part.placeCount {
                start = index
            }
            following += large[index].liveCount
        }
        guard let start else { return nil }
        return IndexMerge(levels: Array(large[start...]), vocabulary: vocabulary)
    }

    /// The merge of all parts into one without dead places; nil where that is what there is.
    package func wholeMerge() -> IndexMerge? {
        levels.count == 1 && levels[0].dead == nil ? nil : IndexMerge(levels: levels, vocabulary: vocabulary)
    }

    /// The part that has all places; nil where there are several.
    package var onlyPart: IndexPart? { levels.count == 1 ? levels[0].part : nil }

    /// The same places with the merged part instead of those it was made from. Places that changed since the merge was
    /// proposed stay changed.
    ///
    /// - Returns: nil where this snapshot doesn't descend from the one that proposed the merge.
    package func adopting(_ merged: IndexPart, of merge: IndexMerge) -> IndexSnapshot? {
        guard let oldest = merge.levels.first?.part,
            let first = levels.firstIndex(where: { $0.part === oldest }),
            levels.count >= first + merge.levels.count
        else { return nil }
        let range = first..<first + merge.levels.count
        var dead: PlaceBits?
        for (old, new) in zip(merge.levels, levels[range]) {
            guard old.part === new.part else { return nil }
            guard let bits = new.dead, bits.count > old.dead?.count ?? 0 else { continue }
            let columns = old.part.columns
            for place in 0..<columns.count where bits.contains(place) && old.dead?.contains(place) != true {
                guard let number = merged.columns.place(withID: columns.ids[place]) else { continue }
                let marked = dead ?? PlaceBits(copying: nil, of: merged.columns)
                marked.insert(number)
                dead = marked
            }
        }
        var replaced = levels
        replaced.replaceSubrange(range, with: [IndexLevel(part: merged, dead: dead)])
        return IndexSnapshot(
            levels: replaced, counts: counts, version: version, vocabulary: vocabulary, categoryWords)
    }
}

/// Levels from which places are removed. The bits of a level are copied before its first removal.
private struct LevelChanges {
    private(set) var levels: [IndexLevel]
    var counts: IndexCounts
    private var isCopied: [Bool]

    init(_ levels: [IndexLevel], counts: IndexCounts) {
        self.levels = levels
        self.counts = counts
        isCopied = Array(repeating: false, count: levels.count)
    }

    mutating func remove(_ id: Int64) {
        for index in levels.indices {
            let columns = levels[index].part.columns
            guard let place = columns.place(withID: id), levels[index].dead?.contains(place) != true else {
                continue
            }
            if !isCopied[index] {
                levels[index].dead = PlaceBits(copying: levels[index].dead, of: columns)
                isCopied[index] = true
            }
            levels[index].dead?.insert(place)
            counts.remove(place, of: columns)
        }
    }
}

/// Parts to be merged, which takes seconds for a million places: run it on a helper thread.
package struct IndexMerge: Sendable {
    let levels: [IndexLevel]
    let vocabulary: IndexVocabulary

    /// About how much memory the merged part will take, in bytes.
    package var bytes: Int { levels.reduce(0) { $0 + $1.part.bytes } }

    /// Packs the parts' places anew. Reads only what never changes, so it may run on any thread while changes go on.
    package func run() -> IndexPart {
        var builder = IndexPartBuilder(
            expecting: levels.reduce(0) { $0 + $1.liveCount }, vocabulary: vocabulary)
        var names: [UInt8] = []
        for level in levels {
            let columns = level.part.columns
            for place in 0..<columns.count where level.dead?.contains(place) != true {
                columns.words.copyNames(of: place, to: &names)
                let kind = columns.kinds[place]
                names.withUnsafeBufferPointer { names in
                    var entry = IndexEntry(
                        id: columns.ids[place], latitude: columns.latitudes[place],
                        longitude: columns.longitudes[place], category: UInt16(kind >> 1),
                        isFeatured: kind & 1 == 1, source: columns.sources[place],
                        importance: columns.importance(of: place), foldedNames: names,
                        record: columns.record(of: place))
                    entry.address = PlaceRecord(entry.record).address
                    entry.contentHash = columns.hashes[place]
                    entry.isListed = columns.isListed(place)
                    builder.add(entry)
                }
            }
        }
        return builder.build()
    }
}

/// How the places of a range of ids differ from those that were read.
package struct IndexDifferences: Hashable, Sendable {
    package var removedIDs: [Int64] = []
    /// How many of the places that were read are missing from the snapshot, or differ in it.
    package var changedCount = 0

    /// How many places differ.
    package var count: Int { removedIDs.count + changedCount }
}

extension IndexSnapshot {
    /// Compares the places whose ids are in a range with those that were read, in all that the index knows of each.
    ///
    /// Looks at the id of each place, which takes 0.3 ms for a million.
    ///
    /// - Parameter places: all places of the range, and no others, read with this snapshot's vocabulary.
    package func differences(
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
    package var randomID: Int64? {
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
            && record(of: number).assumingMemoryBound(to: UInt8.self)
                .isSame(as: columns.record(of: place).assumingMemoryBound(to: UInt8.self))
            && hasSameWords(number, as: columns.words, at: columns.words.range(of: place))
    }

    private func record(of number: Int) -> UnsafeRawBufferPointer {
        let start = UnsafeRawPointer(records.base) + Int(recordStarts[number])
        return UnsafeRawBufferPointer(
            start: start + 4, count: Int(start.loadUnaligned(as: UInt32.self)))
    }

    private func hasSameWords(_ number: Int, as columns: WordColumns, at range: Range<Int>) -> Bool {
        let own = Int(wordStarts[number])..<Int(wordStarts[number + 1])
        return own.count == range.count
            && zip(own, range).allSatisfy { own, other in
                let (word, other) = (words[own], columns.placeWords[other])
                if WordColumns.isMark(word) || WordColumns.isMark(other) { return word == other }
                return table.word(word).isSame(as: columns.word(other))
            }
    }
}

extension WordColumns {
    /// Writes the words of a place as a builder takes them.
    fileprivate func copyNames(of place: Int, to bytes: inout [UInt8]) {
        bytes.removeAll(keepingCapacity: true)
        let names = Self.names(in: range(of: place), of: placeWords)
        for (number, name) in names.enumerated() {
            if number > 0 { bytes.append(IndexEntry.betweenNames) }
            if let first = name.first, let repeated = Self.repeatedName(placeWords[first]) {
                for (other, name) in names.enumerated() where other == repeated {
                    copyName(name, to: &bytes)
                    break
                }
            } else {
                copyName(name, to: &bytes)
            }
        }
    }

    private func copyName(_ name: Range<Int>, to names: inout [UInt8]) {
        // What stands before the next word; nothing within a run.
        var mark: UInt8? = FoldedMark.space
        for index in name {
            switch placeWords[index] {
            case Self.alternative: mark = FoldedMark.alternative
            case Self.joined: mark = FoldedMark.joined
            case let number:
                let word = word(number)
                if let mark { names.append(mark) }
                // The next part of a run begins with the other character of this one.
                let isWithinRun = SearchWords.isPart(ofRunWithMore: word.span)
                names += isWithinRun ? word[..<SearchWords.characterEnd(in: word.span, from: 0)] : word[...]
                mark = isWithinRun ? nil : FoldedMark.space
            }
        }
    }
}
