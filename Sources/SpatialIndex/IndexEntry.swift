import CSystem
import PointsOfInterestServerAPI

/// One place, as a builder takes it. Its texts are borrowed: the builder copies them.
package struct IndexEntry {
    /// The place's id, which decides between equal distances.
    package var id: Int64
    /// Degrees north of the equator, −90…90.
    package var latitude: Double
    /// Degrees east of Greenwich, −180…180.
    package var longitude: Double
    /// The number of its category, see `IndexPartBuilder.category(named:)`.
    package var category: UInt16
    /// Whether its editors want it to be shown first.
    package var isFeatured: Bool
    /// The number of its source, see `IndexPartBuilder.number(of:)`; 0 without one.
    package var source: UInt32
    /// Its importance, 0…1000.
    package var importance: UInt16
    /// The words of each of its names as `NameFolder` finds them: UTF-8, with `betweenNames` between names.
    package var foldedNames: UnsafeBufferPointer<UInt8>
    /// Its address, as its record has it.
    var address: UnsafeBufferPointer<UInt8>?
    /// Whether searches find it; others are found by their ids alone.
    package var isListed = true
    /// What a response is written from: bytes that packing doesn't look into.
    package var record: UnsafeRawBufferPointer

    static let betweenNames = UInt8(ascii: "\n")

    package init(
        id: Int64, latitude: Double, longitude: Double, category: UInt16, isFeatured: Bool,
        source: UInt32 = 0, importance: UInt16 = 0, foldedNames: UnsafeBufferPointer<UInt8>,
        record: UnsafeRawBufferPointer
    ) {
        self.id = id
        self.latitude = latitude
        self.longitude = longitude
        self.category = category
        self.isFeatured = isFeatured
        self.source = source
        self.importance = importance
        self.foldedNames = foldedNames
        self.record = record
    }
}

/// Where places came from.
package struct IndexSource: Hashable, Sendable {
    package let dataset: String
    /// What its places name as their license.
    package let license: String

    package init(dataset: String, license: String) {
        self.dataset = dataset
        self.license = license
    }

    /// Compares byte by byte, as PostgreSQL does.
    package static func == (one: Self, other: Self) -> Bool {
        ExactName(one.dataset) == ExactName(other.dataset)
            && ExactName(one.license) == ExactName(other.license)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(ExactName(dataset))
        hasher.combine(ExactName(license))
    }
}

/// The names of the categories and of the sources, and their numbers. It only grows: they keep their numbers from snapshot to
/// snapshot.
package struct IndexVocabulary: Hashable, Sendable {
    /// The categories, each at the index that is its number.
    package private(set) var names: [String] = []
    private var numbers: [String: UInt16] = [:]
    /// The words for the categories, beside their names.
    package private(set) var labels = CategoryLabels.none
    /// The categories that a text names: by their names, or by words for them.
    private var numbersByWords: [[QueryWord]: [UInt16]] = [:]
    /// Each word of these, folded and in order, and the category that it belongs to.
    private var categoryWords: [CategoryWord] = []
    /// The labels of the categories, by their numbers.
    private var labelTexts: [[CategoryLabel]] = []
    /// The sources: number 1 is at index 0, since 0 stands for none.
    package private(set) var sources: [IndexSource] = []
    private var sourceNumbers: [IndexSource: UInt32] = [:]
    /// The properties that places can be filtered by. With others, all places are packed anew.
    package let properties: FilterableProperties

    /// A vocabulary without names.
    package init(properties: FilterableProperties = .none) {
        self.properties = properties
    }

    /// The number of a category; nil where no place ever had it.
    package func number(of name: String) -> UInt16? { numbers[name] }

    /// The numbers of the categories whose names, or words for them, are these words, in their order.
    func numbers(named words: [QueryWord]) -> Set<UInt16> { Set(numbersByWords[words] ?? []) }

    /// The numbers of the categories that have a word of a search text in their names or in words for them.
    func numbers(having word: QueryWord) -> Set<UInt16> {
        switch word {
        case .word(let form): return numbers(beginningWith: form)
        case .either(let plain, let spelledOut):
            return numbers(beginningWith: plain).union(numbers(beginningWith: spelledOut))
        case .run(let run):
            let first = categoryWords.indices.firstIndex(behind: {
                categoryWords[$0].word[0] < SearchWords.firstByteOfRuns
            })
            return Set(
                categoryWords[first...].lazy.filter { poi_contains($0.word, $0.word.count, run, run.count) }
                    .map(\.number))
        }
    }

    private func numbers(beginningWith form: [UInt8]) -> Set<UInt16> {
        let first = categoryWords.indices.firstIndex(behind: {
            categoryWords[$0].word.lexicographicallyPrecedes(form)
        })
        return Set(categoryWords[first...].lazy.prefix { $0.word.starts(with: form) }.map(\.number))
    }

    /// The number of a category, which is added if it is new; nil where there are 65,536 others.
    package mutating func number(adding name: String) -> UInt16? {
        if let number = numbers[name] { return number }
        guard let number = UInt16(exactly: names.count) else { return nil }
        names.append(name)
        numbers[name] = number
        add(wordsOf: name, number)
        categoryWords.sort()
        return number
    }

    /// The same names, with these words for the categories.
    func labelled(_ labels: CategoryLabels) -> IndexVocabulary {
        var vocabulary = self
        vocabulary.labels = labels
        vocabulary.numbersByWords = [:]
        vocabulary.categoryWords = []
        vocabulary.labelTexts = []
        for (number, name) in names.enumerated() { vocabulary.add(wordsOf: name, UInt16(number)) }
        vocabulary.categoryWords.sort()
        return vocabulary
    }

    /// What a category is called, as it is written in JSON; nil where it has no label in any of the languages.
    func label(ofCategory number: UInt16, in languages: LanguageLookup) -> [UInt8]? {
        let labels = labelTexts[Int(number)]
        for tag in languages.tags {
            if let label = labels.first(where: { $0.tag == tag }) { return label.text }
        }
        return nil
    }

    /// Adds the words for a category, whose number is the next one.
    private mutating func add(wordsOf name: String, _ number: UInt16) {
        labelTexts.append(
            labels.labels(of: name).sorted { $0.key < $1.key }.map { tag, label in
                CategoryLabel(tag: Array(tag.utf8), text: PlaceProperties.escaped(label.utf8))
            })
        var folder = NameFolder()
        for text in [name] + labels.words(for: name) {
            numbersByWords[SearchWords.orderedWords(ofQuery: text), default: []].append(number)
            folder.fold(Array(text.utf8).span)
            for word in folder.words.split(whereSeparator: { $0 <= FoldedMark.space }) {
                categoryWords.append(CategoryWord(word: Array(word), number: number))
            }
        }
    }

    package mutating func number(adding source: IndexSource) -> UInt32 {
        if let number = sourceNumbers[source] { return number }
        sources.append(source)
        let number = UInt32(sources.count)
        sourceNumbers[source] = number
        return number
    }
}

/// What a category is called in a language, whose tag is in lower case, as it is written in JSON.
private struct CategoryLabel: Hashable, Sendable {
    let tag, text: [UInt8]
}

/// A word for a category, folded.
private struct CategoryWord: Hashable, Comparable, Sendable {
    let word: [UInt8]
    let number: UInt16

    static func < (one: Self, other: Self) -> Bool {
        one.word == other.word ? one.number < other.number : one.word.lexicographicallyPrecedes(other.word)
    }
}

/// How many of a snapshot's listed places have each category, and how many of all places each source.
struct IndexCounts: Sendable {
    private(set) var categories: [Int]
    private(set) var sources: [Int]

    init(_ vocabulary: IndexVocabulary) {
        categories = Array(repeating: 0, count: vocabulary.names.count)
        sources = Array(repeating: 0, count: vocabulary.sources.count + 1)
    }

    func extended(to vocabulary: IndexVocabulary) -> IndexCounts {
        var extended = self
        extended.categories += Array(repeating: 0, count: vocabulary.names.count - categories.count)
        extended.sources += Array(repeating: 0, count: vocabulary.sources.count + 1 - sources.count)
        return extended
    }

    mutating func add(_ columns: PartColumns) {
        for place in 0..<columns.count { add(place, of: columns, 1) }
    }

    /// Counts a place that has gone.
    mutating func remove(_ place: Int, of columns: PartColumns) { add(place, of: columns, -1) }

    private mutating func add(_ place: Int, of columns: PartColumns, _ number: Int) {
        if columns.isListed(place) { categories[Int(columns.kinds[place] >> 1)] += number }
        sources[Int(columns.sources[place])] += number
    }
}
