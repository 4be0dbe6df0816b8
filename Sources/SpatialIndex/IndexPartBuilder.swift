import PointsOfInterestServerAPI

/// Collects places in any order, each id once, and packs them. One thread at a time.
///
/// Records stay in the order in which places are added, so places that are near each other are best added one after the
/// other. In addition to what was collected, packing needs less memory than the part takes without its records.
package struct IndexPartBuilder: ~Copyable {
    let collected: CollectedPlaces
    private var vocabulary: IndexVocabulary
    private var names = PlaceNameFolder()
    private var record: [UInt8] = []
    /// The categories that were met so far, to be looked up by their bytes: a table of strings takes several times as long.
    private var categories: [(name: [UInt8], number: UInt16)] = []
    /// The last source: mostly the next place has the same.
    private var lastSource: (dataset: [UInt8], license: [UInt8], number: UInt32)?

    /// Starts without places.
    ///
    /// - Parameter vocabulary: that of the snapshot that the part is for; a first part starts with an empty one.
    package init(expecting count: Int, vocabulary: IndexVocabulary = IndexVocabulary()) {
        self.vocabulary = vocabulary
        collected = CollectedPlaces(expecting: max(0, count), vocabulary.properties)
    }

    /// How many places were added.
    package var placeCount: Int { collected.ids.count }

    /// The id of the place that was added last; nil where none was.
    package var lastID: Int64? { placeCount > 0 ? collected.ids[placeCount - 1] : nil }

    /// The ids of the places, in the order in which they were added.
    package var ids: [Int64] { (0..<placeCount).map { collected.ids[$0] } }

    /// About how much memory the part will take, in bytes.
    package var bytes: Int {
        collected.records.count + placeCount * 120 + collected.words.count * 10
            + (collected.properties?.words.count ?? 0) * 10 + collected.addressWords.count * 4
    }

    /// The number of a category, which is added if it is new; nil where there are 65,536 others.
    package mutating func category(named name: String) -> UInt16? { vocabulary.number(adding: name) }

    /// The number of a source, which is added if it is new.
    package mutating func number(of source: IndexSource) -> UInt32 { vocabulary.number(adding: source) }

    /// Copies a place.
    package mutating func add(_ entry: IndexEntry) { collected.add(entry) }

    /// Makes the record of a place and the words of its names, and adds it.
    ///
    /// - Parameter contentHash: that of its content as another program has it; nil is to be computed.
    /// - Returns: false where there are 65,536 other categories, or where it has no record (see `PlaceRecord.encode`): then it
    ///   isn't added.
    package mutating func add(_ place: PlaceFields, contentHash: UInt64? = nil) -> Bool {
        guard let category = number(ofCategory: place.category) else { return false }
        let source = place.source.map { number(of: $0) } ?? 0
        record.removeAll(keepingCapacity: true)
        guard PlaceRecord.encode(place, into: &record) else { return false }
        names.fold(place, record: record)
        let (collected, hash) = (collected, contentHash ?? place.contentHash)
        names.words.withUnsafeBufferPointer { words in
            record.withUnsafeBytes { record in
                var entry = IndexEntry(
                    id: Int64(place.id), latitude: place.latitude, longitude: place.longitude,
                    category: category, isFeatured: place.featured, source: source,
                    importance: UInt16(clamping: place.importance), foldedNames: words, record: record)
                entry.address = PlaceRecord(record).address
                entry.contentHash = hash
                entry.isListed = place.isListed
                collected.add(entry)
            }
        }
        return true
    }

    private mutating func number(ofCategory name: PlaceFields.Text) -> UInt16? {
        let known = name.withUnsafeBufferPointer { name in
            categories.first { $0.name.withUnsafeBufferPointer { $0.isSame(as: name) } }
        }
        if let known { return known.number }
        guard let number = category(named: String(decoding: name, as: UTF8.self)) else { return nil }
        categories.append((Array(name), number))
        return number
    }

    private mutating func number(of source: PlaceFields.Source) -> UInt32 {
        if let last = lastSource, source.dataset.elementsEqual(last.dataset),
            source.license.elementsEqual(last.license)
        {
            return last.number
        }
        let number = number(
            of: IndexSource(
                dataset: String(decoding: source.dataset, as: UTF8.self),
                license: String(decoding: source.license, as: UTF8.self)))
        lastSource = (Array(source.dataset), Array(source.license), number)
        return number
    }

    package consuming func build() -> IndexPart {
        IndexPart(columns: PartPacking(collected).columns(), vocabulary: vocabulary)
    }
}

/// The columns of a builder, in the order in which places are added. It frees what `PartPacking` doesn't take.
final class CollectedPlaces {
    var ids: Column<Int64>
    var hashes: Column<UInt64>
    var latitudes, longitudes: Column<Double>
    var kinds, sources: Column<UInt32>
    var importances: Column<UInt16>
    var addressInitials: Column<WordInitials>
    /// The numbers of the places that aren't listed, in ascending order.
    var unlisted: [UInt32] = []
    var recordStarts: Column<UInt64>
    var records: Column<UInt8>
    var table = WordTable()
    var addressTable = WordTable()
    /// Where each place's words begin in `words`; one more than there are places.
    var wordStarts: Column<UInt32>
    var words: Column<UInt32>
    /// The same of the words of addresses.
    var addressStarts: Column<UInt32>
    var addressWords: Column<UInt32>
    private var addressFolder = NameFolder()
    /// By which values of properties each place is found; nil where places can't be filtered by any.
    var properties: CollectedProperties?
    /// Whether the columns belong to a part by now.
    var isPacked = false

    init(expecting count: Int, _ filterable: FilterableProperties) {
        properties = filterable.isEmpty ? nil : CollectedProperties(filterable, expecting: count)
        ids = Column(capacity: count)
        hashes = Column(capacity: count)
        latitudes = Column(capacity: count)
        longitudes = Column(capacity: count)
        kinds = Column(capacity: count)
        sources = Column(capacity: count)
        importances = Column(capacity: count)
        addressInitials = Column(capacity: count)
        recordStarts = Column(capacity: count)
        // Room for nearly all records: memory that grows moves, and its huge pages are split.
        records = Column(capacity: 384 * count)
        wordStarts = Column(capacity: count + 1)
        wordStarts.append(0)
        words = Column(capacity: 3 * count)
        addressStarts = Column(capacity: count + 1)
        addressStarts.append(0)
        addressWords = Column(capacity: 3 * count)
    }

    deinit {
        guard !isPacked else { return }
        ids.free()
        hashes.free()
        latitudes.free()
        longitudes.free()
        kinds.free()
        sources.free()
        importances.free()
        addressInitials.free()
        recordStarts.free()
        records.free()
        table.free()
        addressTable.free()
        wordStarts.free()
        words.free()
        addressStarts.free()
        addressWords.free()
        properties?.free()
    }

    func add(_ entry: IndexEntry) {
        if !entry.isListed { unlisted.append(UInt32(ids.count)) }
        ids.append(entry.id)
        hashes.append(entry.contentHash)
        latitudes.append(entry.latitude)
        longitudes.append(entry.longitude)
        kinds.append(PackedTree.kind(category: entry.category, isFeatured: entry.isFeatured))
        sources.append(entry.source)
        importances.append(entry.importance)
        recordStarts.append(UInt64(records.count))
        withUnsafeBytes(of: UInt32(entry.record.count)) {
            records.append($0.assumingMemoryBound(to: UInt8.self))
        }
        records.append(entry.record.assumingMemoryBound(to: UInt8.self))
        addWords(of: entry.foldedNames)
        wordStarts.append(UInt32(words.count))
        addAddress(entry.address)
        properties?.add(of: PlaceRecord(entry.record), &table)
    }

    private func addAddress(_ address: UnsafeBufferPointer<UInt8>?) {
        var initials = WordInitials.none
        if let address {
            addressFolder.fold(address.span)
            addressFolder.words.withUnsafeBufferPointer { words in
                for word in words.split(whereSeparator: { $0 <= FoldedMark.space }) {
                    let word = UnsafeBufferPointer(rebasing: word)
                    addressWords.append(addressTable.number(of: word))
                    initials.insert(word)
                }
            }
        }
        addressInitials.append(initials)
        addressStarts.append(UInt32(addressWords.count))
    }

    private func addWords(of names: UnsafeBufferPointer<UInt8>) {
        let firstOfPlace = words.count
        var (firstOfName, start) = (firstOfPlace, 0)
        for end in 0...names.count where end == names.count || names[end] <= FoldedMark.space {
            if end > start {
                if start > 0 { addMark(names[start - 1]) }
                add(UnsafeBufferPointer(rebasing: names[start..<end]))
            }
            start = end + 1
            guard end < names.count, names[end] == IndexEntry.betweenNames else { continue }
            endName(at: firstOfName, firstOfPlace: firstOfPlace)
            words.append(WordColumns.betweenNames)
            firstOfName = words.count
        }
        endName(at: firstOfName, firstOfPlace: firstOfPlace)
    }

    /// Replaces the words of a place's last name by a repetition where one before has the same.
    private func endName(at firstOfName: Int, firstOfPlace: Int) {
        guard firstOfName > firstOfPlace, words.count > firstOfName else { return }
        let name = firstOfName..<words.count
        let names = WordColumns.names(in: firstOfPlace..<firstOfName - 1, of: words)
        for (number, other) in names.enumerated()
        where other.count == name.count && zip(other, name).allSatisfy({ words[$0] == words[$1] }) {
            guard let repetition = WordColumns.repetition(of: number) else { return }
            words.removeLast(name.count)
            return words.append(repetition)
        }
    }

    private func addMark(_ mark: UInt8) {
        switch mark {
        case FoldedMark.alternative: words.append(WordColumns.alternative)
        case FoldedMark.joined: words.append(WordColumns.joined)
        default: break
        }
    }

    private func add(_ word: UnsafeBufferPointer<UInt8>) {
        guard SearchWords.isRun(word.span) else { return words.append(table.number(of: word)) }
        for part in SearchWords.parts(ofRun: word.span) {
            words.append(table.number(of: UnsafeBufferPointer(rebasing: word[part])))
        }
    }
}

/// Finds the words of all names of a place.
private struct PlaceNameFolder {
    private var folder = NameFolder()
    private var wordsOfAll: [UInt8] = []
    private var hasSeveral = false

    /// The words of the last place, as `IndexEntry` has them.
    var words: [UInt8] { hasSeveral ? wordsOfAll : folder.words }

    /// Finds the words of the name that is shown, of those in languages by their tags in lower case, and of the others.
    mutating func fold(_ place: PlaceFields, record: [UInt8]) {
        folder.fold(place.name.span)
        hasSeveral = place.names != nil || place.otherNames != nil
        guard hasSeveral else { return }
        wordsOfAll.removeAll(keepingCapacity: true)
        wordsOfAll += folder.words
        if place.names != nil {
            record.withUnsafeBytes { PlaceRecord($0).forEachNameInLanguage { append($0.span) } }
        }
        for name in place.otherNamesList { append(name.span) }
    }

    private mutating func append(_ name: Span<UInt8>) {
        folder.fold(name)
        wordsOfAll.append(IndexEntry.betweenNames)
        wordsOfAll += folder.words
    }
}
