import CSystem
import PointsOfInterestServerAPI

/// The words of a part's addresses, and for each the blocks of places that have it: neighbours mostly have the same street and the
/// same town, so that takes a fifth of what the places would.
struct AddressWords: BitwiseCopyable {
    /// How many places a block has, which follow each other.
    static let blockSize = 64

    let sorted: SortedWords
    /// Where each word's blocks begin in `blocks`; one more than there are words.
    let blockStarts: Column<UInt32>
    let blocks: Column<UInt32>

    init(sorted: SortedWords, blockStarts: Column<UInt32>, blocks: Column<UInt32>) {
        (self.sorted, self.blockStarts, self.blocks) = (sorted, blockStarts, blocks)
    }

    /// Finds the blocks by a counting sort.
    ///
    /// - Parameters:
    ///   - placeWords: the numbers of the words of each place's address.
    ///   - placeStarts: where each place's begin there; one more than there are places.
    init(_ sorted: SortedWords, _ placeWords: Column<UInt32>, _ placeStarts: Column<UInt32>) {
        let lastBlocks = Column<UInt32>(uninitialized: sorted.count)
        defer { lastBlocks.free() }
        func forEachBlock(_ body: (_ word: Int, _ block: UInt32) -> Void) {
            lastBlocks.base.update(repeating: .max, count: lastBlocks.count)
            for place in 0..<placeStarts.count - 1 {
                let block = UInt32(place / Self.blockSize)
                for index in placeStarts[place]..<placeStarts[place + 1] {
                    let word = Int(placeWords[Int(index)])
                    guard lastBlocks[word] != block else { continue }
                    lastBlocks[word] = block
                    body(word, block)
                }
            }
        }
        let starts = Column<UInt32>(repeating: 0, count: sorted.count + 1)
        forEachBlock { word, _ in starts[word + 1] += 1 }
        for word in 0..<sorted.count { starts[word + 1] += starts[word] }
        let blocks = Column<UInt32>(uninitialized: Int(starts[sorted.count]))
        forEachBlock { word, block in
            blocks[Int(starts[word])] = block
            starts[word] += 1
        }
        for word in stride(from: sorted.count, to: 0, by: -1) { starts[word] = starts[word - 1] }
        starts[0] = 0
        self.init(sorted: sorted, blockStarts: starts, blocks: blocks)
    }

    var memory: [any ColumnMemory] { sorted.memory + [blockStarts, blocks] }

    /// The words that a word of a search text begins, or that have its run.
    func words(of word: QueryWord) -> [Range<UInt32>] {
        switch word {
        case .word(let form): return [sorted.words(beginningWith: form)]
        case .either(let plain, let spelledOut):
            return [sorted.words(beginningWith: plain), sorted.words(beginningWith: spelledOut)]
        case .run(let run):
            let runs = sorted.words(from: SearchWords.firstByteOfRuns)
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

    private func blockRange(_ words: Range<UInt32>) -> Range<Int> {
        Int(blockStarts[Int(words.lowerBound)])..<Int(blockStarts[Int(words.upperBound)])
    }
}
