/// The words of a name as a search knows them, whole ones, to compare two names.
package struct NameWords: Sendable {
    /// As the name has them.
    package private(set) var words: Set<[UInt8]> = []
    /// These, and in which other ways they are written: without an apostrophe, or an umlaut spelled out.
    package private(set) var forms: Set<[UInt8]> = []
    /// The words as the name has them, without anything between.
    private var joined: [UInt8] = []

    package init(_ name: String, _ folder: inout NameFolder) {
        let bytes = Array(name.utf8)[...]
        folder.fold(bytes.span)
        var mark = FoldedMark.space
        var word: [UInt8] = []
        for byte in folder.words + [FoldedMark.space] {
            guard byte <= FoldedMark.space else {
                word.append(byte)
                continue
            }
            if !word.isEmpty {
                forms.insert(word)
                if mark == FoldedMark.space {
                    words.insert(word)
                    joined += word
                }
            }
            (mark, word) = (byte, [])
        }
    }

    /// Whether all of its words are words of another name.
    package func areAll(in other: NameWords) -> Bool { !words.isEmpty && words.isSubset(of: other.forms) }

    /// Whether it is a name with the same words, where one of both has all words of the other.
    package func isSame(as other: NameWords) -> Bool {
        words.count == other.words.count || joined == other.joined
    }
}
