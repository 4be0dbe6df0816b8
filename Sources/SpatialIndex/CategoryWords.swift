import CSystem
import PointsOfInterestServerAPI

/// What the categories of a snapshot are called, and the words by which a search finds them. Immutable, and made once for all
/// snapshots with the same categories.
final class CategoryWords: Sendable {
    let labels: CategoryLabels
    /// How many categories there are.
    let count: Int
    /// The categories that a text names: by their names, or by words for them.
    private let numbersByText: [[QueryWord]: [UInt16]]
    /// Each word of these, folded and in order, and the category that it belongs to.
    private let words: [Word]
    /// What each category is called, by its number.
    private let shownLabels: [[Label]]

    /// A word for a category, folded.
    private struct Word: Comparable {
        let text: [UInt8]
        let number: UInt16

        static func < (one: Self, other: Self) -> Bool {
            one.text == other.text
                ? one.number < other.number : one.text.lexicographicallyPrecedes(other.text)
        }
    }

    /// What a category is called in a language, whose tag is in lower case, as it is written in JSON.
    private struct Label {
        let tag, text: [UInt8]
    }

    /// - Parameter names: of the categories, each at the index that is its number.
    init(_ names: [String], _ labels: CategoryLabels) {
        self.labels = labels
        count = names.count
        var (numbersByText, words): ([[QueryWord]: [UInt16]], [Word]) = ([:], [])
        var folder = NameFolder()
        for (index, name) in names.enumerated() {
            let number = UInt16(index)
            for text in [name] + labels.words(for: name) {
                let queryWords = SearchWords.orderedWords(ofQuery: text)
                // Several words for a category may be the same without accents.
                if numbersByText[queryWords]?.last != number {
                    numbersByText[queryWords, default: []].append(number)
                }
                let bytes = Array(text.utf8)[...]
                folder.fold(bytes.span)
                words += folder.words.split { $0 <= FoldedMark.space }
                    .map { Word(text: Array($0), number: number) }
            }
        }
        self.numbersByText = numbersByText
        self.words = words.sorted()
        shownLabels = names.map { name in
            labels.labels(of: name).map { tag, label in
                Label(tag: Array(tag.utf8), text: PlaceProperties.escaped(label.utf8))
            }
        }
    }

    /// The same words for these categories, which are the same or more.
    func extended(to names: [String]) -> CategoryWords {
        names.count == count ? self : CategoryWords(names, labels)
    }

    /// The numbers of the categories whose names, or words for them, are these words, in their order.
    func numbers(named words: [QueryWord]) -> [UInt16] { numbersByText[words] ?? [] }

    /// The numbers of the categories that have a word of a search text in their names or in words for them.
    func numbers(having word: QueryWord) -> Set<UInt16> {
        switch word {
        case .word(let form): return numbers(beginningWith: form)
        case .either(let plain, let spelledOut):
            return numbers(beginningWith: plain).union(numbers(beginningWith: spelledOut))
        case .run(let run):
            let first = words.indices.firstIndex(behind: {
                words[$0].text[0] < SearchWords.firstByteOfRuns
            })
            let runs = words[first...].lazy.filter { poi_contains($0.text, $0.text.count, run, run.count) }
            return Set(runs.map(\.number))
        }
    }

    private func numbers(beginningWith form: [UInt8]) -> Set<UInt16> {
        let first = words.indices.firstIndex(behind: { words[$0].text.lexicographicallyPrecedes(form) })
        return Set(words[first...].lazy.prefix { $0.text.starts(with: form) }.map(\.number))
    }

    /// What a category is called, as it is written in JSON; nil where it has no label in any of the languages.
    func label(ofCategory number: UInt16, in languages: LanguageLookup) -> [UInt8]? {
        let labels = shownLabels[Int(number)]
        for tag in languages.tags {
            if let label = labels.first(where: { $0.tag == tag }) { return label.text }
        }
        return nil
    }
}
