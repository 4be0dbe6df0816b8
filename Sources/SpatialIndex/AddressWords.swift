import CSystem
import PointsOfInterestServerAPI

/// The words of a part's addresses, and for each the blocks of places that have it: neighbours mostly have the same street and the
/// same town, so that takes a fifth of what the places would.
struct AddressWords: BitwiseCopyable {
    /// How many places a block has, which follow each other.
    static let blockSize = 1 << blockBits, blockBits = 6

    let sorted: SortedWords
    /// Where each word's blocks begin in `blocks`; one more than there are words.
    let blockStarts: Column<UInt32>
    let blocks: Column<UInt32>

    var memory: [any ColumnMemory] { sorted.memory + [blockStarts, blocks] }

    /// All words that may be runs.
    private var runs: Range<UInt32> { sorted.words(from: SearchWords.firstByteOfRuns) }

    /// Whether there may be words that a word of a search text begins, or that have its run.
    func mayHave(_ word: QueryWord) -> Bool {
        // Looking into runs takes long.
        if case .run = word { return !runs.isEmpty }
        return words(of: word).contains { !$0.isEmpty }
    }

    /// The work for finding the words of a word of a search text.
    func work(ofFinding word: QueryWord) -> Int {
        if case .run = word { PlaceSet.work(ofAdding: runs.count) } else { 0 }
    }

    /// The words that a word of a search text begins, or that have its run.
    func words(of word: QueryWord) -> [Range<UInt32>] {
        switch word {
        case .word(let form): return [sorted.words(beginningWith: form)]
        case .either(let plain, let spelledOut):
            return [sorted.words(beginningWith: plain), sorted.words(beginningWith: spelledOut)]
        case .run(let run):
            return runs.filter { number in
                let word = sorted.word(number)
                return poi_contains(word.baseAddress, word.count, run, run.count)
            }.map { $0..<$0 + 1 }
        }
    }

    /// How many blocks some words have, some of them more than once.
    func blockCount(_ words: [Range<UInt32>]) -> Int { words.reduce(0) { $0 + blockRange($1).count } }

    /// Calls `body` with each block that has one of some words, in order, once, until it returns false.
    ///
    /// - Returns: whether it never did.
    func forEachBlock(of words: [Range<UInt32>], placeCount: Int, _ body: (Int) -> Bool) -> Bool {
        let set = PlaceSet(placeCount / Self.blockSize + 1)
        for words in words { set.insert(blockRange(words), of: blocks) }
        return set.forEach(body)
    }

    /// Adds all places of the blocks that have one of some words.
    func insertBlocks(of words: [Range<UInt32>], into places: PlaceSet) {
        for words in words {
            for index in blockRange(words) { places.insert(block: blocks[index]) }
        }
    }

    private func blockRange(_ words: Range<UInt32>) -> Range<Int> {
        Int(blockStarts[Int(words.lowerBound)])..<Int(blockStarts[Int(words.upperBound)])
    }
}
